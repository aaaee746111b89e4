/*
 * The build without a reverse map has to search for pages that are not where they were first
 * mapped: reclaim finds them all the same, and everybody has what he had.
 *
 * run: --ram 16M --swap 32M
 * rmap: scan
 */
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <clockhand.h>
#include "user/tests/tap.h"

enum { PAGES = 32, BYTES = PAGES * TAP_PAGE, SEED = 77 };

static unsigned in_memory(char *p)
{
	unsigned char vec[PAGES];
	unsigned n = 0;

	if (mincore(p, BYTES, vec) != 0)
		return PAGES + 1;
	for (unsigned i = 0; i < PAGES; i++)
		n += vec[i];
	return n;
}

/* In a child that shares all pages with its parent: move them, push all of them out, which
 * takes both PTEs of each, and have another look. */
static void move_and_push(void *arg)
{
	char *p = arg, *to = tap_map(PAGES);
	uint64_t unmaps, probes;

	if (mremap(p, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, to) != to)
		_exit(1);
	unmaps = tap_counter("rmap_unmaps");
	probes = tap_counter("rmap_probes");
	madvise(to, BYTES, MADV_PAGEOUT);	/* the parent has just used them: they stay */
	madvise(to, BYTES, MADV_PAGEOUT);
	if (tap_counter("rmap_unmaps") - unmaps < 2 * PAGES)
		_exit(2);
	if (tap_counter("rmap_probes") - probes < PAGES * 1024)
		_exit(3);
	tap_pressure(tap_ram_pages());
	if (in_memory(to) > PAGES / 2 || sys_machine(MACHINE_AUDIT, 0) != 0)
		_exit(4);
	_exit(tap_intact_pages(to, PAGES, SEED) ? 0 : 5);
}

int main(void)
{
	char *p = tap_map(PAGES);

	tap_fill_pages(p, PAGES, SEED);
	tap_equal(tap_child(move_and_push, p), TAP_EXITS(0), "rmap-scan-08",
		  "moved pages lose all their PTEs and come back where they were moved to");
	tap_case(tap_intact_pages(p, PAGES, SEED), "rmap-scan-11", "and where they were");
	return tap_done();
}

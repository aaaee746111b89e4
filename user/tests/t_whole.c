/*
 * A little of everything that mm/ does, in a second, audited while the program lives: what
 * a kernel with one wrong function trips over. tests/test_seams.py runs it on such
 * kernels; nothing here is as thorough as the tests of each part.
 *
 * run: --ram 8M --swap 16M
 * rmap: kept
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <clockhand.h>
#include "user/tests/tap.h"

enum { FEW = 16, TABLE_BYTES = 4 << 20, TABLE_PAGES = TABLE_BYTES / TAP_PAGE, MAPPINGS = 300,
       OLD_PAGES = 64 };

static void audited(const char *name, const char *text)
{
	tap_equal(sys_machine(MACHINE_AUDIT, 0), 0, name, text);
}

static void vmas(void)
{
	char *p = tap_map(FEW), *hole = p + 4 * TAP_PAGE;

	tap_fill_pages(p, FEW, 1);
	tap_case(munmap(hole, 4 * TAP_PAGE) == 0 && tap_intact_pages(p, 4, 1) && tap_intact_pages(p + 8 * TAP_PAGE, 8, 9),
		 "whole-vma-01", "unmapping the middle leaves both ends");
	audited("whole-vma-02", "... and the audit finds nothing");
	tap_case(mmap(hole, 4 * TAP_PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == hole && hole[TAP_PAGE] == 0,
		 "whole-vma-03", "the hole is filled with zeros");
	tap_fill_pages(hole, 4, 5);
	audited("whole-vma-04", "three vmas have become one again");
	tap_case(tap_intact_pages(p, FEW, 1) && munmap(p, FEW * TAP_PAGE) == 0, "whole-vma-05", "and hold what was written");
}

static void write_to(void *arg)
{
	*(volatile char *)arg = 1;
}

static void mappings(void)
{
	char *p = tap_map(FEW), *q;

	tap_fill_pages(p, FEW, 30);
	tap_case(mprotect(p, TAP_PAGE, PROT_READ) == 0 && tap_child(write_to, p) == TAP_KILLED(SIGSEGV) &&
		 tap_child(write_to, p + TAP_PAGE) == 0, "whole-map-01", "protected memory can't be written to");
	tap_case(mprotect(p, TAP_PAGE, PROT_READ | PROT_WRITE) == 0 && tap_child(write_to, p) == 0,
		 "whole-map-02", "until it is allowed again");
	q = mmap(NULL, 2 * FEW * TAP_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	tap_case(mremap(p, FEW * TAP_PAGE, 2 * FEW * TAP_PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, q) == q && tap_intact_pages(q, FEW, 30),
		 "whole-map-03", "a mapping moves and grows");
	audited("whole-map-04", "and the audit finds nothing");
	tap_case(mlock(q, FEW * TAP_PAGE) == 0 && munlock(q, FEW * TAP_PAGE) == 0 &&
		 munmap(q, 2 * FEW * TAP_PAGE) == 0, "whole-map-05", "it is locked and let go");
}

static void tables(void)
{
	char *p = tap_map(3 * TABLE_PAGES);
	uint32_t before = tap_memory().page_tables;

	for (unsigned i = 0; i < 3; i++)
		p[i * TABLE_BYTES + TABLE_BYTES / 2] = 1;
	tap_case(tap_memory().page_tables >= before + 2, "whole-table-01", "scattered pages take page tables");
	munmap(p, 3 * TABLE_BYTES);
	tap_case(tap_memory().page_tables <= before, "whole-table-02", "which go with the mapping");
}

static void slabs(void)
{
	static char *mapped[MAPPINGS];
	uint32_t before, most;

	sys_machine(MACHINE_DROP_CACHES, 0);
	before = tap_memory().slab;
	for (unsigned i = 0; i < MAPPINGS; i++)
		mapped[i] = mmap(NULL, TAP_PAGE, i & 1 ? PROT_READ : PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	most = tap_memory().slab;
	audited("whole-slab-01", "the audit finds nothing among many vmas");
	for (unsigned i = 0; i < MAPPINGS; i++)
		munmap(mapped[i], TAP_PAGE);
	sys_machine(MACHINE_DROP_CACHES, 0);
	tap_case(most > before && tap_memory().slab < most, "whole-slab-02",
		 "empty slabs give their frames back");
}

static void scribble(void *arg)
{
	tap_fill_pages(arg, FEW, 100);
	_exit(tap_intact_pages(arg, FEW, 100) && fcntl(STDOUT_FILENO, F_GETFD) == 0 ? 0 : 1);
}

static void copies(void)
{
	char *p = tap_map(FEW);
	uint32_t copied;

	tap_fill_pages(p, FEW, 50);
	tap_equal(tap_child(scribble, p), 0, "whole-cow-01", "a child writes to its copy, and has our files");
	tap_case(tap_intact_pages(p, FEW, 50), "whole-cow-02", "ours stays as it was");
	copied = tap_counter("cow_copy");
	for (unsigned i = 0; i < FEW; i++)
		p[i * TAP_PAGE] ^= 1;
	tap_case(tap_counter("cow_copy") < copied + FEW / 2, "whole-cow-03", "the last sharer has no copies made");
	munmap(p, FEW * TAP_PAGE);
}

static int deep(volatile char *above)
{
	volatile char here[3000];

	here[0] = above ? above[0] : 1;
	return above && (uintptr_t)above > 0xbffc0000u ? deep(here) : here[0];
}

static void growth(void)
{
	char *end = sbrk(0), here = 1;

	tap_equal(deep(&here), 1, "whole-grow-01", "the stack grows");
	tap_case(sbrk(5 * TAP_PAGE) == end && (end[4 * TAP_PAGE] = 1) && sbrk(-5 * TAP_PAGE) != (void *)-1,
		 "whole-grow-02", "the heap grows and shrinks");
}

/* Pages that went out are written to: what nobody else has comes back writable at once. */
static void swapping(void)
{
	char *p = tap_map(OLD_PAGES);
	char *shared = mmap(NULL, OLD_PAGES * TAP_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char last[OLD_PAGES];
	uint32_t before, more;
	int unchanged = 1;

	tap_fill_pages(p, OLD_PAGES, 1000);
	tap_fill_pages(shared, OLD_PAGES, 2000);
	for (unsigned i = 0; i < OLD_PAGES; i++)
		last[i] = p[i * TAP_PAGE + 1];
	tap_case(tap_pressure(tap_ram_pages() / 4 * 5) && tap_pressure(tap_ram_pages() / 4 * 5),
		 "whole-swap-01", "more is used than there is RAM");
	audited("whole-swap-02", "and the audit finds nothing");
	tap_case(tap_memory().objects_swapped > 0, "whole-swap-06", "shared memory went out, too");
	tap_case(tap_intact_pages(shared, OLD_PAGES, 2000), "whole-swap-07", "and comes back as it was");
	before = tap_faults();
	for (unsigned i = 0; i < OLD_PAGES; i++)	/* (an increment would read first) */
		*(volatile char *)(p + i * TAP_PAGE) = 1;
	more = tap_faults() - before;
	tap_case(more >= OLD_PAGES / 2 && more < OLD_PAGES * 3 / 2, "whole-swap-03",
		 "a write brings a page back with one fault");
	for (unsigned i = 0; i < OLD_PAGES; i++)
		unchanged &= p[i * TAP_PAGE] == 1 && p[i * TAP_PAGE + 1] == last[i];
	tap_case(unchanged, "whole-swap-04", "and the rest of it is as it was");
	tap_case(tap_counter("pgsteal_kswapd") > 0, "whole-swap-05", "kswapd did its part");
	munmap(p, OLD_PAGES * TAP_PAGE);
}

static void run_true(void *arg)
{
	(void)arg;
	execl("/bin/true", "true", (char *)NULL);
	_exit(1);
}

static void the_rest(void)
{
	struct abi_memory m = tap_memory();
	uint64_t before = clock_ns();

	tap_case(m.min > 0 && m.min < m.low && m.low < m.high, "whole-mark-01", "watermarks rise");
	tap_equal(tap_child(run_true, NULL), 0, "whole-exec-01", "another program runs");
	tap_case(dup2(STDOUT_FILENO, 20) == 20 && fcntl(20, F_GETFD) == 0 && close(20) == 0 &&
		 fcntl(20, F_GETFD) < 0, "whole-file-01", "descriptors are copied and closed");
	sys_sleep(20000000, 0);
	tap_case(clock_ns() >= before + 20000000, "whole-time-01", "a sleep lasts");
	tap_equal(sys_swapoff("a name that is too long"), -ENAMETOOLONG, "whole-name-01",
		  "a name is measured on its way into the kernel");
}

int main(void)
{
	vmas();
	mappings();
	tables();
	slabs();
	copies();
	growth();
	swapping();
	the_rest();
	audited("whole-audit-01", "at the end the audit finds nothing");
	return tap_done();
}

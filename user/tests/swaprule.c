/*
 * swaprule PAGES: what happens to slots, which rule of them (swap.free=) is in force. Pushes PAGES pages out, reads the first half back, writes to the other half, and
 * then writes to those that were read. Tells how many slots it has after each step.
 * swaprule around: which neighbours are read (swap.window=). Pushes pages out to slots 1, 2, ...,
 * gives that of slot 10 back, reads the one of slot 13, and tells how many were read from disk.
 * tests/test_swap_rules.py.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include "user/tests/tap.h"

enum step { OUT, READ, WRITTEN, LATER, STEPS };

static uint32_t slots_before;

static uint32_t slots(void)
{
	return tap_memory().swap_total - tap_memory().swap_free - slots_before;
}

/* Push them out until none is mapped: who is busy at the first try isn't at the second. */
static void push_out(char *p, size_t count)
{
	for (int i = 0; i < 20 && slots() < count; i++) {
		madvise(p, count * TAP_PAGE, MADV_PAGEOUT);
		usleep(50000);
	}
}

static void write_to(char *p, size_t count)
{
	for (size_t i = 0; i < count; i++)
		p[i * TAP_PAGE] = (char)i;
}

/* Slot 1 is page 0's on a machine that hasn't swapped yet. */
static int around(void)
{
	enum { SLOT_HOLE = 10, SLOT_WANTED = 13, PAGES = 32 };
	char *p = tap_map(PAGES);
	uint64_t before;

	tap_fill_pages(p, PAGES, 1);
	push_out(p, PAGES);
	if (!tap_pressure(tap_ram_pages() / 4 * 5))	/* out of the swap cache, too */
		return 1;
	munmap(p + (SLOT_HOLE - 1) * TAP_PAGE, TAP_PAGE);
	before = tap_counter("pswpin");
	if (!tap_intact(p + (SLOT_WANTED - 1) * TAP_PAGE, SLOT_WANTED))
		return 1;
	printf("read %u\n", (unsigned)(tap_counter("pswpin") - before));
	return 0;
}

static int slots_by_step(size_t count)
{
	size_t half = count / 2;
	char *p = tap_map(count);
	uint32_t used[STEPS];
	int right;

	slots_before = slots();
	tap_fill_pages(p, (unsigned)count, 1);
	push_out(p, count);
	used[OUT] = slots();
	right = tap_intact_pages(p, (unsigned)half, 1);
	used[READ] = slots();
	write_to(p + half * TAP_PAGE, count - half);
	used[WRITTEN] = slots();
	write_to(p, half);
	used[LATER] = slots();
	printf("out %u\nread %u\nwritten %u\nlater %u\n", used[OUT], used[READ], used[WRITTEN],
	       used[LATER]);
	return right ? 0 : 1;
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	return strcmp(argv[1], "around") ? slots_by_step(strtoul(argv[1], NULL, 10)) : around();
}

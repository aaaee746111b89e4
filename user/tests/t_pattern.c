/*
 * swap.window=pattern: how much is read ahead of sweeps and of faults here and there. Each case
 * begins with all pages in swap and none in memory, and ends with all of them right.
 *
 * run: --ram 16M --swap 64M
 * rmap: kept
 */
#include <stdio.h>
#include <unistd.h>
#include <sys/mman.h>
#include "user/tests/tap.h"
#include "user/tests/xorshift.h"

enum { PAGES = 1024, WINDOW_FIRST = 16, HERE_AND_THERE = 24 };

static char *area;
static int right;			/* all pages looked at had what was put there */

struct cost {
	unsigned major, read;		/* faults that asked the disk; pages read */
};

static void look_at(unsigned page)
{
	right &= tap_intact(area + page * TAP_PAGE, page + 1);
}

static void upward(void)
{
	for (unsigned i = 0; i < PAGES; i++)
		look_at(i);
}

static void downward(void)
{
	for (unsigned i = PAGES; i-- > 0;)
		look_at(i);
}

static void towards_each_other(void)
{
	for (unsigned i = 0; i < PAGES / 2; i++) {
		look_at(i);
		look_at(PAGES - 1 - i);
	}
}

/* Far from one another: no two in one window. */
static void here_and_there(void)
{
	for (unsigned i = 0; i < HERE_AND_THERE; i++)
		look_at(i * 7 % HERE_AND_THERE * (PAGES / HERE_AND_THERE));
}

/* Every page of the area out of memory; what `use` then costs. */
static struct cost cost_of(void (*use)(void))
{
	struct cost before, after;

	right = madvise(area, PAGES * TAP_PAGE, MADV_PAGEOUT) == 0 && tap_pressure(tap_ram_pages() / 4 * 5);
	before = (struct cost){ (unsigned)tap_counter("pgmajfault"), (unsigned)tap_counter("pswpin") };
	use();
	after = (struct cost){ (unsigned)tap_counter("pgmajfault"), (unsigned)tap_counter("pswpin") };
	after.major -= before.major;
	after.read -= before.read;
	printf("# %u faults asked the disk for %u pages\n", after.major, after.read);
	return after;
}

int main(void)
{
	struct cost c;

	area = tap_map(PAGES);
	tap_fill_pages(area, PAGES, 1);
	c = cost_of(upward);
	tap_case(right && c.major <= PAGES / 32, "swap-pattern-01", "a sweep upward seldom waits for a page that nobody has asked for");
	tap_case(c.read <= PAGES + PAGES / 8, "swap-pattern-02", "and reads hardly more than it uses");
	c = cost_of(downward);
	tap_case(right && c.major <= PAGES / 32, "swap-pattern-03", "so does a sweep downward");
	c = cost_of(towards_each_other);
	tap_case(right && c.major <= PAGES / 24, "swap-pattern-04", "two sweeps in one mapping are told apart");
	c = cost_of(here_and_there);
	tap_case(right && c.major >= HERE_AND_THERE / 2 && c.read <= c.major * WINDOW_FIRST, "swap-pattern-05",
		 "a fault with nothing around it reads a small window");
	cost_of(upward);
	tap_case(right, "swap-pattern-06", "after all that each page has what was put there");
	return tap_done();
}

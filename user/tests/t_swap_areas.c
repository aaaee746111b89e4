/*
 * Several swap areas: which one gets the next page, and areas that come and go while pages
 * stream out and in. hda1 is the best, hdb1 and hdc1 are equal, hdd1 is the last.
 *
 * run: --ram 12M --swap 4M:9 --swap 8M:5 --swap 8M:5 --swap 48M:3 --timeout 250
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <clockhand.h>
#include "user/tests/tap.h"

enum { BEST, LEFT, RIGHT, LAST, AREAS, SWAPS = 8, PAGES_PER_MIB = 256, PER_HOG = 1024 };

static const char *const names[AREAS] = { "hda1", "hdb1", "hdc1", "hdd1" };
static const int priorities[AREAS] = { 9, 5, 5, 3 };

static struct abi_swap_row area(unsigned n)
{
	struct abi_swap_row rows[SWAPS], none = { .name = "" };
	int count = sys_sysinfo(SYSINFO_SWAPS, rows, sizeof(rows)) / (int)sizeof(rows[0]);

	for (int i = 0; i < count; i++)
		if (!strcmp(rows[i].name, names[n]))
			return rows[i];
	return none;
}

static uint32_t used(unsigned n)
{
	return area(n).used;
}

/* Are the two within an eighth of each other? */
static int even(uint32_t a, uint32_t b)
{
	uint32_t most = a > b ? a : b, least = a > b ? b : a;

	return least > 64 && most - least <= most / 8;
}

/* ---- Order ---- */

static char *memory;
static uint32_t filled;

/* Fill more pages until the areas have been given `slots` in all, or memory is used up. */
static void fill_until(uint32_t slots, uint32_t most)
{
	while (used(BEST) + used(LEFT) + used(RIGHT) + used(LAST) < slots && filled < most) {
		for (unsigned i = 0; i < 16; i++, filled++)
			tap_fill(memory + filled * TAP_PAGE, filled);
	}
}

static int all_intact(void)
{
	for (uint32_t i = 0; i < filled; i++)
		if (!tap_intact(memory + i * TAP_PAGE, i))
			return 0;
	return 1;
}

static void order(void)
{
	uint32_t most = tap_ram_pages() + 24 * PAGES_PER_MIB;

	memory = tap_map(most);
	fill_until(700, most);
	tap_case(used(BEST) >= 700 && used(LEFT) + used(RIGHT) + used(LAST) == 0, "areas-order-01", "the best area alone is used while it has room");
	fill_until(3 * PAGES_PER_MIB * 2, most);
	tap_case(used(LEFT) > 0 && used(LAST) == 0 && used(BEST) + 8 >= area(BEST).slots, "areas-order-02", "then it is full, and the next ones are used");
	tap_case(even(used(LEFT), used(RIGHT)), "areas-order-03", "these are equal, and get as much each");
	fill_until(22 * PAGES_PER_MIB, most);
	tap_case(used(LAST) > 0 && used(LEFT) + 8 >= area(LEFT).slots && used(RIGHT) + 8 >= area(RIGHT).slots,
		 "areas-order-04", "the last one, when all others are full");
	tap_case(all_intact(), "areas-order-05", "every byte is there");
}

/* One of the equal areas leaves and returns: whoever was longest without a turn doesn't make
 * up for the time that it was away, and its pages have not gone to worse places for good. */
static void turns(void)
{
	uint32_t left, right;

	tap_equal(sys_swapoff(names[LEFT]), 0, "areas-turns-01", "one of the equals leaves, full");
	tap_case(all_intact(), "areas-turns-02", "every byte is there");
	munmap(memory, filled * TAP_PAGE);
	tap_equal(sys_swapon(names[LEFT], priorities[LEFT]), 0, "areas-turns-03", "it returns");
	left = used(LEFT);
	right = used(RIGHT);
	filled = 0;
	memory = tap_map(tap_ram_pages() + 12 * PAGES_PER_MIB);
	fill_until(left + right + used(BEST) + used(LAST) + 9 * PAGES_PER_MIB, tap_ram_pages() + 12 * PAGES_PER_MIB);
	tap_case(even(used(LEFT) - left, used(RIGHT) - right), "areas-turns-04", "again both get as much");
	tap_case(all_intact(), "areas-turns-05", "every byte is there");
	munmap(memory, filled * TAP_PAGE);
}

/* ---- Coming and going ---- */

static char *shared;
enum { SHARED_PAGES = 1024, CHILDREN = 3, CYCLES = 5 };

/* Pages of its own and shared ones go out and come in, until the parent says stop. */
static int churn(unsigned n)
{
	char *own = tap_map(PER_HOG);
	volatile uint32_t *stop = (uint32_t *)shared;
	uint32_t round = 0;

	for (uint32_t i = 0; i < PER_HOG; i++)
		tap_fill(own + i * TAP_PAGE, i + n);
	while (!*stop || round < 2) {
		for (uint32_t i = 0; i < PER_HOG; i++)
			if (!tap_intact(own + i * TAP_PAGE, i + n))
				return 1;
		for (uint32_t i = 1 + n; i < SHARED_PAGES; i += CHILDREN) {
			if (round > 0 && !tap_intact(shared + i * TAP_PAGE, i + round - 1))
				return 2;
			tap_fill(shared + i * TAP_PAGE, i + round);
		}
		round++;
	}
	return 0;
}

static void coming_and_going(void)
{
	int error = 0, status, good = 1;
	pid_t pid[CHILDREN];

	shared = mmap(NULL, SHARED_PAGES * TAP_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	fflush(stdout);
	for (unsigned n = 0; n < CHILDREN; n++) {
		pid[n] = fork();
		if (pid[n] == 0)
			_exit(churn(n));
	}
	for (unsigned i = 0; i < CYCLES; i++) {
		unsigned n = i % AREAS;		/* each in its turn, the best one first */

		usleep(200000);
		error |= sys_swapoff(names[n]);
		usleep(100000);
		error |= sys_swapon(names[n], priorities[n]);
	}
	tap_equal(error, 0, "areas-busy-01", "areas leave and return while processes swap, privately and shared");
	*(volatile uint32_t *)shared = 1;
	for (unsigned n = 0; n < CHILDREN; n++)
		good &= waitpid(pid[n], &status, 0) == pid[n] && status == 0;
	tap_case(good, "areas-busy-02", "and each finds what it wrote, always");
	munmap(shared, SHARED_PAGES * TAP_PAGE);
}

int main(void)
{
	order();
	turns();
	coming_and_going();
	return tap_done();
}

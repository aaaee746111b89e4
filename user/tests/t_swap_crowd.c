/*
 * A slot with more holders than a byte counts: 280 processes share pages copy-on-write, and
 * memory besides, all of it goes to swap, and then the areas leave while everybody lives.
 *
 * rmap: kept
 * run: --ram 40M --swap 64M:5 --swap 64M:5 --timeout 250
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <clockhand.h>
#include "user/tests/tap.h"

enum { CROWD = 280, PAGES = 48, POLL_US = 400000, WRITERS = 4 };

struct board {
	volatile uint32_t go;
	volatile uint8_t  state[CROWD];		/* 1: all was right, 2: not */
};

static char *own, *shared;
static struct board *board;
static pid_t pids[CROWD];

static int intact(const char *p, uint32_t seed)
{
	for (unsigned i = 0; i < PAGES; i++)
		if (!tap_intact(p + i * TAP_PAGE, seed + i))
			return 0;
	return 1;
}

/* Waits for the word, looks at all pages, writes to one of its own, and looks again. */
static void member(unsigned n)
{
	unsigned page = n % PAGES;
	int good;

	while (!board->go)
		usleep(POLL_US);
	good = intact(own, 1) && intact(shared, 500);
	if (n % WRITERS == 0) {
		tap_fill(own + page * TAP_PAGE, 7000 + n);
		good &= tap_intact(own + page * TAP_PAGE, 7000 + n);
	}
	board->state[n] = good ? 1 : 2;
	for (;;)
		sleep(1000);
}

static uint32_t swapped(void)
{
	struct abi_memory m = tap_memory();

	return m.swap_total - m.swap_free;
}

static unsigned right(void)
{
	unsigned sum = 0;

	for (unsigned n = 0; n < CROWD; n++)
		sum += board->state[n] == 1;
	return sum;
}

static unsigned gather_crowd(void)
{
	unsigned n = 0;

	fflush(stdout);
	for (; n < CROWD; n++) {
		pids[n] = fork();
		if (pids[n] == 0)
			member(n);
		if (pids[n] < 0)
			break;
	}
	return n;
}

int main(void)
{
	unsigned members, waited = 0;
	int status;

	own = tap_map(PAGES);
	shared = mmap(NULL, PAGES * TAP_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (unsigned i = 0; i < PAGES; i++) {
		tap_fill(own + i * TAP_PAGE, 1 + i);
		tap_fill(shared + i * TAP_PAGE, 500 + i);
	}
	members = gather_crowd();
	tap_equal(members, CROWD, "crowd-fork-01", "280 processes share private pages");
	tap_pressure(tap_ram_pages() / 4 * 5);
	tap_pressure(tap_ram_pages() / 4 * 5);
	tap_case(swapped() > 2 * PAGES, "crowd-swap-01", "they are in swap");
	tap_equal(sys_swapoff("hda1"), 0, "crowd-swapoff-01", "one area leaves while they live");
	tap_equal(sys_swapoff("hdb1"), 0, "crowd-swapoff-02", "and the other one");
	tap_equal(swapped(), 0, "crowd-swapoff-03", "no slot is left");
	tap_equal(sys_swapon("hda1", 5) | sys_swapon("hdb1", 5), 0, "crowd-swapon-01", "both return");
	tap_pressure(tap_ram_pages() / 4 * 5);
	board->go = 1;
	while (right() < members && waited++ < 100)
		usleep(POLL_US);
	tap_equal(right(), members, "crowd-swap-02", "each finds its pages, and a fourth of them wrote");
	for (unsigned n = 0; n < members; n++)
		kill(pids[n], SIGKILL);
	for (unsigned n = 0; n < members; n++)
		waitpid(pids[n], &status, 0);
	tap_case(intact(own, 1) && intact(shared, 500), "crowd-swap-03", "nobody's writing shows elsewhere");
	return tap_done();
}

/*
 * What a policy does to processes that sleep, for tests/test_reclaim22.py.
 *
 *   idle22 kswapd SECONDS	uses memory until less than `high` is free, and sleeps; then tells what
 *				kswapd did meanwhile
 *   idle22 around SECONDS	the same, but with pages in the swap cache that were read ahead and not used
 *   idle22 sizes		a large and a small process sleep, a third one takes memory: who loses pages?
 *   idle22 victim		a large process sleeps, a small one takes more than there is: who dies?
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <clockhand.h>
#include "user/tests/tap.h"

enum { BLOCK = 64, AHEAD = 8, BEYOND_MIN = 6, ROWS = 64, OUT_PAGES = 100, POLL_US = 20000, HOLD_SECONDS = 600 };

/* Take pages one by one while more than `least` are free. They stay. */
static void take_until(uint32_t least)
{
	while (tap_memory().free > least)
		*tap_map(1) = 1;
}

static uint32_t nearly_min(void)
{
	return tap_memory().min + BEYOND_MIN;
}

static int tell_kswapd(unsigned seconds)
{
	uint64_t looks = tap_counter("pageoutrun"), written = tap_counter("pswpout");
	uint64_t freed = tap_counter("pgsteal_kswapd");

	sleep(seconds);
	printf("looks %u written %u freed %u cached %u free %u high %u\n",
	       (unsigned)(tap_counter("pageoutrun") - looks),
	       (unsigned)(tap_counter("pswpout") - written),
	       (unsigned)(tap_counter("pgsteal_kswapd") - freed), tap_memory().swap_cached,
	       tap_memory().free, tap_memory().high);
	return 0;
}

static int kswapd(unsigned seconds)
{
	take_until(nearly_min());
	return tell_kswapd(seconds);
}

static int around(unsigned seconds)
{
	char *p = tap_map(BLOCK);

	tap_fill_pages(p, BLOCK, 1);
	madvise(p, BLOCK * TAP_PAGE, MADV_PAGEOUT);
	tap_pressure(tap_ram_pages());		/* its pages are freed */
	for (unsigned i = 0; i < BLOCK; i += AHEAD)
		(void)tap_intact(p + i * TAP_PAGE, 1 + i);
	printf("before %u\n", tap_memory().swap_cached);
	take_until(nearly_min());
	return tell_kswapd(seconds);
}

/* ---- Processes that hold memory ---- */

/* Shared with the children. */
static struct board {
	volatile uint32_t ready;
} *board;

/* A child that uses `pages` pages and sleeps from then on. Its pid, when it does. */
static pid_t holder(uint32_t pages)
{
	uint32_t before = board->ready;
	pid_t pid = fork();

	if (pid == 0) {
		tap_fill_pages(tap_map(pages), pages, 1);
		board->ready++;
		sleep(HOLD_SECONDS);
		_exit(0);
	}
	while (board->ready == before)
		usleep(POLL_US);
	return pid;
}

/* What of `pid` is in swap, in pages. */
static uint32_t swapped(pid_t pid)
{
	static struct abi_task_row rows[ROWS];
	int n = sys_sysinfo(SYSINFO_TASKS, rows, sizeof(rows));

	for (int i = 0; n > 0 && i < n / (int)sizeof(rows[0]); i++)
		if (rows[i].pid == pid)
			return rows[i].swap_pages;
	return 0;
}

static int sizes(void)
{
	uint32_t all = tap_memory().free;
	pid_t large = holder(all / 2), small = holder(all / 8);

	while (tap_memory().swap_total - tap_memory().swap_free < OUT_PAGES)
		*tap_map(1) = 1;
	printf("large %u small %u\n", swapped(large), swapped(small));
	kill(large, SIGKILL);
	kill(small, SIGKILL);
	return 0;
}

/* Takes memory until there is none. */
static void take_all(void *arg)
{
	(void)arg;
	for (;;)
		*tap_map(1) = 1;
}

static int victim(void)
{
	pid_t large = holder(tap_memory().free * 3 / 4);
	int status = tap_child(take_all, NULL), dead;

	printf("faulter %d large %d\n", status, waitpid(large, &dead, WNOHANG) == 0);
	kill(large, SIGKILL);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned seconds = argc > 2 ? (unsigned)atoi(argv[2]) : 0;

	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (argc > 2 && strcmp(argv[1], "kswapd") == 0)
		return kswapd(seconds);
	if (argc > 2 && strcmp(argv[1], "around") == 0)
		return around(seconds);
	if (argc == 2 && strcmp(argv[1], "sizes") == 0)
		return sizes();
	return argc == 2 && strcmp(argv[1], "victim") == 0 ? victim() : 2;
}

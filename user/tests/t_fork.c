/*
 * Fork trees x copy on write x swap: who wrote what is checked on every page, before
 * and after everything was pushed out to swap. Without enough free swap the same trees
 * are run without pressure.
 *
 * run: --ram 16M --swap 64M
 * rmap: each
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <clockhand.h>
#include "user/tests/tap.h"

enum { PAGES = 48, DEPTH = 3, FANOUT = 2 };

static char *area;

static void fill_all(uint32_t seed)
{
	for (unsigned i = 0; i < PAGES; i++)
		tap_fill(area + i * TAP_PAGE, seed + i);
}

/* How many pages are not as `seed` made them. */
static int damaged(uint32_t seed)
{
	int bad = 0;

	for (unsigned i = 0; i < PAGES; i++)
		bad += !tap_intact(area + i * TAP_PAGE, seed + i);
	return bad;
}

/* Every FANOUT-th page from `first` gets this seed, the others must keep `old`. */
static int half_written(uint32_t old, uint32_t own, unsigned first)
{
	int bad = 0;

	for (unsigned i = 0; i < PAGES; i++)
		bad += !tap_intact(area + i * TAP_PAGE, (i % FANOUT == first ? own : old) + i);
	return bad;
}

static int pressure(void)
{
	uint32_t pages = tap_ram_pages();

	if (tap_swap_free() < pages / 2 + 4 * PAGES)
		return 1;
	return tap_pressure(pages);
}

/* The children's half of a node: write some pages, check the rest, go deeper. */
static int tree(int depth, uint32_t seed);

static int tree_child(int depth, uint32_t seed, unsigned k)
{
	uint32_t own = seed * 31 + k + 1;
	int bad;

	for (unsigned i = k; i < PAGES; i += FANOUT)
		tap_fill(area + i * TAP_PAGE, own + i);
	bad = half_written(seed, own, k);
	fill_all(own);
	return bad || tree(depth - 1, own) || damaged(own);
}

/* Fork FANOUT children that each change the area, and see that this process's copy
 * stays what it was. Nonzero if anything was wrong below. */
static int tree(int depth, uint32_t seed)
{
	int bad = 0, status;

	if (depth == 0)
		return 0;
	for (unsigned k = 0; k < FANOUT; k++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(tree_child(depth, seed, k) != 0);
		bad |= pid < 0;
	}
	for (unsigned k = 0; k < FANOUT; k++)
		bad |= wait(&status) < 0 || status != 0;
	return bad || damaged(seed) != 0;
}

static void trees(void)
{
	fill_all(1);
	tap_equal(tree(1, 1), 0, "fork-tree-01", "two children write, the parent's pages stay");
	tap_equal(tree(DEPTH, 1), 0, "fork-tree-02", "a tree of depth 3");
	tap_equal(damaged(1), 0, "fork-tree-03", "the root's pages are intact");
}

/* A child that finds the parent's pages in swap, reads them, then writes them. */
static void reads_then_writes(void *arg)
{
	uint32_t seed = *(uint32_t *)arg;

	if (damaged(seed))
		_exit(1);
	fill_all(seed + 100);
	_exit(damaged(seed + 100) != 0);
}

static void swapped_parent(void)
{
	uint32_t seed = 7;

	fill_all(seed);
	tap_case(pressure(), "fork-swap-01", "memory is used up");
	tap_equal(tap_child(reads_then_writes, &seed), TAP_EXITS(0), "fork-swap-02",
		  "a child reads swapped pages and writes its own");
	tap_equal(damaged(seed), 0, "fork-swap-03", "the parent's are intact");
	tap_case(pressure(), "fork-swap-04", "memory is used up again");
	tap_equal(damaged(seed), 0, "fork-swap-05", "and the pages come back a second time");
}

/* The child sleeps while the shared pages are pushed out, then writes half of them. */
static void shared_and_swapped(void)
{
	uint32_t seed = 21;
	int status, bad;
	pid_t pid;

	fill_all(seed);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		bad = !pressure();
		for (unsigned i = 0; i < PAGES; i += FANOUT)
			tap_fill(area + i * TAP_PAGE, seed + 500 + i);
		bad |= half_written(seed, seed + 500, 0);
		bad |= !pressure();
		_exit(bad | half_written(seed, seed + 500, 0));
	}
	status = -1;
	waitpid(pid, &status, 0);
	tap_equal(status, 0, "fork-swap-06", "shared pages go out and come back split");
	tap_equal(damaged(seed), 0, "fork-swap-07", "the parent's half is intact");
}

static void deep_and_swapped(void)
{
	fill_all(3);
	tap_equal(tree(2, 3), 0, "fork-swap-08", "a tree over pages");
	pressure();
	tap_equal(tree(2, 3), 0, "fork-swap-09", "the same tree over swapped pages");
	tap_equal(damaged(3), 0, "fork-swap-10", "and the root's pages are intact");
}

/* Many children one after another: nothing may pile up. */
static void many(void)
{
	struct abi_memory before, after;
	int bad = 0, status;

	sys_sysinfo(SYSINFO_MEMORY, &before, sizeof(before));
	for (int i = 0; i < 200; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(i & 0x7f);
		bad |= pid < 0 || waitpid(pid, &status, 0) != pid || status != (i & 0x7f) << 8;
	}
	sys_sysinfo(SYSINFO_MEMORY, &after, sizeof(after));
	tap_equal(bad, 0, "fork-many-01", "200 children, each with its own status");
	tap_case(after.free + 64 >= before.free, "fork-many-02", "no memory is lost");
}

/* As many children as proc's table or the memory has room for: the next fork fails, the
 * parent goes on, and all of them can be ended. */
static void too_many(void)
{
	enum { LIMIT = 600 };
	static pid_t pids[LIMIT];
	int count = 0, error, bad = 0, status;

	while (count < LIMIT && (pids[count] = fork()) >= 0) {
		if (pids[count] == 0)
			for (;;)
				sys_sleep(~0u, 0xffff);
		count++;
	}
	error = errno;
	for (int i = 0; i < count; i++)
		bad |= kill(pids[i], SIGKILL) != 0 || waitpid(pids[i], &status, 0) != pids[i];
	tap_case(count < LIMIT && (error == EAGAIN || error == ENOMEM), "fork-full-01",
		 "fork fails when the table is full");
	tap_case(count > 100 && !bad, "fork-full-02", "and every child can be killed and waited for");
}

static void family(void)
{
	pid_t self = getpid(), pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(getppid() == self && getpid() != self ? 0 : 1);
	tap_case(waitpid(pid, &status, 0) == pid && status == 0, "fork-pid-01",
		 "a child has its own pid and knows its parent");
	tap_equal(waitpid(-1, &status, 0), -1, "fork-wait-01", "no more children: ECHILD");
	pid = fork();
	if (pid == 0)
		for (;;)
			sys_sleep(1000000000, 0);
	tap_equal(waitpid(pid, &status, WNOHANG), 0, "fork-wait-02", "WNOHANG doesn't wait");
	tap_equal(waitpid(99999, &status, 0), -1, "fork-wait-03", "nobody's child");
	kill(pid, 15);
	tap_case(waitpid(pid, &status, 0) == pid && status == 15, "fork-kill-01",
		 "SIGTERM ends a sleeping child");
	tap_equal(kill(pid, 0), -1, "fork-kill-02", "a process that was waited for is gone");
	tap_equal(kill(1, 9), -1, "fork-kill-03", "init can't be killed");
}

int main(void)
{
	area = tap_map(PAGES);
	family();
	trees();
	swapped_parent();
	shared_and_swapped();
	deep_and_swapped();
	many();
	too_many();
	return tap_done();
}

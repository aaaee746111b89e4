/*
 * What the tests of tools/vmview look at from outside (tests/test_view.py):
 *
 *   t_view          three processes share pages copy on write, and one leaves (the TAP test)
 *   t_view share    they stay; a line in the log names pids and addresses
 *   t_view figures  writes what sysinfo says into the log and switches the machine off at once,
 *                   so that a dump shows the very same moment
 *   t_view break N  breaks an invariant on purpose, asks the kernel's audit, and switches off
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <clockhand.h>
#include "user/tests/tap.h"

enum { CHILDREN = 2, OBJECT_PAGES = 4, SEED = 11, LINE = 160, TASKS = 32, SWAPS = 4 };

/* ---- Sharing ---- */

static char *shared, *barred, *object;

/* One of those who share: look at the page, which doesn't copy it. */
static void look(void *stay)
{
	int fine = tap_intact(shared, SEED);

	while (stay != NULL)
		sleep(1000);
	_exit(fine ? 0 : 1);
}

/* Become three processes that share `shared`, a page that none of them may touch, and a memory
 * object; and stay that way. */
static int share_for_good(void)
{
	pid_t pids[CHILDREN];
	char line[LINE];
	int n;

	barred = tap_map(1);
	tap_fill(barred, SEED);
	object = mmap(NULL, OBJECT_PAGES * TAP_PAGE, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (object == MAP_FAILED || mprotect(barred, TAP_PAGE, PROT_NONE) != 0)
		return 1;
	memset(object, SEED, OBJECT_PAGES * TAP_PAGE);
	for (unsigned i = 0; i < CHILDREN; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			look(shared);
		if (pids[i] < 0)
			return 1;
	}
	sleep(1);
	n = snprintf(line, sizeof(line), "share: pids %d %d %d page %#lx barred %#lx",
		     (int)getpid(), (int)pids[0], (int)pids[1], (unsigned long)(uintptr_t)shared,
		     (unsigned long)(uintptr_t)barred);
	sys_log(line, (size_t)n);
	look(shared);
	return 1;
}

static int write_own(void)
{
	memset(shared, 0, TAP_PAGE);
	return tap_intact(shared, SEED);
}

static int tests(void)
{
	tap_equal(tap_child(look, NULL), TAP_EXITS(0), "view-share-01",
		  "a child reads the page that it shares");
	if (fork() == 0)
		_exit(write_own());
	wait(NULL);
	tap_case(tap_intact(shared, SEED), "view-share-02", "what a child writes, its parent doesn't see");
	return tap_done();
}

/* ---- Figures ---- */

static struct abi_memory memory;
static struct abi_task_row tasks[TASKS];
static struct abi_swap_row swaps[SWAPS];
static char text[4096];

/* Ask for everything and write it down; the memory's figures last, as asking takes some. */
static void figures_text(void)
{
	int rows = sys_sysinfo(SYSINFO_TASKS, tasks, sizeof(tasks)) / (int)sizeof(tasks[0]);
	int areas = sys_sysinfo(SYSINFO_SWAPS, swaps, sizeof(swaps)) / (int)sizeof(swaps[0]);
	int at = 0;

	for (int i = 0; i < rows; i++)
		at += snprintf(text + at, sizeof(text) - (size_t)at, "figures: pid %d rss %u swap %u vm %u\n",
			       (int)tasks[i].pid, (unsigned)tasks[i].rss_pages,
			       (unsigned)tasks[i].swap_pages, (unsigned)tasks[i].vm_pages);
	for (int i = 0; i < areas; i++)
		at += snprintf(text + at, sizeof(text) - (size_t)at, "figures: area %s slots %u used %u\n",
			       swaps[i].name, (unsigned)swaps[i].slots, (unsigned)swaps[i].used);
	sys_sysinfo(SYSINFO_MEMORY, &memory, sizeof(memory));
	snprintf(text + at, sizeof(text) - (size_t)at,
		 "figures: total %u free %u slab %u tables %u stacks %u objects %u cached %u\n",
		 (unsigned)memory.total, (unsigned)memory.free, (unsigned)memory.slab,
		 (unsigned)memory.page_tables, (unsigned)memory.kernel_stacks,
		 (unsigned)memory.objects, (unsigned)memory.swap_cached);
}

static void log_lines(const char *at)
{
	while (*at) {
		size_t bytes = strcspn(at, "\n");

		sys_log(at, bytes);
		at += bytes + 1;
	}
}

/* The first round brings in every page that the second one uses. */
static int figures(void)
{
	figures_text();
	log_lines(text);
	figures_text();
	log_lines(text);
	return sys_machine(MACHINE_POWEROFF, 0);
}

/* Nothing may run in between that could mend it, or trip over it. */
static int break_one(uint32_t n)
{
	if (sys_machine(MACHINE_BREAK, n) < 0 || sys_machine(MACHINE_AUDIT, 0) == 0)
		return 1;
	return sys_machine(MACHINE_POWEROFF, 0);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "figures") == 0)
		return figures();
	if (argc > 2 && strcmp(argv[1], "break") == 0)
		return break_one((uint32_t)atoi(argv[2]));
	shared = tap_map(1);
	tap_fill(shared, SEED);
	return argc > 1 ? share_for_good() : tests();
}

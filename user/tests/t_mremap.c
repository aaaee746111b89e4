/*
 * mremap: mappings grow, shrink and move, and keep what they hold, in memory, in swap, shared by
 * fork, with an object behind them; what fails changes nothing.
 *
 * run: --ram 16M --swap 64M
 * rmap: each
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <clockhand.h>
#include "user/tests/tap.h"

enum { PAGES = 48, RW = PROT_READ | PROT_WRITE, MOVE_TO = MREMAP_MAYMOVE | MREMAP_FIXED };

static void read_at(void *arg)
{
	(void)*(volatile char *)arg;
}

static int gone(char *p)
{
	return tap_child(read_at, p) == TAP_KILLED(SIGSEGV);
}

static char *filled(unsigned count)
{
	char *p = tap_map(count);

	for (unsigned i = 0; i < count; i++)
		tap_fill(p + i * TAP_PAGE, i);
	return p;
}

static int intact(const char *p, unsigned first, unsigned end)
{
	for (unsigned i = first; i < end; i++) {
		if (!tap_intact(p + i * TAP_PAGE, i))
			return 0;
	}
	return 1;
}

static int failed_with(void *result, int error)
{
	return result == MAP_FAILED && errno == error;
}

static void push_out(char *p, unsigned count)
{
	madvise(p, count * TAP_PAGE, MADV_PAGEOUT);
	usleep(100000);
	madvise(p, count * TAP_PAGE, MADV_PAGEOUT);
}

static void in_place(void)
{
	char *room = tap_map(PAGES), *p = room, *q;

	munmap(room, PAGES * TAP_PAGE);
	p = mmap(room, 8 * TAP_PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	for (unsigned i = 0; i < 8; i++)
		tap_fill(p + i * TAP_PAGE, i);
	tap_case(mremap(p, 8 * TAP_PAGE, 16 * TAP_PAGE, 0) == p, "mem-mremap-01", "a mapping with room behind it grows where it is");
	tap_case(intact(p, 0, 8) && p[8 * TAP_PAGE] == 0 && p[16 * TAP_PAGE - 1] == 0, "mem-mremap-02", "by zeros");
	tap_case(mremap(p, 16 * TAP_PAGE, 4 * TAP_PAGE, 0) == p && intact(p, 0, 4) && gone(p + 4 * TAP_PAGE), "mem-mremap-03",
		 "it shrinks");
	tap_case(mremap(p, 4 * TAP_PAGE, 4 * TAP_PAGE, 0) == p, "mem-mremap-04", "and may stay as it is");
	q = mmap(p + 4 * TAP_PAGE, TAP_PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	tap_case(failed_with(mremap(p, 4 * TAP_PAGE, 5 * TAP_PAGE, 0), ENOMEM), "mem-mremap-05", "but not over what lies behind it: ENOMEM");
	p = mremap(p, 4 * TAP_PAGE, 8 * TAP_PAGE, MREMAP_MAYMOVE);
	tap_case(p != MAP_FAILED && p != room && intact(p, 0, 4) && gone(room), "mem-mremap-06", "if it may, it moves");
	munmap(p, 8 * TAP_PAGE);
	munmap(q, TAP_PAGE);
}

static void moved(void)
{
	char *p = filled(PAGES), *to = tap_map(PAGES), *q;
	int good = 1;

	memset(to, 0x5a, PAGES * TAP_PAGE);
	q = mremap(p + 8 * TAP_PAGE, 16 * TAP_PAGE, 20 * TAP_PAGE, MOVE_TO, to);
	tap_case(q == to && gone(p + 8 * TAP_PAGE), "mem-mremap-10", "from the middle of a mapping over another");
	for (unsigned i = 0; i < 16; i++)
		good &= tap_intact(to + i * TAP_PAGE, i + 8);
	tap_case(good, "mem-mremap-11", "the pages that moved are intact");
	tap_case(to[16 * TAP_PAGE] == 0 && to[20 * TAP_PAGE] == 0x5a, "mem-mremap-12", "then zeros, then what was there");
	tap_case(intact(p, 0, 8) && intact(p, 24, PAGES), "mem-mremap-13", "what stayed is intact");
	q = mremap(to, 20 * TAP_PAGE, 2 * TAP_PAGE, MOVE_TO, p + 10 * TAP_PAGE);
	tap_case(q == p + 10 * TAP_PAGE && tap_intact(q + TAP_PAGE, 9) && gone(q + 2 * TAP_PAGE) && gone(to + 19 * TAP_PAGE),
		 "mem-mremap-14", "moving can shrink");
	munmap(p, PAGES * TAP_PAGE);
	munmap(to, PAGES * TAP_PAGE);
}

static void in_swap(void)
{
	char *p = filled(PAGES), *to = tap_map(PAGES + 1024);

	push_out(p, PAGES);
	tap_case(mremap(p, PAGES * TAP_PAGE, PAGES * TAP_PAGE, MOVE_TO, to) == to, "mem-mremap-20", "what is in swap moves");
	tap_case(tap_pressure(tap_ram_pages() + 512) && intact(to, 0, PAGES), "mem-mremap-21", "and comes back at its new place");
	push_out(to, PAGES);
	to = mremap(to, PAGES * TAP_PAGE, 1500 * TAP_PAGE, MREMAP_MAYMOVE);
	tap_case(to != MAP_FAILED && intact(to, 0, PAGES) && to[1499 * TAP_PAGE] == 0, "mem-mremap-22", "over page tables' borders, too");
	mprotect(to, PAGES * TAP_PAGE, PROT_NONE);
	p = tap_map(PAGES);
	tap_case(mremap(to, PAGES * TAP_PAGE, PAGES * TAP_PAGE, MOVE_TO, p) == p && gone(p), "mem-mremap-23",
		 "memory out of reach moves, and stays out of reach");
	push_out(p, PAGES);
	mprotect(p, PAGES * TAP_PAGE, PROT_READ);
	tap_case(intact(p, 0, PAGES), "mem-mremap-24", "and is intact");
	munmap(p, PAGES * TAP_PAGE);
	munmap(to, 1500 * TAP_PAGE);
}

static char *shared_area, *shared_place;

/* The child moves what it shares with its parent, twice, changes it, and looks. */
static void child_moves(void *arg)
{
	char *p = shared_area, *to = shared_place;
	unsigned swap = *(unsigned *)arg;

	if (mremap(p, PAGES * TAP_PAGE, PAGES * TAP_PAGE, MOVE_TO, to) != to || !intact(to, 0, PAGES))
		_exit(1);
	if (swap)
		push_out(to, PAGES);
	tap_fill(to, 100);
	if (mremap(to, PAGES * TAP_PAGE, PAGES * TAP_PAGE, MOVE_TO, p) != p)
		_exit(2);
	_exit(tap_intact(p, 100) && intact(p, 1, PAGES) ? 0 : 3);
}

static void over_fork(void)
{
	static const char *const names[2][4] = {
		{ "mem-mremap-30", "mem-mremap-31", "mem-mremap-32", "mem-mremap-33" },
		{ "mem-mremap-34", "mem-mremap-35", "mem-mremap-36", "mem-mremap-37" },
	};
	char *q;

	for (unsigned swap = 0; swap < 2; swap++) {
		uint64_t before = tap_counter("mremap_cows");

		shared_area = filled(PAGES);
		shared_place = tap_map(PAGES);
		tap_equal(tap_child(child_moves, &swap), TAP_EXITS(0), names[swap][0], "a child moves what it shares with its parent");
		tap_case(intact(shared_area, 0, PAGES), names[swap][1], "and the parent notices nothing");
		tap_case(tap_counter("mremap_cows") == before || tap_counter("mremap_cows") - before >= PAGES - 1, names[swap][2], "all its pages had to be copied, or none");
		q = mremap(shared_area, PAGES * TAP_PAGE, PAGES * TAP_PAGE, MOVE_TO, shared_place);
		tap_case(q == shared_place && intact(q, 0, PAGES), names[swap][3], "the parent moves them as well");
		munmap(shared_place, PAGES * TAP_PAGE);
	}
}

static void objects(void)
{
	int object = sys_object_create(8);
	char *p = mmap(NULL, 4 * TAP_PAGE, RW, MAP_SHARED, object, TAP_PAGE), *q;
	char byte = 0;

	p[TAP_PAGE] = 'x';
	q = mremap(p, 4 * TAP_PAGE, 7 * TAP_PAGE, MOVE_TO, tap_map(7));
	tap_case(q != MAP_FAILED && q[TAP_PAGE] == 'x', "mem-mremap-40", "a shared mapping moves and grows");
	q[6 * TAP_PAGE] = 'y';
	sys_object_read(object, 7 * TAP_PAGE, &byte, 1);
	tap_equal(byte, 'y', "mem-mremap-41", "over what follows in its object");
	tap_case(failed_with(mremap(q, 7 * TAP_PAGE, 8 * TAP_PAGE, MREMAP_MAYMOVE), EINVAL), "mem-mremap-42", "but not beyond: EINVAL");
	munmap(q, 7 * TAP_PAGE);
	sys_handle_close(object);
}

/* Write 4 pages below `p` as a push there would, with a stack pointer that allows it. */
static void push_below(char *p)
{
	__asm__ volatile("movl %%esp, %%edi; movl %0, %%esp; movl $77, -16384(%%esp); movl %%edi, %%esp"
			 : : "r"(p) : "edi", "memory");
}

/* A stack from the lowest addresses moves up and grows further down than it once could. */
static void stacks(void)
{
	char *low = mmap((char *)0x2000, TAP_PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_GROWSDOWN, -1, 0);
	char *place = tap_map(PAGES), *p = place + 40 * TAP_PAGE;

	munmap(place, PAGES * TAP_PAGE);
	tap_fill(low, 5);
	tap_case(mremap(low, TAP_PAGE, TAP_PAGE, MOVE_TO, p) == p && tap_intact(p, 5), "mem-mremap-70", "a stack moves");
	push_below(p);
	tap_case(*(int *)(p - 4 * TAP_PAGE) == 77, "mem-mremap-71", "and grows at its new place");
	push_out(p - 4 * TAP_PAGE, 5);
	tap_case(tap_pressure(tap_ram_pages() + 512) && tap_intact(p, 5) && *(int *)(p - 4 * TAP_PAGE) == 77, "mem-mremap-72",
		 "goes to swap and comes back");
	munmap(p - 4 * TAP_PAGE, 5 * TAP_PAGE);
}

/* Take the middle of a mapping away and put it back, for ever. */
static void move_for_ever(void)
{
	char *p = tap_map(2048), *to = tap_map(1024);

	memset(p, 1, 2048 * TAP_PAGE);
	for (;;) {
		mremap(p + 512 * TAP_PAGE, 1024 * TAP_PAGE, 1024 * TAP_PAGE, MOVE_TO, to);
		mremap(to, 1024 * TAP_PAGE, 1024 * TAP_PAGE, MOVE_TO, p + 512 * TAP_PAGE);
	}
}

/* What is half way somewhere is no violation. */
static void audited(void)
{
	pid_t pid = fork();
	int bad = 0;

	if (pid == 0)
		move_for_ever();
	for (unsigned i = 0; i < 60; i++) {
		usleep(7000);
		bad += sys_machine(MACHINE_AUDIT, 0);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	tap_equal(bad, 0, "mem-mremap-80", "the audit finds nothing while another process moves memory");
}

static void errors(void)
{
	char *p = filled(PAGES), *q = p + 8 * TAP_PAGE;

	tap_case(failed_with(mremap(p + 1, TAP_PAGE, TAP_PAGE, 0), EINVAL), "mem-mremap-50", "not aligned: EINVAL");
	tap_case(failed_with(mremap(p, TAP_PAGE, 0, 0), EINVAL), "mem-mremap-51", "to nothing: EINVAL");
	tap_case(failed_with(mremap(p, 0, TAP_PAGE, MREMAP_MAYMOVE), EINVAL), "mem-mremap-52", "from nothing: EINVAL");
	tap_case(failed_with(mremap(p, TAP_PAGE, TAP_PAGE, 8), EINVAL), "mem-mremap-53", "an unknown flag: EINVAL");
	tap_case(failed_with(mremap(p, TAP_PAGE, TAP_PAGE, MREMAP_FIXED, q), EINVAL), "mem-mremap-54", "FIXED without MAYMOVE: EINVAL");
	tap_case(failed_with(mremap(p, 9 * TAP_PAGE, TAP_PAGE, MOVE_TO, q), EINVAL), "mem-mremap-55", "into itself: EINVAL");
	tap_case(failed_with(mremap(p, TAP_PAGE, TAP_PAGE, MOVE_TO, q + 1), EINVAL), "mem-mremap-56", "to a place not aligned: EINVAL");
	tap_case(failed_with(mremap(p, TAP_PAGE, TAP_PAGE, MOVE_TO, (void *)0xc0000000u), EINVAL), "mem-mremap-57", "to the kernel: EINVAL");
	mprotect(q, TAP_PAGE, PROT_READ);
	tap_case(failed_with(mremap(p, 16 * TAP_PAGE, 17 * TAP_PAGE, MREMAP_MAYMOVE), EFAULT), "mem-mremap-58", "several mappings: EFAULT");
	munmap(q, TAP_PAGE);
	tap_case(mremap(p, 16 * TAP_PAGE, 16 * TAP_PAGE, 0) == p, "mem-mremap-62", "unless they stay as they are");
	tap_case(failed_with(mremap(q, TAP_PAGE, TAP_PAGE, 0), EFAULT), "mem-mremap-63", "but not from a hole: EFAULT");
	tap_case(failed_with(mremap(p, 0xfffff000u, TAP_PAGE, 0), EINVAL), "mem-mremap-64", "nor beyond all addresses: EINVAL");
	tap_case(failed_with(mremap(q, TAP_PAGE, 2 * TAP_PAGE, MREMAP_MAYMOVE), EFAULT), "mem-mremap-59", "a hole: EFAULT");
	tap_case(failed_with(mremap(p, TAP_PAGE, 0xbf000000u, MREMAP_MAYMOVE), ENOMEM), "mem-mremap-60", "more than there is: ENOMEM");
	tap_case(intact(p, 0, 8) && intact(p, 9, PAGES), "mem-mremap-61", "all that has changed nothing");
	mprotect(p + 20 * TAP_PAGE, TAP_PAGE, PROT_READ);
	tap_case(mremap(p, 30 * TAP_PAGE, 4 * TAP_PAGE, MREMAP_MAYMOVE) == p, "mem-mremap-65", "several mappings and a hole shrink where they are");
	tap_case(intact(p, 0, 4) && gone(p + 4 * TAP_PAGE) && gone(p + 29 * TAP_PAGE) && intact(p, 30, PAGES), "mem-mremap-66",
		 "by their tail");
	munmap(p, PAGES * TAP_PAGE);
}

int main(void)
{
	in_place();
	moved();
	in_swap();
	over_fork();
	objects();
	stacks();
	errors();
	audited();
	return tap_done();
}

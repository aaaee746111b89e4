/*
 * Random system calls with half-sensible arguments, by several children at a time on a
 * machine that has to swap. A child may die of what it does; the kernel, its servers and
 * the audit must not mind.
 *
 * run: --ram 8M --swap 24M --param overcommit=1
 * rmap: each
 */
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <clockhand.h>
#include "user/tests/call_numbers.h"
#include "user/tests/tap.h"
#include "user/tests/xorshift.h"

enum {
	AREA_PAGES = 256, PLACE_PAGES = 512, PLACE = 0x50000000,
	CHILDREN = 8, CALLS = 6000, SYSCALLS = 65, ARGS = 5, LIMIT_TENTHS = 50,
};

static uint32_t state;
static char *area;

static uint32_t any(uint32_t below)
{
	return xorshift(&state, below);
}

/* A number that means something to some call: limits, handles, sizes, addresses. */
static uint32_t value(void)
{
	static const uint32_t limits[] = {
		0, 1, 0xffffffff, 0x80000000, 0x7fffffff, 0xbffff000, 0xc0000000, 0xbfffffff,
		0xfff, 0x1000, 0x40000000, 0x08048000, 0x7ffff000, 1024, 1026, 1034, 1040,
	};

	switch (any(6)) {
	case 0:
		return any(0);
	case 1:
		return limits[any(sizeof(limits) / sizeof(*limits))];
	case 2:
		return any(64);
	case 3:
		return (uint32_t)(uintptr_t)area + any(AREA_PAGES * TAP_PAGE);
	case 4:
		return PLACE + any(PLACE_PAGES) * TAP_PAGE;
	default:
		return any(2048) * TAP_PAGE;
	}
}

/* Not those that end the machine, wait for what nobody sends, or take the swap away. */
static int allowed(uint32_t number)
{
	return number != CALL_exit && number != CALL_sleep && number != CALL_ipc_call &&
	       number != CALL_ipc_receive && number != CALL_ipc_reply_receive &&
	       number != CALL_machine && number != CALL_swapon && number != CALL_swapoff;
}

/* Keep the child's own text and stack, so that it lives for a while. */
static void tame(uint32_t number, uint32_t arg[ARGS])
{
	if (number == CALL_mmap && any(2)) {
		arg[2] &= PROT_READ | PROT_WRITE | PROT_EXEC;
		arg[3] = MAP_ANONYMOUS | (any(2) ? MAP_PRIVATE : MAP_SHARED) |
			 (any(3) ? 0 : MAP_FIXED);
	}
	if (number == CALL_brk)
		arg[0] = 0;
	if (number == CALL_munmap || number == CALL_madvise ||
	    (number == CALL_mmap && (arg[3] & MAP_FIXED))) {
		arg[0] = PLACE + any(PLACE_PAGES) * TAP_PAGE;
		arg[1] %= PLACE_PAGES * TAP_PAGE;
	}
}

/* The sixth argument (mmap's first page) is whatever ebp holds. */
static void call(uint32_t number, const uint32_t *arg)
{
	__asm__ volatile("int $0x80" : "+a"(number) : "b"(arg[0]), "c"(arg[1]), "d"(arg[2]),
			 "S"(arg[3]), "D"(arg[4]) : "memory");
}

static void make_calls(uint32_t seed)
{
	state = seed * 2654435761u + 1;
	area = tap_map(AREA_PAGES);
	close(0);
	close(1);
	for (unsigned i = 0; i < CALLS; i++) {
		uint32_t number = any(SYSCALLS), arg[ARGS];

		for (unsigned k = 0; k < ARGS; k++)
			arg[k] = value();
		area[any(AREA_PAGES * TAP_PAGE)] = (char)i;
		tame(number, arg);
		if (allowed(number))
			call(number, arg);
	}
	_exit(0);
}

int main(void)
{
	pid_t children[CHILDREN];
	unsigned ended = 0;

	for (unsigned i = 0; i < CHILDREN; i++) {
		children[i] = fork();
		if (children[i] == 0)
			make_calls(i + 1);
	}
	for (unsigned tenths = 0; ended < CHILDREN && tenths < LIMIT_TENTHS; tenths++) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			ended++;
		sys_sleep(100000000, 0);
	}
	for (unsigned i = 0; i < CHILDREN && ended < CHILDREN; i++)
		kill(children[i], SIGKILL);
	while (wait(NULL) > 0)
		ended++;
	tap_equal(ended, CHILDREN, "fuzz-calls-01", "all children of random calls end, or can be ended");
	tap_case(tap_pressure(tap_ram_pages()), "fuzz-calls-02", "the machine works as before");
	return tap_done();
}

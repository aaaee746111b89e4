/*
 * mlock and the limits of an address space: locked memory is there and stays there, whatever
 * others need; who may lock how much, and map, and grow; fork, exec and moves.
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
#include <sys/resource.h>
#include <sys/wait.h>
#include <clockhand.h>
#include "user/tests/tap.h"

enum { PAGES = 256, RW = PROT_READ | PROT_WRITE };

static char *area;

static int failed_with(int result, int error)
{
	return result == -1 && errno == error;
}

static unsigned in_memory(char *p, unsigned count)
{
	static unsigned char vec[1024];
	unsigned n = 0;

	if (mincore(p, count * TAP_PAGE, vec) != 0)
		return 0;
	for (unsigned i = 0; i < count; i++)
		n += vec[i];
	return n;
}

static void fill(void)
{
	for (unsigned i = 0; i < PAGES; i++)
		tap_fill(area + i * TAP_PAGE, i);
}

static int intact(void)
{
	int good = 1;

	for (unsigned i = 0; i < PAGES; i++)
		good &= tap_intact(area + i * TAP_PAGE, i);
	return good;
}

static int pressure(void)
{
	return tap_pressure(tap_ram_pages() + 512);
}

static void locking(void)
{
	uint64_t before;

	tap_equal(in_memory(area, PAGES), 0, "mem-mlock-01", "fresh memory isn't there yet");
	tap_equal(mlock(area, PAGES * TAP_PAGE), 0, "mem-mlock-02", "it is locked");
	tap_equal(in_memory(area, PAGES), PAGES, "mem-mlock-03", "and there");
	before = tap_faults();
	fill();
	tap_equal((long)(tap_faults() - before), 0, "mem-mlock-04", "no access faults any more");
	tap_case(pressure() && in_memory(area, PAGES) == PAGES, "mem-mlock-05", "not one page goes when others need memory");
	before = tap_faults();
	tap_case(intact() && tap_faults() == before, "mem-mlock-06", "all is intact, without a fault");
	tap_case(failed_with(madvise(area, TAP_PAGE, MADV_DONTNEED), EINVAL), "mem-mlock-07", "it can't be thrown away: EINVAL");
	tap_case(failed_with(msync(area, TAP_PAGE, MS_SYNC | MS_INVALIDATE), EBUSY), "mem-mlock-08", "nor invalidated: EBUSY");
	tap_equal(munlock(area, PAGES * TAP_PAGE), 0, "mem-mlock-09", "unlocked");
	tap_case(pressure() && in_memory(area, PAGES) < PAGES, "mem-mlock-10", "it goes like any other");
	tap_equal(mlock(area, PAGES * TAP_PAGE), 0, "mem-mlock-11", "locked again");
	before = tap_faults();
	tap_case(in_memory(area, PAGES) == PAGES && intact() && tap_faults() == before, "mem-mlock-12", "it is back from swap");
	munlock(area, PAGES * TAP_PAGE);
}

/* Locks of a part; what is rounded; what fails and changes nothing. */
static void parts(void)
{
	char *hole = area + 20 * TAP_PAGE;

	tap_equal(mlock(area + 5, TAP_PAGE), 0, "mem-mlock-20", "a page's worth that touches two pages");
	tap_case(failed_with(madvise(area + TAP_PAGE, 1, MADV_DONTNEED), EINVAL) && madvise(area + 2 * TAP_PAGE, 1, MADV_NORMAL) == 0,
		 "mem-mlock-21", "locks both");
	munlock(area, 2 * TAP_PAGE);
	munmap(hole, TAP_PAGE);
	tap_case(failed_with(mlock(area + 16 * TAP_PAGE, 8 * TAP_PAGE), ENOMEM), "mem-mlock-22", "a hole: ENOMEM");
	tap_case(madvise(area + 16 * TAP_PAGE, TAP_PAGE, MADV_DONTNEED) == 0, "mem-mlock-23", "and nothing is locked");
	tap_case(failed_with(munlock(area + 16 * TAP_PAGE, 8 * TAP_PAGE), ENOMEM), "mem-mlock-24", "munlock says the same");
	mmap(hole, TAP_PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	tap_case(failed_with(mlock((char *)-4096, 4096 * 2), EINVAL), "mem-mlock-25", "around the end of all addresses: EINVAL");
	tap_case(failed_with(mlock((char *)0xc0000000u, TAP_PAGE), ENOMEM), "mem-mlock-26", "the kernel's memory: ENOMEM");
	mprotect(hole, TAP_PAGE, PROT_NONE);
	tap_case(failed_with(mlock(hole, TAP_PAGE), ENOMEM), "mem-mlock-27", "memory out of reach: ENOMEM");
	tap_case(mprotect(hole, TAP_PAGE, RW) == 0 && in_memory(hole, 1) == 1, "mem-mlock-28", "but it comes as soon as it may be used");
	munlock(hole, TAP_PAGE);
}

/* The child shares the pages, but not the locks. */
static void child_pushes(void *arg)
{
	(void)arg;
	_exit(madvise(area, PAGES * TAP_PAGE, MADV_DONTNEED) == 0 && area[0] == 0 ? 0 : 1);
}

static char stack_page(unsigned pages)
{
	volatile char *here = __builtin_alloca(pages * TAP_PAGE);

	here[0] = 1;
	return here[0];
}

/* Lock the stack as it is, grow it by 32 pages at once: those in between are there, too. */
static void locked_stack(void *arg)
{
	char *here = (char *)((uintptr_t)&arg & ~(uintptr_t)(TAP_PAGE - 1));

	if (mlock(here, TAP_PAGE) != 0 || stack_page(14) != 1)
		_exit(1);
	_exit(in_memory(here - 10 * TAP_PAGE, 10) == 10 ? 0 : 2);
}

static void elsewhere(void)
{
	char *to = tap_map(2 * PAGES);

	fill();
	mlock(area, PAGES * TAP_PAGE);
	tap_equal(tap_child(child_pushes, NULL), TAP_EXITS(0), "mem-mlock-30", "a child's memory isn't locked");
	tap_case(pressure() && intact() && in_memory(area, PAGES) == PAGES, "mem-mlock-31", "its parent's still is");
	to = mremap(area, PAGES * TAP_PAGE, (PAGES + 16) * TAP_PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to);
	area = to;
	tap_equal(in_memory(area, PAGES + 16), PAGES + 16, "mem-mlock-32", "moved and grown, all of it is there");
	tap_case(pressure() && intact() && in_memory(area, PAGES + 16) == PAGES + 16, "mem-mlock-33", "and stays");
	tap_equal(tap_child(locked_stack, NULL), TAP_EXITS(0), "mem-mlock-34", "a locked stack grows locked");
	munlock(area, (PAGES + 16) * TAP_PAGE);
}

/* A call that fails below a stack doesn't make it grow, whatever else is locked. */
static void below_a_stack(void)
{
	char *p = mmap(NULL, TAP_PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0), *hole = p - 4 * TAP_PAGE;
	unsigned char vec[4];

	mlock(area, TAP_PAGE);
	tap_case(failed_with(mprotect(hole, 5 * TAP_PAGE, PROT_READ), ENOMEM), "mem-mlock-40", "mprotect of a hole below a stack: ENOMEM");
	tap_case(failed_with(mincore(hole, 4 * TAP_PAGE, vec), ENOMEM), "mem-mlock-41", "and it is a hole still");
	munlock(area, TAP_PAGE);
	munmap(hole, 5 * TAP_PAGE);
}

static int limit(int which, rlim_t soft)
{
	struct rlimit r;

	if (getrlimit(which, &r) != 0)
		return -1;
	r.rlim_cur = soft;
	return setrlimit(which, &r);
}

static void limited_lock(void *arg)
{
	(void)arg;
	if (limit(RLIMIT_MEMLOCK, 8 * TAP_PAGE) != 0 || mlock(area, 8 * TAP_PAGE) != 0)
		_exit(1);
	if (mlock(area, 8 * TAP_PAGE) != 0 || !failed_with(mlock(area, 9 * TAP_PAGE), ENOMEM))
		_exit(2);
	if (mremap(area, 8 * TAP_PAGE, 9 * TAP_PAGE, MREMAP_MAYMOVE) != MAP_FAILED || errno != EAGAIN)
		_exit(3);
	if (munlock(area, TAP_PAGE) != 0 || mlock(area + 8 * TAP_PAGE, TAP_PAGE) != 0)
		_exit(4);
	if (limit(RLIMIT_MEMLOCK, 0) != 0 || !failed_with(mlock(area, TAP_PAGE), EPERM))
		_exit(5);
	_exit(0);
}

static void limited_space(void *arg)
{
	char *p = tap_map(16), *heap = sbrk(0);

	(void)arg;
	munmap(p, 16 * TAP_PAGE);
	if (limit(RLIMIT_AS, 1) != 0)
		_exit(1);
	if (mmap(NULL, TAP_PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED || errno != ENOMEM)
		_exit(2);
	if (sbrk(4 * TAP_PAGE) != (void *)-1 || errno != ENOMEM || sbrk(0) != heap)
		_exit(3);
	if (mremap(area, PAGES * TAP_PAGE, (PAGES + 1) * TAP_PAGE, MREMAP_MAYMOVE) != MAP_FAILED || errno != ENOMEM)
		_exit(4);
	if (mmap(area, TAP_PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != area)
		_exit(5);			/* what it replaces counts no more */
	_exit(0);
}

static void small_stack(void *arg)
{
	(void)arg;
	if (limit(RLIMIT_STACK, 64 * 1024) == 0 && stack_page(10) == 1)
		stack_page(20);
}

static void large_stack(void *arg)
{
	(void)arg;
	if (limit(RLIMIT_STACK, 12 << 20) != 0)
		_exit(1);
	for (unsigned mib = 1; mib < 10; mib++) {
		if (stack_page(mib * 256 - 32 * mib) != 1)
			_exit(2);
	}
	_exit(0);
}

static void limits(void)
{
	struct rlimit r, stack;

	tap_case(getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur == 8 << 20 && stack.rlim_max == RLIM_INFINITY, "mem-limit-01",
		 "stacks grow to 8 MiB, if nobody says otherwise");
	tap_case(getrlimit(RLIMIT_AS, &r) == 0 && r.rlim_cur == RLIM_INFINITY, "mem-limit-02", "memory has no limit");
	tap_case(getrlimit(RLIMIT_NOFILE, &r) == 0 && r.rlim_cur == 1024 && setrlimit(RLIMIT_NOFILE, &r) == 0, "mem-limit-03", "descriptors have");
	r.rlim_cur = 10;
	tap_case(failed_with(setrlimit(RLIMIT_NOFILE, &r), EINVAL), "mem-limit-04", "which can't be another: EINVAL");
	tap_case(failed_with(getrlimit(99, &r), EINVAL), "mem-limit-05", "no such limit: EINVAL");
	r = (struct rlimit){ .rlim_cur = 2, .rlim_max = 1 };
	tap_case(failed_with(setrlimit(RLIMIT_AS, &r), EINVAL), "mem-limit-06", "soft above hard: EINVAL");
	tap_equal(tap_child(limited_lock, NULL), TAP_EXITS(0), "mem-limit-07", "RLIMIT_MEMLOCK");
	tap_equal(tap_child(limited_space, NULL), TAP_EXITS(0), "mem-limit-08", "RLIMIT_AS");
	tap_equal(tap_child(small_stack, NULL), TAP_KILLED(SIGSEGV), "mem-limit-09", "RLIMIT_STACK ends who goes beyond");
}

/* The hard limit goes down only; a new program has its predecessor's. */
static void hard_limit(void *arg)
{
	struct rlimit r = { .rlim_cur = 64 << 20, .rlim_max = 64 << 20 };

	(void)arg;
	if (setrlimit(RLIMIT_AS, &r) != 0)
		_exit(1);
	r.rlim_max++;
	if (!failed_with(setrlimit(RLIMIT_AS, &r), EPERM))
		_exit(2);
	execl("/bin/sh", "sh", "-c", "ulimit -v 1048576 || exit 9", (char *)NULL);
	_exit(3);
}

/* All that may be locked is locked; the machine goes on, and what can't be locked is refused. */
static void lock_most(void *arg)
{
	size_t most = tap_ram_pages();
	char *p = tap_map(most);
	size_t locked = 0;

	(void)arg;
	while (locked < most && mlock(p + locked * TAP_PAGE, 16 * TAP_PAGE) == 0)
		locked += 16;
	if (locked < most / 2 || locked > most * 4 / 5)
		_exit(1);
	if (errno != ENOMEM)
		_exit(2);
	_exit(tap_pressure(most) ? 0 : 3);
}

int main(void)
{
	area = tap_map(PAGES);
	locking();
	parts();
	elsewhere();
	below_a_stack();
	limits();
	tap_equal(tap_child(hard_limit, NULL), TAP_EXITS(9), "mem-limit-10", "a hard limit only falls, and outlives exec");
	tap_equal(tap_child(large_stack, NULL), TAP_EXITS(0), "mem-limit-11", "a higher limit lets a stack grow further");
	tap_equal(tap_child(lock_most, NULL), TAP_EXITS(0), "mem-limit-12", "no more than three quarters of RAM, and the others go on");
	return tap_done();
}

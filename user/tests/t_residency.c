/*
 * What is in memory and what isn't: mincore, MADV_WILLNEED, msync; and mappings that grow down or
 * are promised nothing.
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

enum { PAGES = 256, RW = PROT_READ | PROT_WRITE, ANON = MAP_PRIVATE | MAP_ANONYMOUS };

static char *area;
static unsigned char vec[PAGES + 1];

static int failed_with(int result, int error)
{
	return result == -1 && errno == error;
}

static unsigned in_memory(void)
{
	unsigned n = 0;

	if (mincore(area, PAGES * TAP_PAGE, vec) != 0)
		return PAGES + 1;
	for (unsigned i = 0; i < PAGES; i++)
		n += vec[i];
	return n;
}

/* Push the area out, and let others need the frames. */
static void push_out(void)
{
	madvise(area, PAGES * TAP_PAGE, MADV_PAGEOUT);
	tap_pressure(tap_ram_pages());
}

static void incore(void)
{
	char *hole = area + 8 * TAP_PAGE;

	tap_equal(in_memory(), 0, "mem-mincore-01", "untouched memory isn't there");
	area[3 * TAP_PAGE] = 1;
	(void)*(volatile char *)(area + 5 * TAP_PAGE);
	tap_case(in_memory() == 2 && vec[3] && vec[5], "mem-mincore-02", "what was written or read is");
	vec[PAGES] = 77;
	tap_case(mincore(area, 2 * TAP_PAGE + 1, vec + PAGES - 3) == 0 && vec[PAGES] == 77, "mem-mincore-03", "a byte is a page, and no more are told");
	tap_case(failed_with(mincore(area + 1, TAP_PAGE, vec), EINVAL), "mem-mincore-04", "not aligned: EINVAL");
	tap_case(failed_with(mincore(area, PAGES * TAP_PAGE, (unsigned char *)8), EFAULT), "mem-mincore-05", "nowhere to tell it: EFAULT");
	tap_case(failed_with(mincore((char *)0xbff00000u, 0x200000, vec), ENOMEM), "mem-mincore-06", "the kernel's memory: ENOMEM");
	munmap(hole, TAP_PAGE);
	tap_case(failed_with(mincore(area, 16 * TAP_PAGE, vec), ENOMEM), "mem-mincore-07", "a hole: ENOMEM");
	tap_equal(mincore(hole, 0, vec), 0, "mem-mincore-08", "nothing at all is fine");
	mmap(hole, TAP_PAGE, RW, ANON | MAP_FIXED, -1, 0);
}

/* The same of private memory and of shared, which an object holds. */
static void willneed(const char *const name[5])
{
	struct abi_usage before, after;
	int good = 1;

	for (unsigned i = 0; i < PAGES; i++)
		tap_fill(area + i * TAP_PAGE, i);
	for (int i = 0; i < 5 && in_memory() >= PAGES / 4; i++)
		push_out();		/* readahead for others may have brought some back */
	tap_case(in_memory() < PAGES / 4, name[0], "most of it is in swap");
	tap_equal(madvise(area, PAGES * TAP_PAGE, MADV_WILLNEED), 0, name[1], "it will be needed");
	for (int i = 0; i < 100 && in_memory() < PAGES; i++)
		usleep(100000);		/* the host may be busy */
	tap_equal(in_memory(), PAGES, name[2], "and a little later it is there");
	sys_task_usage(&before);
	for (unsigned i = 0; i < PAGES; i++)
		good &= tap_intact(area + i * TAP_PAGE, i);
	sys_task_usage(&after);
	tap_case(good && after.major_faults == before.major_faults, name[3], "intact, and nobody waits for the disk");
	munmap(area + 8 * TAP_PAGE, TAP_PAGE);
	tap_case(failed_with(madvise(area, PAGES * TAP_PAGE, MADV_WILLNEED), ENOMEM), name[4], "over a hole: ENOMEM");
}

static void willneed_both(void)
{
	static const char *const private_names[5] = { "mem-willneed-01", "mem-willneed-02", "mem-willneed-03",
						      "mem-willneed-04", "mem-willneed-05" };
	static const char *const shared_names[5] = { "mem-willneed-06", "mem-willneed-07", "mem-willneed-08",
						     "mem-willneed-09", "mem-willneed-10" };

	willneed(private_names);
	mmap(area, PAGES * TAP_PAGE, RW, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	willneed(shared_names);
	mmap(area, PAGES * TAP_PAGE, RW, ANON | MAP_FIXED, -1, 0);
}

static void sync_calls(void)
{
	char *hole = area + 8 * TAP_PAGE;

	tap_equal(msync(area, PAGES * TAP_PAGE, MS_SYNC), 0, "mem-msync-01", "memory without a file has nothing to write");
	tap_equal(msync(area, 5, MS_ASYNC | MS_INVALIDATE), 0, "mem-msync-02", "now or later");
	tap_case(failed_with(msync(area + 1, TAP_PAGE, MS_SYNC), EINVAL), "mem-msync-03", "not aligned: EINVAL");
	tap_case(failed_with(msync(area, TAP_PAGE, MS_SYNC | MS_ASYNC), EINVAL), "mem-msync-04", "both: EINVAL");
	tap_case(failed_with(msync(area, TAP_PAGE, 8), EINVAL), "mem-msync-05", "an unknown flag: EINVAL");
	munmap(hole, TAP_PAGE);
	tap_case(failed_with(msync(area, PAGES * TAP_PAGE, MS_SYNC), ENOMEM), "mem-msync-06", "a hole: ENOMEM");
	tap_equal(msync(hole, 0, MS_SYNC), 0, "mem-msync-07", "nothing at all is fine");
	mmap(hole, TAP_PAGE, RW, ANON | MAP_FIXED, -1, 0);
}

static void write_at(void *arg)
{
	*(volatile char *)arg = 1;
}

/* A mapping that grows down is touched below, as far as esp allows; then moved and split. */
static void grows_down(void)
{
	char *p = mmap(NULL, 2 * TAP_PAGE, RW, ANON | MAP_GROWSDOWN, -1, 0), *q;

	tap_case(p != MAP_FAILED && (uintptr_t)p >= 0x40000000u, "mem-growsdown-01", "a mapping that grows down");
	p[0] = 1;
	tap_equal(tap_child(write_at, p + 2 * TAP_PAGE), TAP_KILLED(SIGSEGV), "mem-growsdown-02", "doesn't grow up");
	q = mmap(NULL, TAP_PAGE, RW, ANON, -1, 0);
	tap_case(q != MAP_FAILED && (q >= p + 2 * TAP_PAGE || p - q >= 2 * (int)TAP_PAGE), "mem-growsdown-03", "others keep clear of it");
	tap_case(mprotect(p, TAP_PAGE, PROT_READ) == 0 && tap_child(write_at, p) == TAP_KILLED(SIGSEGV) && mprotect(p, TAP_PAGE, RW) == 0,
		 "mem-growsdown-04", "a part of it has rights of its own");
	p[0] = 2;
	tap_case(mmap(NULL, TAP_PAGE, RW, MAP_SHARED | MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0) == MAP_FAILED && errno == EINVAL, "mem-growsdown-05",
		 "shared memory doesn't: EINVAL");
	munmap(p, 2 * TAP_PAGE);
	munmap(q, TAP_PAGE);
}

/* More than RAM and swap: only where nothing is promised. */
static void no_reserve(void)
{
	size_t bytes = 512u << 20;
	char *p = mmap(NULL, bytes, RW, ANON, -1, 0), *q = mmap(NULL, bytes, RW, ANON | MAP_NORESERVE, -1, 0), *r;

	tap_case(p == MAP_FAILED && errno == ENOMEM, "mem-noreserve-01", "more than there is: ENOMEM");
	tap_case(q != MAP_FAILED, "mem-noreserve-02", "unless nothing is to be promised");
	q[bytes - 1] = 1;
	tap_case(mprotect(q, bytes, PROT_READ) == 0 && mprotect(q, bytes, RW) == 0, "mem-noreserve-03", "it isn't promised by mprotect either");
	r = mmap(NULL, bytes, PROT_READ, ANON, -1, 0);
	tap_case(r != MAP_FAILED && failed_with(mprotect(r, bytes, RW), ENOMEM), "mem-noreserve-04", "read-only memory is promised when it becomes writable: ENOMEM");
	tap_equal(mprotect(r, 16 * TAP_PAGE, RW), 0, "mem-noreserve-05", "a part of it can be");
	munmap(q, bytes);
	munmap(r, bytes);
}

/* The time of the first thousand mappings that can't merge, and of the last of 20,000. */
static int rooms(void)
{
	enum { THOUSANDS = 20 };
	uint64_t start = 0, first = 0, last = 0;

	for (unsigned i = 0; i < THOUSANDS * 1000; i++) {
		if (i % 1000 == 0)
			start = clock_ns();
		if (mmap(NULL, TAP_PAGE, i % 2 ? PROT_READ : PROT_NONE, ANON, -1, 0) == MAP_FAILED)
			return 1;
		last = clock_ns() - start;
		if (i == 999)
			first = last;
	}
	printf("first %lu last %lu\n", (unsigned long)first, (unsigned long)last);
	return 0;
}

enum { LARGE = 0x50000000u };

static void ask_for_ever(char *p)
{
	unsigned char *answer = (unsigned char *)tap_map(LARGE / TAP_PAGE / TAP_PAGE + 1);

	for (;;)
		mincore(p, LARGE, answer);
}

/* All of it shows the page of zeros. */
static void move_for_ever(char *p)
{
	char *q = p + LARGE;

	for (size_t i = 0; i < LARGE; i += TAP_PAGE)
		(void)*(volatile char *)(p + i);
	for (;;) {
		q = mremap(p, 0x20000000u, 0x20000000u, MREMAP_MAYMOVE | MREMAP_FIXED, q);
		p = mremap(q, 0x20000000u, 0x20000000u, MREMAP_MAYMOVE | MREMAP_FIXED, p);
	}
}

/* How long others have to wait while a process calls for a large range at once. */
static int turns(void (*fn)(char *p))
{
	char *p = mmap(NULL, LARGE, PROT_READ, ANON | MAP_NORESERVE, -1, 0);
	uint64_t longest = 0;
	pid_t pid = fork();

	if (pid == 0)
		fn(p);
	for (unsigned i = 0; i < 40; i++) {
		uint64_t start = clock_ns();

		usleep(1000);
		if (clock_ns() - start > longest)
			longest = clock_ns() - start;
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	printf("longest %lu us\n", (unsigned long)(longest / 1000));
	return p == MAP_FAILED;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "rooms") == 0)
		return rooms();
	if (argc > 2 && strcmp(argv[1], "turns") == 0)
		return turns(strcmp(argv[2], "mremap") == 0 ? move_for_ever : ask_for_ever);
	area = tap_map(PAGES);
	incore();
	willneed_both();
	sync_calls();
	grows_down();
	no_reserve();
	return tap_done();
}

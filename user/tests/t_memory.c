/*
 * mmap, munmap, brk, madvise, and what lies where.
 *
 * rmap: kept
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <clockhand.h>
#include "user/tests/tap.h"

static void read_at(void *arg)
{
	(void)*(volatile char *)arg;
}

static void write_at(void *arg)
{
	*(volatile char *)arg = 1;
}

static int zero(const char *p, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (p[i])
			return 0;
	return 1;
}

static int nobody_reads(char *p)
{
	return tap_child(read_at, p) == TAP_KILLED(SIGSEGV);
}

static void mapping(void)
{
	char *p = tap_map(16), *q;

	tap_case(zero(p, 16 * TAP_PAGE), "mem-mmap-01", "new memory is zero");
	for (unsigned i = 0; i < 16; i++)
		tap_fill(p + i * TAP_PAGE, i);
	tap_equal(munmap(p + 4 * TAP_PAGE, 4 * TAP_PAGE), 0, "mem-munmap-01", "a hole in the middle");
	tap_case(tap_intact(p + 3 * TAP_PAGE, 3) && tap_intact(p + 8 * TAP_PAGE, 8),
		 "mem-munmap-02", "the neighbours stay");
	tap_case(nobody_reads(p + 4 * TAP_PAGE) && nobody_reads(p + 8 * TAP_PAGE - 1),
		 "mem-munmap-03", "the hole is a hole");
	q = mmap(p + 4 * TAP_PAGE, 4 * TAP_PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	tap_case(q == p + 4 * TAP_PAGE && zero(q, 4 * TAP_PAGE), "mem-mmap-02",
		 "filled again, with zeros");
	q = mmap(p + 6 * TAP_PAGE, 4 * TAP_PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	tap_case(zero(q, 4 * TAP_PAGE) && tap_intact(p + 10 * TAP_PAGE, 10), "mem-mmap-03",
		 "a fixed mapping replaces what is there");
	tap_equal(munmap(p, 16 * TAP_PAGE), 0, "mem-munmap-04", "all at once");
	tap_equal(munmap(p, 16 * TAP_PAGE), 0, "mem-munmap-05", "of nothing is fine");
	tap_case(nobody_reads(p), "mem-munmap-06", "gone");
}

static void protection(void)
{
	char *p = mmap(NULL, TAP_PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *none = mmap(NULL, TAP_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	tap_case(p != MAP_FAILED && zero(p, TAP_PAGE), "mem-prot-01", "read-only memory reads zero");
	tap_equal(tap_child(write_at, p), TAP_KILLED(SIGSEGV), "mem-prot-02", "and can't be written");
	tap_case(none != MAP_FAILED && nobody_reads(none), "mem-prot-03", "PROT_NONE can't be read");
	tap_equal(tap_child(write_at, (void *)(uintptr_t)zero), TAP_KILLED(SIGSEGV), "mem-prot-04",
		  "text can't be written");
	tap_equal(tap_child(read_at, (void *)0xc0100000u), TAP_KILLED(SIGSEGV), "mem-prot-05",
		  "the kernel can't be read");
	tap_equal(tap_child(read_at, NULL), TAP_KILLED(SIGSEGV), "mem-prot-06", "page 0 neither");
	munmap(p, TAP_PAGE);
	munmap(none, TAP_PAGE);
}

static void heap(void)
{
	char *start = sbrk(0), *p = sbrk(5 * TAP_PAGE);

	tap_case(p == start && zero(p, 5 * TAP_PAGE), "mem-brk-01", "the heap grows by zeros");
	memset(p, 0x5a, 5 * TAP_PAGE);
	tap_case(sbrk(-3 * (ptrdiff_t)TAP_PAGE) == p + 5 * TAP_PAGE, "mem-brk-02", "and shrinks");
	tap_case(p[2 * TAP_PAGE - 1] == 0x5a && nobody_reads(p + 3 * TAP_PAGE), "mem-brk-03",
		 "the rest stays, the end is gone");
	sbrk(3 * TAP_PAGE);
	tap_case(zero(p + 3 * TAP_PAGE, 2 * TAP_PAGE), "mem-brk-04", "and comes back as zeros");
	tap_case(sbrk(0x7fffffff) == (void *)-1 && errno == ENOMEM, "mem-brk-05",
		 "2 GiB more are refused");
	tap_case(sbrk(0) == p + 5 * TAP_PAGE, "mem-brk-06", "and change nothing");
	brk(start);
}

static void advice(void)
{
	char *p = tap_map(8);

	for (unsigned i = 0; i < 8; i++)
		tap_fill(p + i * TAP_PAGE, i);
	tap_equal(madvise(p + 2 * TAP_PAGE, 2 * TAP_PAGE, MADV_DONTNEED), 0, "mem-advise-01",
		  "two pages are not needed");
	tap_case(zero(p + 2 * TAP_PAGE, 2 * TAP_PAGE), "mem-advise-02", "they read zero");
	tap_case(tap_intact(p + TAP_PAGE, 1) && tap_intact(p + 4 * TAP_PAGE, 4), "mem-advise-03",
		 "their neighbours are intact");
	tap_equal(madvise(p, 8 * TAP_PAGE, MADV_WILLNEED), 0, "mem-advise-04", "WILLNEED");
	tap_equal(madvise(p, 8 * TAP_PAGE, 99), -1, "mem-advise-05", "no such advice");
	munmap(p, 8 * TAP_PAGE);
	tap_equal(madvise(p, 8 * TAP_PAGE, MADV_DONTNEED), -1, "mem-advise-06", "on a hole");
}

/* Objects: what is written by the call is read through the mapping. */
static void objects(void)
{
	int h = sys_object_create(4);
	char *p;

	sys_object_write(h, TAP_PAGE, "through", 8);
	p = mmap(NULL, 2 * TAP_PAGE, PROT_READ, MAP_PRIVATE, h, TAP_PAGE);
	tap_case(p != MAP_FAILED && strcmp(p, "through") == 0, "mem-object-01",
		 "an object is mapped from its second page");
	tap_case(p != MAP_FAILED && zero(p + TAP_PAGE, TAP_PAGE), "mem-object-02",
		 "what nobody wrote is zero");
	munmap(p, 2 * TAP_PAGE);
	p = mmap(NULL, TAP_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, h, TAP_PAGE);
	if (p != MAP_FAILED)
		p[0] = 'T';
	char back = 0;

	sys_object_read(h, TAP_PAGE, &back, 1);
	tap_case(p != MAP_FAILED && back == 't' && strcmp(p, "Through") == 0, "mem-object-03",
		 "a private write stays private");
	munmap(p, TAP_PAGE);
	sys_handle_close(h);
}

static void many_mappings(void)
{
	enum { COUNT = 300 };
	static char *p[COUNT];
	int bad = 0;

	for (unsigned i = 0; i < COUNT; i++) {
		p[i] = tap_map(1 + i % 3);
		p[i][0] = (char)i;
	}
	for (unsigned i = 0; i < COUNT; i += 2)
		bad |= munmap(p[i], (1 + i % 3) * TAP_PAGE) != 0;
	for (unsigned i = 1; i < COUNT; i += 2) {
		bad |= p[i][0] != (char)i;
		bad |= munmap(p[i], (1 + i % 3) * TAP_PAGE) != 0;
	}
	tap_equal(bad, 0, "mem-many-01", "300 mappings, taken down in another order");
}

static int no_memory(int result)
{
	return result == -1 && errno == ENOMEM;
}

/* As many vmas as an address space may have, every second page of a stretch being readable; then
 * whatever needs one more fails, and changes nothing. */
static void most_mappings(void)
{
	enum { MAPPINGS_MOST = 65536 };
	size_t bytes = 2 * MAPPINGS_MOST * (size_t)TAP_PAGE, done = 0;
	char *p = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *far = p + bytes - 8 * TAP_PAGE;
	unsigned split = 0;

	tap_case(p != MAP_FAILED, "mem-most-01", "512 MiB that nobody may touch");
	while (done < bytes && mprotect(p + done, TAP_PAGE, PROT_READ) == 0) {
		done += 2 * TAP_PAGE;
		split++;
	}
	tap_case(errno == ENOMEM && split > MAPPINGS_MOST / 2 - 50 && split <= MAPPINGS_MOST / 2, "mem-most-02", "65,536 mappings, and no more: ENOMEM");
	while (mmap(NULL, TAP_PAGE, split++ % 2 ? PROT_READ : PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
		continue;
	tap_case(no_memory(munmap(far, TAP_PAGE)), "mem-most-03", "munmap of the middle of one: ENOMEM");
	tap_case(no_memory(mprotect(far, TAP_PAGE, PROT_READ)), "mem-most-04", "mprotect: ENOMEM");
	tap_case(no_memory(mlock(far, TAP_PAGE)), "mem-most-05", "mlock: ENOMEM");
	tap_case(mremap(far, TAP_PAGE, 2 * TAP_PAGE, MREMAP_MAYMOVE) == MAP_FAILED && errno == ENOMEM, "mem-most-06", "mremap: ENOMEM");
	tap_case(nobody_reads(far), "mem-most-07", "none of it has changed anything");
	tap_equal(munmap(p, bytes), 0, "mem-most-08", "all of them go at once");
	tap_case(munmap(tap_map(3) + TAP_PAGE, TAP_PAGE) == 0, "mem-most-09", "and then there is room for others");
}

int main(void)
{
	mapping();
	protection();
	heap();
	advice();
	objects();
	many_mappings();
	most_mappings();
	return tap_done();
}

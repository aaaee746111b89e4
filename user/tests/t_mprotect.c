/*
 * mprotect, and mappings at fixed places: rights go and come back, over many mappings, with
 * pages in memory, in swap and shared by fork; what fails and what it leaves behind.
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

enum { PAGES = 64, RW = PROT_READ | PROT_WRITE };

static char *area;

static void read_at(void *arg)
{
	(void)*(volatile char *)arg;
}

static void write_at(void *arg)
{
	(*(volatile char *)arg)++;
}

static int dies(void (*how)(void *arg), char *p)
{
	return tap_child(how, p) == TAP_KILLED(SIGSEGV);
}

/* Fill the area, and check it, page by page. */
static void fill(void)
{
	for (unsigned i = 0; i < PAGES; i++)
		tap_fill(area + i * TAP_PAGE, i);
}

static int intact(unsigned first, unsigned end)
{
	for (unsigned i = first; i < end; i++) {
		if (!tap_intact(area + i * TAP_PAGE, i))
			return 0;
	}
	return 1;
}

static int failed_with(int result, int error)
{
	return result == -1 && errno == error;
}

/* Push the area out to swap, as far as it goes; it may be out of reach meanwhile. */
static void push_out(void)
{
	madvise(area, PAGES * TAP_PAGE, MADV_PAGEOUT);
	usleep(100000);
	madvise(area, PAGES * TAP_PAGE, MADV_PAGEOUT);
}

static void rights(void)
{
	char *p = area + 8 * TAP_PAGE;

	fill();
	tap_equal(mprotect(p, 4 * TAP_PAGE, PROT_READ), 0, "mem-mprotect-01", "four pages lose the right to be written");
	tap_case(intact(0, PAGES), "mem-mprotect-02", "and hold what they held");
	tap_case(dies(write_at, p) && dies(write_at, p + 4 * TAP_PAGE - 1), "mem-mprotect-03", "a write ends the program");
	tap_case(!dies(write_at, p - 1) && !dies(write_at, p + 4 * TAP_PAGE), "mem-mprotect-04", "but not beside them");
	tap_equal(mprotect(p, 4 * TAP_PAGE, PROT_NONE), 0, "mem-mprotect-05", "and then all rights");
	tap_case(dies(read_at, p) && dies(write_at, p), "mem-mprotect-06", "a read ends the program, too");
	tap_equal(mprotect(area, PAGES * TAP_PAGE, RW), 0, "mem-mprotect-07", "all rights come back, over three mappings");
	tap_case(intact(0, PAGES), "mem-mprotect-08", "and the contents are what they were");
	fill();
	tap_case(intact(0, PAGES), "mem-mprotect-09", "and can be written again");
	tap_equal(mprotect(p, 1, PROT_NONE), 0, "mem-mprotect-10", "one byte");
	tap_case(dies(read_at, p + TAP_PAGE - 1) && !dies(read_at, p + TAP_PAGE), "mem-mprotect-11", "is a page");
	mprotect(area, PAGES * TAP_PAGE, RW);
}

static void in_swap(void)
{
	fill();
	mprotect(area, PAGES * TAP_PAGE, PROT_NONE);
	push_out();
	tap_case(tap_pressure(tap_ram_pages() + 512), "mem-mprotect-20", "memory out of reach makes room for others");
	tap_case(dies(read_at, area), "mem-mprotect-21", "and stays out of reach in swap");
	mprotect(area, PAGES / 2 * TAP_PAGE, PROT_READ);
	tap_case(intact(0, PAGES / 2), "mem-mprotect-22", "what may be read again comes back");
	tap_case(dies(write_at, area), "mem-mprotect-23", "and can't be written");
	mprotect(area, PAGES * TAP_PAGE, RW);
	tap_case(intact(0, PAGES), "mem-mprotect-24", "all of it comes back");
	fill();
	mprotect(area, PAGES * TAP_PAGE, PROT_NONE);
	push_out();
	tap_equal(munmap(area + 32 * TAP_PAGE, 16 * TAP_PAGE), 0, "mem-mprotect-25", "what is in swap and out of reach is unmapped");
	tap_case(mmap(area + 32 * TAP_PAGE, 16 * TAP_PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
		 area + 32 * TAP_PAGE && area[32 * TAP_PAGE] == 0, "mem-mprotect-26", "and is empty memory when mapped anew");
	mprotect(area, PAGES * TAP_PAGE, RW);
	tap_case(intact(0, 32) && intact(48, PAGES), "mem-mprotect-27", "its neighbours are intact");
}

/* In the child: rights of one's own, contents as at the fork. */
static void child_side(void *arg)
{
	(void)arg;
	if (mprotect(area, PAGES * TAP_PAGE, RW) != 0 || !intact(0, PAGES))
		_exit(1);
	for (unsigned i = 0; i < PAGES; i++)
		area[i * TAP_PAGE] = 1;
	_exit(0);
}

static void over_fork(void)
{
	fill();
	mprotect(area, PAGES * TAP_PAGE, PROT_NONE);
	tap_equal(tap_child(child_side, NULL), TAP_EXITS(0), "mem-mprotect-30", "a child gives itself the rights back, and writes");
	tap_case(dies(read_at, area), "mem-mprotect-31", "its parent still has none");
	push_out();
	tap_equal(tap_child(child_side, NULL), TAP_EXITS(0), "mem-mprotect-32", "the same with pages in swap");
	mprotect(area, PAGES * TAP_PAGE, RW);
	tap_case(intact(0, PAGES), "mem-mprotect-33", "and the parent finds what it had written");
}

/* The kernel's copies are held to the same rights. */
static void kernel_copies(void)
{
	uint64_t ns;

	fill();
	mprotect(area, TAP_PAGE, PROT_NONE);
	tap_equal(sys_clock(0, (uint64_t *)area), -EFAULT, "mem-mprotect-40", "the kernel doesn't write where nothing is allowed");
	tap_equal(sys_log(area, 8), -EFAULT, "mem-mprotect-41", "nor does it read there");
	mprotect(area, TAP_PAGE, PROT_READ);
	tap_equal(sys_clock(0, (uint64_t *)area), -EFAULT, "mem-mprotect-42", "nor write where reading is allowed");
	mprotect(area, TAP_PAGE, RW);
	tap_case(sys_clock(0, (uint64_t *)area) == 0 && sys_clock(0, &ns) == 0, "mem-mprotect-43", "and does when it may");
}

static void errors(void)
{
	char *hole = area + 20 * TAP_PAGE, *kernel = (char *)0xc0000000u;

	fill();
	munmap(hole, TAP_PAGE);
	tap_case(failed_with(mprotect(area + 16 * TAP_PAGE, 8 * TAP_PAGE, PROT_READ), ENOMEM), "mem-mprotect-50", "a hole: ENOMEM");
	tap_case(dies(write_at, area + 19 * TAP_PAGE) && !dies(write_at, area + 21 * TAP_PAGE), "mem-mprotect-51",
		 "what lies before it has changed, what lies behind has not");
	mprotect(area, 20 * TAP_PAGE, RW);
	mmap(hole, TAP_PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	tap_case(failed_with(mprotect(area + 1, TAP_PAGE, PROT_READ), EINVAL), "mem-mprotect-52", "not aligned: EINVAL");
	tap_case(failed_with(mprotect(area, TAP_PAGE, 8), EINVAL), "mem-mprotect-53", "no such right: EINVAL");
	tap_case(failed_with(mprotect(area, TAP_PAGE, 0x01000000), EINVAL), "mem-mprotect-54", "PROT_GROWSDOWN: EINVAL");
	tap_case(failed_with(mprotect(area, (size_t)-1, PROT_READ), ENOMEM), "mem-mprotect-55", "all there is and more: ENOMEM");
	tap_case(failed_with(mprotect(kernel, TAP_PAGE, PROT_READ), ENOMEM), "mem-mprotect-56", "the kernel's memory: ENOMEM");
	tap_equal(mprotect(area, 0, PROT_READ), 0, "mem-mprotect-57", "nothing at all is fine");
}

/* Shared memory: the handle says what may ever be written through it. */
static void shared(void)
{
	int object = sys_object_create(2), archive = sys_archive(0);
	char *p = mmap(NULL, TAP_PAGE, PROT_READ, MAP_SHARED, object, 0);
	char *boot = mmap(NULL, TAP_PAGE, PROT_READ, MAP_SHARED, archive, 0);
	char *own = mmap(NULL, TAP_PAGE, PROT_READ, MAP_PRIVATE, archive, 0);
	char byte = 0;

	tap_equal(mprotect(p, TAP_PAGE, RW), 0, "mem-mprotect-60", "an object that may be written to, once mapped for reading");
	p[0] = 'x';
	sys_object_read(object, 0, &byte, 1);
	tap_equal(byte, 'x', "mem-mprotect-61", "is written to");
	tap_case(boot != MAP_FAILED && failed_with(mprotect(boot, TAP_PAGE, RW), EACCES), "mem-mprotect-62", "one that may not: EACCES");
	tap_case(own != MAP_FAILED && mprotect(own, TAP_PAGE, RW) == 0, "mem-mprotect-63", "but a private mapping of it may");
	byte = own[0];
	own[0]++;
	tap_case(boot[0] == byte && own[0] != byte, "mem-mprotect-64", "and its writes stay its own");
	munmap(p, TAP_PAGE);
	munmap(boot, TAP_PAGE);
	munmap(own, TAP_PAGE);
	sys_handle_close(object);
}

/* A fixed mapping over others replaces what is there, and if it fails nothing. */
static void fixed(void)
{
	char *p = tap_map(12);

	for (unsigned i = 0; i < 12; i++)
		tap_fill(p + i * TAP_PAGE, i);
	mprotect(p + 4 * TAP_PAGE, TAP_PAGE, PROT_READ);
	munmap(p + 6 * TAP_PAGE, TAP_PAGE);
	tap_case(mmap(p + 2 * TAP_PAGE, 8 * TAP_PAGE, RW, MAP_PRIVATE | MAP_FIXED, 12345, 0) == MAP_FAILED &&
		 tap_intact(p + 4 * TAP_PAGE, 4) && tap_intact(p + 9 * TAP_PAGE, 9), "mem-fixed-01", "one that fails leaves what was");
	tap_case(mmap(p + 2 * TAP_PAGE, 8 * TAP_PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p + 2 * TAP_PAGE &&
		 p[4 * TAP_PAGE] == 0 && p[9 * TAP_PAGE] == 0, "mem-fixed-02", "over four mappings and a hole");
	tap_case(tap_intact(p + TAP_PAGE, 1) && tap_intact(p + 10 * TAP_PAGE, 10), "mem-fixed-03", "what lies beside it stays");
	munmap(p, 12 * TAP_PAGE);
}

int main(void)
{
	area = tap_map(PAGES);
	rights();
	in_swap();
	over_fork();
	kernel_copies();
	errors();
	shared();
	fixed();
	return tap_done();
}

/*
 * How much memory is promised. Without arguments the default rule is tried; `one MIB` and
 * `sum MIB` print how much a program gets in one piece, or in pieces of 1 MiB, `noreserve MIB`
 * in one piece with MAP_NORESERVE, `fork MIB` whether a process with so much of it gets a
 * child; with `shared` behind it of shared memory. Nothing is touched.
 *
 * run: --ram 16M --swap 16M
 * rmap: kept
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <clockhand.h>
#include "user/tests/tap.h"

enum { MIB = 1 << 20 };

static int kind = MAP_PRIVATE;

static char *map(unsigned mib, int flags)
{
	return mmap(NULL, (size_t)mib * MIB, PROT_READ | PROT_WRITE,
		    kind | MAP_ANONYMOUS | flags, -1, 0);
}

static unsigned got_in_one(unsigned mib, int flags)
{
	char *p = map(mib, flags);

	if (p == MAP_FAILED)
		return 0;
	munmap(p, (size_t)mib * MIB);
	return mib;
}

static unsigned got_in_pieces(unsigned mib)
{
	unsigned n = 0;

	while (n < mib && map(1, 0) != MAP_FAILED)
		n++;
	return n;
}

/* Does a process with so much memory get a child? */
static unsigned got_in_fork(unsigned mib)
{
	pid_t pid;

	if (!got_in_pieces(mib))
		return 0;
	pid = fork();
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	return pid > 0;
}

static uint32_t committed(void)
{
	struct abi_memory m = tap_memory();

	return m.committed;
}

static void default_rule(void)
{
	uint32_t before;
	char *p;

	tap_equal(got_in_one(24, 0), 24, "commit-guess-01", "more than RAM, less than RAM and swap");
	before = committed();		/* now stack and heap have their size */
	errno = 0;
	tap_equal(got_in_one(64, 0), 0, "commit-guess-02", "more than both is refused");
	tap_equal(errno, ENOMEM, "commit-guess-03", "with ENOMEM");
	tap_equal(got_in_one(64, 0), 0, "commit-guess-04", "and again");
	tap_equal(committed(), before, "commit-count-01", "what is unmapped is promised no more");
	p = map(64, MAP_NORESERVE);
	tap_case(p != MAP_FAILED, "commit-noreserve-01", "MAP_NORESERVE asks for no promise");
	tap_equal(committed(), before, "commit-count-02", "and none is made");
	munmap(p, 64u * MIB);
	p = map(8, 0);
	tap_equal(committed(), before + 8 * MIB / TAP_PAGE, "commit-count-03", "8 MiB are promised");
	munmap(p + MIB, 6u * MIB);
	tap_equal(committed(), before + 2 * MIB / TAP_PAGE, "commit-count-04", "less a hole of 6");
	munmap(p, 8u * MIB);
	tap_equal(committed(), before, "commit-count-05", "and then nothing");
}

/* Shared memory is promised to the object: as long as somebody maps it, and only once. */
static void shared_memory(void)
{
	uint32_t before = committed();
	int object = sys_object_create(MIB / TAP_PAGE), status;
	char *p;
	pid_t pid;

	tap_equal(committed(), before + MIB / TAP_PAGE, "commit-object-01", "an object is promised when it is made");
	sys_handle_close(object);
	tap_equal(committed(), before, "commit-object-02", "until it goes");
	kind = MAP_SHARED;
	p = map(8, 0);
	tap_equal(committed(), before + 8 * MIB / TAP_PAGE, "commit-shared-01", "8 MiB of shared memory are promised");
	pid = fork();
	if (pid == 0) {
		munmap(p, 8u * MIB);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	tap_equal(committed(), before + 8 * MIB / TAP_PAGE, "commit-shared-02", "a child that came and went changes nothing");
	munmap(p, 4u * MIB);
	tap_equal(committed(), before + 8 * MIB / TAP_PAGE, "commit-shared-03", "nor does half of it unmapped: the pages stay");
	munmap(p, 8u * MIB);
	tap_equal(committed(), before, "commit-shared-04", "with the last mapping the promise goes");
	p = map(64, MAP_NORESERVE);
	tap_case(p != MAP_FAILED && committed() == before, "commit-shared-05", "MAP_NORESERVE asks for none");
	munmap(p, 64u * MIB);
}

int main(int argc, char **argv)
{
	unsigned mib = argc > 2 ? (unsigned)atoi(argv[2]) : 0;

	if (mib != 0) {
		if (argc > 3)
			kind = MAP_SHARED;
		printf("%u\n", !strcmp(argv[1], "one") ? got_in_one(mib, 0) :
		       !strcmp(argv[1], "noreserve") ? got_in_one(mib, MAP_NORESERVE) :
		       !strcmp(argv[1], "fork") ? got_in_fork(mib) : got_in_pieces(mib));
		return 0;
	}
	default_rule();
	shared_memory();
	return tap_done();
}

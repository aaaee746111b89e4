/*
 * Every allocation that a small workload makes in the kernel fails once: the n-th, for n from
 * 1 until there is none left. The workload, in a child, may be told so or be killed for it;
 * afterwards the books balance and the machine works. Run as `leaks allocfail`: no frame is
 * missing. Needs test.faults=1.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <clockhand.h>
#include "user/tests/tap.h"

enum { PAGES = 24, TOO_MANY = 2000, FEWEST = 60, AUDIT_EVERY = 16, WRONG = 9, TOLD = 1 };

static uint32_t fail_nth(uint32_t n)
{
	return (uint32_t)sys_machine(MACHINE_FAIL_ALLOC, n);
}

/* A call has failed: that may be for want of memory only. A copy to or from user memory whose
 * page can't be had is told as EFAULT. */
static void told(int error)
{
	if (error != ENOMEM && error != EAGAIN && error != EFAULT) {
		printf("# told: error %d\n", error);
		fflush(stdout);
		_exit(WRONG);
	}
	_exit(TOLD);
}

static void fill(char *p)
{
	for (unsigned i = 0; i < PAGES; i++)
		tap_fill(p + i * TAP_PAGE, i);
}

static void compare(const char *p)
{
	for (unsigned i = 0; i < PAGES; i++)
		if (!tap_intact(p + i * TAP_PAGE, i)) {
			printf("# page %u isn't what it was\n", i);
			fflush(stdout);
			_exit(WRONG);
		}
}

static char *map(int flags)
{
	char *p = mmap(NULL, PAGES * TAP_PAGE, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		told(errno);
	return p;
}

/* fork, and copies on both sides. The child's pages must be what they were. */
static void fork_and_copy(char *p)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		told(errno);
	if (pid == 0) {
		compare(p);
		memset(p, 1, 4 * TAP_PAGE);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) == pid && status == TAP_EXITS(WRONG))
		_exit(WRONG);
	compare(p);
}

/* What the mmap family does to vmas and to pages that are out. */
static void change(char *p)
{
	char *q;

	if (madvise(p, PAGES * TAP_PAGE, MADV_PAGEOUT) < 0 ||
	    mprotect(p + 4 * TAP_PAGE, 4 * TAP_PAGE, PROT_READ) < 0)
		told(errno);
	compare(p);
	if (mprotect(p + 4 * TAP_PAGE, 4 * TAP_PAGE, PROT_READ | PROT_WRITE) < 0 ||
	    mlock(p, 2 * TAP_PAGE) < 0 || munlock(p, 2 * TAP_PAGE) < 0)
		told(errno);
	q = mremap(p, PAGES * TAP_PAGE, 2 * PAGES * TAP_PAGE, MREMAP_MAYMOVE);
	if (q == MAP_FAILED)
		told(errno);
	compare(q);
	if (munmap(q + PAGES / 2 * TAP_PAGE, TAP_PAGE) < 0)
		told(errno);
}

static void objects_and_messages(void)
{
	struct abi_memory m;
	int object = sys_object_create(4), endpoint = sys_endpoint_create(), error;

	if (object < 0 || endpoint < 0)
		told(object < 0 ? -object : -endpoint);
	error = sys_object_write(object, 0, "text", 4);
	if (error < 0)
		told(-error);
	error = sys_sysinfo(SYSINFO_MEMORY, &m, sizeof(m));
	if (error < 0)
		told(-error);
	sys_handle_close(object);
	sys_handle_close(endpoint);
}

static void workload(void *arg)
{
	char *private, *shared;

	(void)arg;
	private = map(MAP_PRIVATE);
	fill(private);
	shared = map(MAP_SHARED);
	fill(shared);
	fork_and_copy(private);
	change(private);
	compare(shared);
	objects_and_messages();
	if (execl("/bin/true", "true", (char *)NULL) < 0)
		told(errno);
}

/* Ends well, says that there is no memory, or is killed for that. */
static int status_is_clear(int status)
{
	return status == TAP_EXITS(0) || status == TAP_EXITS(TOLD) || status == TAP_KILLED(9) ||
	       status == -1;
}

int main(void)
{
	uint32_t n = 1, left = 0, unclear = 0, found = 0;

	for (int i = 0; i < 3; i++)		/* what is made once is there then */
		tap_child(workload, NULL);
	for (; left == 0 && n < TOO_MANY; n++) {
		int status;

		fail_nth(n);
		status = tap_child(workload, NULL);
		left = fail_nth(0);
		while (wait(NULL) > 0)
			continue;
		if (!status_is_clear(status)) {
			printf("# allocation %u: status %#x\n", (unsigned)n, status);
			unclear++;
		}
		if (n % AUDIT_EVERY == 0)
			found += (uint32_t)sys_machine(MACHINE_AUDIT, 0);
	}
	printf("# %u allocations failed, one by one\n", (unsigned)n - 2);
	tap_case(n > FEWEST && n < TOO_MANY, "allocfail-sweep-01", "each allocation of a workload failed");
	tap_equal((long)unclear, 0, "allocfail-sweep-02", "it always ended well, was told, or killed");
	tap_equal((long)found, 0, "allocfail-sweep-03", "the audit finds nothing");
	tap_case(tap_pressure(tap_ram_pages()), "allocfail-sweep-04", "the machine works as before");
	return tap_done();
}

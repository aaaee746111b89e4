/*
 * Tasks at their limits: fork until nothing is left, kills in every state, system calls
 * that are proc's alone, exits and their figures.
 *
 * rmap: kept
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

enum { MS = 1000000, CHILDREN_MAX = 1100 };

static pid_t children[CHILDREN_MAX];

static uint32_t frames_free(void)
{
	struct abi_memory m;

	sys_machine(MACHINE_DROP_CACHES, 0);
	sys_sysinfo(SYSINFO_MEMORY, &m, sizeof(m));
	return m.free;
}

static void end_children(int count)
{
	for (int i = 0; i < count; i++)
		kill(children[i], SIGKILL);
	for (int i = 0; i < count; i++)
		waitpid(children[i], NULL, 0);
}

/* Fork sleepers until fork() fails. How many there are. */
static int fork_all(void)
{
	int count = 0;
	pid_t pid = 0;

	fflush(stdout);
	while (count < CHILDREN_MAX && (pid = fork()) >= 0) {
		if (pid == 0)
			for (;;)
				sys_sleep(0, 1000);
		children[count++] = pid;
	}
	return count;
}

static void fork_until_failure(void)
{
	uint32_t before, after;
	int count, again;

	end_children(fork_all());		/* tables have their size now */
	before = frames_free();
	count = fork_all();
	tap_case(count > 20 && count < CHILDREN_MAX, "task-full-01", "fork fails in the end");
	tap_case(errno == EAGAIN || errno == ENOMEM, "task-full-02", "with EAGAIN or ENOMEM");
	end_children(count);
	again = fork_all();
	end_children(again);
	tap_case(again > count - 5 && again < count + 5, "task-full-03",
		 "as many fit once those are gone");
	after = frames_free();
	tap_case(after + 16 >= before && before + 16 >= after, "task-full-04",
		 "and all their memory is back");
	if (after + 16 < before || before + 16 < after)
		printf("# free before %u, after %u pages\n", (unsigned)before, (unsigned)after);
}

static void proc_only(void)
{
	struct abi_exec exec = { 0 };
	struct abi_reaped reaped;

	tap_equal(sys_space_create(), -EPERM, "task-perm-01", "space_create is proc's");
	tap_equal(sys_space_map(HANDLE_PROC, NULL), -EPERM, "task-perm-02", "space_map");
	tap_equal(sys_space_write(HANDLE_PROC, NULL), -EPERM, "task-perm-03", "space_write");
	tap_equal(sys_task_create(99, &exec), -EPERM, "task-perm-04", "task_create");
	tap_equal(sys_task_exec(1, &exec), -EPERM, "task-perm-05", "task_exec");
	tap_equal(sys_task_clone(1, 99), -EPERM, "task-perm-06", "task_clone");
	tap_equal(sys_task_control(1, TASK_CTL_KILL, 9), -EPERM, "task-perm-07", "task_control");
	tap_equal(sys_task_reap(&reaped), -EPERM, "task-perm-08", "task_reap");
}

static void spin(void *arg)
{
	(void)arg;
	for (;;)
		;
}

static void sleep_long(void *arg)
{
	(void)arg;
	sys_sleep(0, 1000);
}

static void receive_for_ever(void *arg)
{
	struct ipc_message m = { 0 };

	(void)arg;
	sys_ipc_receive(sys_endpoint_create(), &m);
}

static void wait_for_ever(void *arg)
{
	(void)arg;
	if (fork() == 0)
		sleep_long(NULL);
	wait(NULL);
}

static void die_by(void (*fn)(void *), const char *name, const char *text)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		fn(NULL);
		_exit(1);
	}
	sys_sleep(3 * MS, 0);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	tap_equal(status, TAP_KILLED(SIGKILL), name, text);
}

static void exit_codes(void)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		sys_exit(TASK_STATUS_EXIT(77));
	waitpid(pid, &status, 0);
	tap_equal(status, TAP_EXITS(77), "task-exit-01", "exit status");
	pid = fork();
	if (pid == 0)
		sys_exit((int)0xdeadbe00u);
	waitpid(pid, &status, 0);
	tap_equal(status, TAP_EXITS(0xbe), "task-exit-02", "only its low 16 bits count");
}

/* Fill the memory, then fork: proc copies for a parent whom the OOM killer takes in the
 * middle of it. How many milliseconds that took, on standard output. */
static int killed_in_fork(void)
{
	struct abi_memory m;
	uint64_t start, end;
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		size_t pages;
		char *p;

		sys_sysinfo(SYSINFO_MEMORY, &m, sizeof(m));
		pages = m.free - 110;
		p = tap_map(pages);
		for (size_t i = 0; i < pages; i++)
			p[i * TAP_PAGE] = 1;
		fork_all();
		_exit(0);
	}
	sys_clock(0, &start);
	waitpid(pid, &status, 0);
	sys_clock(0, &end);
	printf("%d %u ms\n", status, (unsigned)((end - start) / MS));
	return 0;
}

/* Fill a memory object that no PTE maps. */
static void fill_object(void)
{
	static char page[TAP_PAGE];
	int object = sys_object_create(tap_ram_pages());

	for (uint32_t at = 0; sys_object_write(object, at, page, TAP_PAGE) > 0;)
		at += TAP_PAGE;
}

/* Map pages that can't merge and are never touched: each costs the kernel a vma. */
static void fill_with_vmas(void)
{
	char *at = (char *)0x50000000;
	int prot = PROT_NONE;

	while (mmap(at, TAP_PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED) {
		prot ^= PROT_READ;
		at += TAP_PAGE;
	}
}

/* Twice the pages of RAM, touched. */
static void fill_anonymous(void)
{
	size_t pages = 2 * tap_ram_pages();

	memset(tap_map(pages), 1, pages * TAP_PAGE);
}

/* A child with some memory, and `idle` pages mapped that it doesn't touch, looks on while another
 * one fills the machine, until it dies or is refused. How both ended, on standard output. */
static int killed_for(void (*fill)(void), size_t idle)
{
	int status = 0;
	pid_t onlooker = fork(), hog;

	if (onlooker == 0) {
		memset(tap_map(256), 1, 256 * TAP_PAGE);
		(void)tap_map(idle + 1);
		sleep_long(NULL);
		_exit(0);
	}
	hog = fork();
	if (hog == 0) {
		fill();
		_exit(1);
	}
	waitpid(hog, &status, 0);
	printf("hog %d, ", status);
	kill(onlooker, SIGTERM);
	waitpid(onlooker, &status, 0);
	printf("onlooker %d\n", status);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "objects") == 0)
		return killed_for(fill_object, 0);
	if (argc > 1 && strcmp(argv[1], "vmas") == 0)
		return killed_for(fill_with_vmas, 0);
	if (argc > 1 && strcmp(argv[1], "idle") == 0)
		return killed_for(fill_anonymous, 3 * tap_ram_pages());
	if (argc > 1 && strcmp(argv[1], "forkoom") == 0)
		return killed_in_fork();
	proc_only();
	exit_codes();
	die_by(spin, "task-kill-01", "a spinning program");
	die_by(sleep_long, "task-kill-02", "one that sleeps");
	die_by(receive_for_ever, "task-kill-03", "one that waits for work");
	die_by(wait_for_ever, "task-kill-04", "one that waits for a child");
	fork_until_failure();
	return tap_done();
}

/*
 * micro [NAME...]: what single operations of the system cost. Each is run REPEATS
 * times; the table gives the least and the median. The unit is the TSC's count, which
 * under QEMU's -icount shift=0 is one instruction; without a TSC, and for what waits
 * for a disk, it is a nanosecond of the kernel's clock.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <clockhand.h>

enum { REPEATS = 7, COW_PAGES = 256, TOUCH_PAGES = 512, SWAP_PAGES = 256,
       LABEL_STOP = 1, NOT_POSSIBLE = -1, EFLAGS_ID = 1 << 21, CPUID_TSC = 1 << 4, SETTLE_PAGES = 16, SETTLE_US = 20000 };

typedef int64_t cost_t;			/* per operation; NOT_POSSIBLE */

static int have_tsc;

/* CPUID is there if its flag can be changed; then it tells of the TSC. */
static int tsc_detect(void)
{
	uint32_t before, after, eax = 1, ebx, ecx, edx;

	__asm__ volatile("pushfl\n\tpopl %0\n\tmovl %0, %1\n\txorl %2, %1\n\t"
			 "pushl %1\n\tpopfl\n\tpushfl\n\tpopl %1\n\tpushl %0\n\tpopfl"
			 : "=&r"(before), "=&r"(after) : "i"(EFLAGS_ID) : "cc");
	if (!((before ^ after) & EFLAGS_ID))
		return 0;
	__asm__ volatile("cpuid" : "+a"(eax), "=b"(ebx), "=c"(ecx), "=d"(edx));
	return (edx & CPUID_TSC) != 0;
}

static uint64_t now(void)
{
	uint64_t t;

	if (!have_tsc)
		return clock_ns();
	__asm__ volatile("rdtsc" : "=A"(t) : : "memory");
	return t;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static char *map_pages(size_t pages)
{
	char *p = mmap(NULL, pages * CLOCKHAND_PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("micro: mmap");
	return p;
}

static void unmap_pages(char *p, size_t pages)
{
	munmap(p, pages * CLOCKHAND_PAGE);
}

static void touch(volatile char *p, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		p[i * CLOCKHAND_PAGE] = 1;
}

static pid_t fork_or_die(void)
{
	pid_t pid = fork();

	if (pid < 0)
		die("micro: fork");
	return pid;
}

static void stop_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static cost_t null_call(void)
{
	enum { LOOPS = 1000 };
	uint64_t start = now();

	for (int i = 0; i < LOOPS; i++)
		sys_null();
	return (cost_t)((now() - start) / LOOPS);
}

/* A server that answers every call with nothing. */
static void echo_serve(int endpoint)
{
	struct ipc_message m = { 0 };
	int error = sys_ipc_receive(endpoint, &m);

	while (error >= 0 && m.label != LABEL_STOP)
		error = sys_ipc_reply_receive(m.token, endpoint, &m);
	sys_ipc_reply(m.token, &m);
	_exit(0);
}

static cost_t null_ipc(void)
{
	enum { LOOPS = 1000 };
	struct ipc_message m = { 0 };
	int endpoint = sys_endpoint_create();
	uint64_t start;
	pid_t pid;

	if (endpoint < 0)
		return NOT_POSSIBLE;
	pid = fork_or_die();
	if (pid == 0)
		echo_serve(endpoint);
	sys_ipc_call(endpoint, &m);		/* the child is there now */
	start = now();
	for (int i = 0; i < LOOPS; i++)
		sys_ipc_call(endpoint, &m);
	start = now() - start;
	m.label = LABEL_STOP;
	sys_ipc_call(endpoint, &m);
	waitpid(pid, NULL, 0);
	sys_handle_close(endpoint);
	return (cost_t)(start / LOOPS);
}

/* Two processes give way to each other: two switches a turn. */
static cost_t yield_switch(void)
{
	enum { LOOPS = 500 };
	uint64_t start;
	pid_t pid = fork_or_die();

	if (pid == 0)
		for (;;)
			sys_yield();
	for (int i = 0; i < 4; i++)
		sys_yield();
	start = now();
	for (int i = 0; i < LOOPS; i++)
		sys_yield();
	start = now() - start;
	stop_child(pid);
	return (cost_t)(start / (2 * LOOPS));
}

static cost_t first_touch(void)
{
	char *p = map_pages(TOUCH_PAGES);
	uint64_t start = now();

	touch(p, TOUCH_PAGES);
	start = now() - start;
	unmap_pages(p, TOUCH_PAGES);
	return (cost_t)(start / TOUCH_PAGES);
}

static cost_t zero_read(void)
{
	volatile char *p = map_pages(TOUCH_PAGES);
	uint64_t start = now();

	for (size_t i = 0; i < TOUCH_PAGES; i++)
		(void)p[i * CLOCKHAND_PAGE];
	start = now() - start;
	unmap_pages((char *)p, TOUCH_PAGES);
	return (cost_t)(start / TOUCH_PAGES);
}

/* The child's half of cow(): writes to the shared pages, its cost goes to `result`. */
static void cow_child(char *p, int reuse, int endpoint, int result)
{
	struct ipc_message m = { 0 };
	uint64_t start;

	if (reuse)
		sys_ipc_receive(endpoint, &m);	/* the parent has let go */
	start = now();
	touch(p, COW_PAGES);
	start = (now() - start) / COW_PAGES;
	_exit(sys_object_write(result, 0, &start, sizeof(start)) < 0);
}

/* Write to pages that fork left shared; with `reuse` the other sharer has gone, so
 * that nothing need be copied. */
static cost_t cow(int reuse)
{
	int result = sys_object_create(1), endpoint = sys_endpoint_create();
	uint64_t cost = 0;
	char *p = map_pages(COW_PAGES);
	int status;
	pid_t pid;

	if (result < 0 || endpoint < 0)
		return NOT_POSSIBLE;
	touch(p, COW_PAGES);
	pid = fork_or_die();
	if (pid == 0)
		cow_child(p, reuse, endpoint, result);
	if (reuse) {
		unmap_pages(p, COW_PAGES);
		sys_ipc_notify(endpoint, 1);
	}
	waitpid(pid, &status, 0);
	if (!reuse)
		unmap_pages(p, COW_PAGES);
	sys_object_read(result, 0, &cost, sizeof(cost));
	sys_handle_close(result);
	sys_handle_close(endpoint);
	return status ? NOT_POSSIBLE : (cost_t)cost;
}

static cost_t cow_copy(void)
{
	return cow(0);
}

static cost_t cow_reuse(void)
{
	return cow(1);
}

static cost_t fork_exit_wait(void)
{
	enum { LOOPS = 20 };
	uint64_t start = now();

	for (int i = 0; i < LOOPS; i++) {
		pid_t pid = fork_or_die();

		if (pid == 0)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
	return (cost_t)((now() - start) / LOOPS);
}

static cost_t fork_exec_wait(void)
{
	enum { LOOPS = 10 };
	uint64_t start = now();

	for (int i = 0; i < LOOPS; i++) {
		pid_t pid = fork_or_die();

		if (pid == 0) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(1);
		}
		waitpid(pid, NULL, 0);
	}
	return (cost_t)((now() - start) / LOOPS);
}

static cost_t mmap_munmap(void)
{
	enum { LOOPS = 500 };
	uint64_t start = now();

	for (int i = 0; i < LOOPS; i++)
		unmap_pages(map_pages(1), 1);
	return (cost_t)((now() - start) / LOOPS);
}

static cost_t mmap_touch_munmap(void)
{
	enum { LOOPS = 500 };
	uint64_t start = now();

	for (int i = 0; i < LOOPS; i++) {
		char *p = map_pages(1);

		touch(p, 1);
		unmap_pages(p, 1);
	}
	return (cost_t)((now() - start) / LOOPS);
}

/* Push everything else out to swap by using more memory than there is in a child.
 * False if there isn't enough swap for that. */
static int push_out(void)
{
	struct abi_memory m;
	uint32_t pages;
	int status;
	pid_t pid;

	if (sys_sysinfo(SYSINFO_MEMORY, &m, sizeof(m)) < 0)
		return 0;
	pages = (m.total - m.reserved) / 4 * 5;
	if (m.swap_free < pages / 2 + SWAP_PAGES)
		return 0;
	pid = fork_or_die();
	if (pid == 0) {
		char *p = map_pages(pages);

		touch(p, pages);
		touch(p, pages);
		_exit(0);
	}
	return waitpid(pid, &status, 0) == pid && status == 0;
}

/* Bring swapped pages back one by one. What had to wait for the disk counts as "disk", on
 * average; its neighbours that came with it as "cache", the least, since some begin to read on.
 * Now and then all that is on its way is given time to arrive. */
static void swap_in(cost_t *disk, cost_t *cache)
{
	volatile char *p = map_pages(SWAP_PAGES);
	struct abi_usage before, after;
	uint64_t sum = 0, least = UINT64_MAX;
	unsigned asked = 0, pages;

	touch(p, SWAP_PAGES);
	pages = push_out() ? SWAP_PAGES : 0;
	sys_task_usage(&before);
	for (size_t i = 0; i < pages; i++) {
		uint64_t start = clock_ns();
		int major;

		(void)p[i * CLOCKHAND_PAGE];
		start = clock_ns() - start;
		sys_task_usage(&after);
		major = after.major_faults != before.major_faults;
		if (major) {
			sum += start;
			asked++;
		} else if (after.faults != before.faults && start < least) {
			least = start;
		}
		if (major || i % SETTLE_PAGES == 0)
			usleep(SETTLE_US);
		before = after;
	}
	unmap_pages((char *)p, SWAP_PAGES);
	*disk = asked ? (cost_t)(sum / asked) : NOT_POSSIBLE;
	*cache = least < UINT64_MAX ? (cost_t)least : NOT_POSSIBLE;
}

static const struct {
	const char *name;
	cost_t (*run)(void);
} tests[] = {
	{ "null_syscall", null_call }, { "null_ipc", null_ipc }, { "yield_switch", yield_switch },
	{ "first_touch", first_touch }, { "zero_read", zero_read }, { "cow_copy", cow_copy },
	{ "cow_reuse", cow_reuse }, { "fork_exit_wait", fork_exit_wait },
	{ "fork_exec_wait", fork_exec_wait }, { "mmap_munmap", mmap_munmap },
	{ "mmap_touch_munmap", mmap_touch_munmap },
};
enum { TESTS = sizeof(tests) / sizeof(tests[0]) };

static int cost_order(const void *a, const void *b)
{
	cost_t x = *(const cost_t *)a, y = *(const cost_t *)b;

	return x < y ? -1 : x > y;
}

/* One line of the table, over those of v[REPEATS] that were possible. */
static void row_print(const char *name, cost_t v[REPEATS], const char *unit)
{
	int first = 0;

	qsort(v, REPEATS, sizeof(v[0]), cost_order);
	while (first < REPEATS && v[first] == NOT_POSSIBLE)
		first++;
	if (first == REPEATS)
		printf("%-18s %9s %9s %s\n", name, "-", "-", unit);
	else
		printf("%-18s %9lld %9lld %s\n", name, (long long)v[first],
		       (long long)v[(first + REPEATS) / 2], unit);
	fflush(stdout);
}

static int wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return 1;
	return argc < 2;
}

/* Is each argument the name of a test? Says which are, if one isn't. */
static int names_known(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		size_t t = 0;

		while (t < TESTS && strcmp(argv[i], tests[t].name) != 0)
			t++;
		if (t < TESTS || strcmp(argv[i], "swap_in") == 0)
			continue;
		fprintf(stderr, "usage: micro [NAME...]   names are");
		for (t = 0; t < TESTS; t++)
			fprintf(stderr, " %s", tests[t].name);
		fprintf(stderr, " swap_in\n");
		return 0;
	}
	return 1;
}

int main(int argc, char **argv)
{
	cost_t v[REPEATS], w[REPEATS];

	if (!names_known(argc, argv))
		return 2;

	have_tsc = tsc_detect();
	printf("%-18s %9s %9s unit\n", "name", "least", "median");
	for (size_t i = 0; i < TESTS; i++) {
		if (!wanted(tests[i].name, argc, argv))
			continue;
		for (int r = 0; r < REPEATS; r++)
			v[r] = tests[i].run();
		row_print(tests[i].name, v, have_tsc ? "tsc" : "ns");
	}
	if (!wanted("swap_in", argc, argv))
		return 0;
	for (int r = 0; r < REPEATS; r++)
		swap_in(&v[r], &w[r]);
	row_print("swap_in_cache", w, "ns");
	row_print("swap_in_disk", v, "ns");
	return 0;
}

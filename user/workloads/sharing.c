/*
 * sharing PROCESSES [PAGES]: what the reverse map costs when PROCESSES processes of one family
 * share PAGES pages copy on write, and each has one page of its own at the same address. Four
 * more are shared, too, but the youngest has moved them elsewhere (mremap).
 *
 * Prints the bytes of the reverse map, the cost of one more fork + exit + wait, and for
 * reclaim of a shared, of a private and of a moved page the system time and the probes (vmas,
 * address spaces or PTEs looked at). Times are the kernel's nanoseconds, in the lab instructions.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <clockhand.h>

enum { PROCESSES_MAX = 1000, PAGES_DEFAULT = 64, MOVED = 4, FORKS = 10, TEXT_BYTES = 8192 };

/* Sums of which only differences matter. */
struct sums { uint64_t system_ns, probes, unmaps; };

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t system_ns(void)
{
	struct abi_usage u;

	if (sys_task_usage(&u) < 0)
		die("sharing: usage");
	return u.system_ns;
}

static struct sums sums_now(void)
{
	static char text[TEXT_BYTES];
	int n = sys_sysinfo(SYSINFO_COUNTERS, text, sizeof(text) - 1);
	struct sums s;

	if (n < 0)
		die("sharing: counters");
	text[n] = '\0';
	s.probes = counter_find(text, "rmap_probes");
	s.unmaps = counter_find(text, "rmap_unmaps");
	s.system_ns = system_ns();
	return s;
}

static uint32_t reverse_map_bytes(void)
{
	struct abi_memory m;

	if (sys_sysinfo(SYSINFO_MEMORY, &m, sizeof(m)) < 0)
		die("sharing: memory");
	return m.rmap_bytes;
}

static volatile char *map_pages(unsigned pages)
{
	char *p = mmap(NULL, pages * CLOCKHAND_PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("sharing: mmap");
	for (unsigned i = 0; i < pages; i++)
		p[i * CLOCKHAND_PAGE] = 1;
	return p;
}

static uint64_t fork_exit_wait_ns(void)
{
	uint64_t start = clock_ns();

	for (int i = 0; i < FORKS; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("sharing: fork");
		if (pid == 0)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
	return (clock_ns() - start) / FORKS;
}

/* Push `pages` pages out of this process and print what one of them cost; what reading the
 * figures costs is taken off. */
static void pageout_report(const char *what, volatile char *p, unsigned pages)
{
	struct sums idle = sums_now(), before = sums_now(), after;
	uint64_t reading = before.system_ns - idle.system_ns;

	if (madvise((char *)p, pages * CLOCKHAND_PAGE, MADV_PAGEOUT) < 0)
		die("sharing: madvise");
	after = sums_now();
	printf("%s_pageout_ns %u\n%s_probes %u\n%s_unmaps %u\n",
	       what, (unsigned)((after.system_ns - before.system_ns - reading) / pages),
	       what, (unsigned)((after.probes - before.probes) / pages),
	       what, (unsigned)((after.unmaps - before.unmaps) / pages));
}

static void move_away(volatile char *p)
{
	if (mremap((void *)p, MOVED * CLOCKHAND_PAGE, MOVED * CLOCKHAND_PAGE,
		   MREMAP_MAYMOVE | MREMAP_FIXED, (void *)map_pages(MOVED)) == MAP_FAILED)
		die("sharing: mremap");
}

/* A child that makes the page at `own` its own, says so, and waits to be killed. The youngest
 * first reports what reclaim of that page costs: for a reverse map that goes through the
 * family in order of age it is the last to be found. It takes the pages at `moved` away. */
static pid_t sharer_start(volatile char *own, volatile char *moved, int ready, int youngest)
{
	struct ipc_message m = { 0 };
	pid_t pid = fork();

	if (pid < 0)
		die("sharing: fork");
	if (pid == 0) {
		*own = 2;
		if (youngest) {
			pageout_report("private", own, 1);
			move_away(moved);
		}
		fflush(stdout);
		sys_ipc_call(ready, &m);
		for (;;)
			sleep(1000);
	}
	if (sys_ipc_receive(ready, &m) < 0 || sys_ipc_reply(m.token, &m) < 0)
		die("sharing: a child");
	return pid;
}

int main(int argc, char **argv)
{
	unsigned processes = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
	unsigned pages = argc > 2 ? (unsigned)atoi(argv[2]) : PAGES_DEFAULT;
	static pid_t children[PROCESSES_MAX];
	volatile char *shared, *own, *moved;
	uint32_t bytes;
	int ready;

	if (argc < 2 || argc > 3 || processes < 1 || processes > PROCESSES_MAX || pages < 1) {
		fprintf(stderr, "usage: sharing PROCESSES [PAGES]\n");
		return 2;
	}
	bytes = reverse_map_bytes();
	ready = sys_endpoint_create();
	shared = map_pages(pages + 1);
	own = shared + pages * CLOCKHAND_PAGE;
	moved = map_pages(MOVED);
	for (unsigned i = 1; i < processes; i++)
		children[i] = sharer_start(own, moved, ready, i == processes - 1);
	if (processes == 1)
		pageout_report("private", own, 1);
	printf("rmap_bytes %u\n", (unsigned)(reverse_map_bytes() - bytes));
	printf("fork_exit_wait_ns %u\n", (unsigned)fork_exit_wait_ns());
	pageout_report("shared", shared, pages);
	pageout_report("moved", moved, MOVED);
	for (unsigned i = 1; i < processes; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
	return 0;
}

/*
 * fuzz: random system calls with hostile arguments, by several processes at a time.
 *
 *   fuzz [-s SEED] [-n CALLS] [-p PROCESSES]
 *
 * All numbers, those that there are none of too; pointers at the ends of pages, into the
 * kernel's half, to PROT_NONE, to holes, to each other's bytes; handles that were closed,
 * never given, or are somebody else's; and the results of earlier calls as arguments of later
 * ones. A process may die of what it does and is followed by the next one, until CALLS calls
 * were made. Then: the audit, no frame is missing, and proc still answers. Status 0: all well.
 *
 * Left out is what ends the machine by right (poweroff, exit of init), and what would wait for
 * somebody who doesn't exist.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <clockhand.h>
#include "user/servers/proc.h"
#include "user/tests/call_numbers.h"
#include "user/tests/xorshift.h"

enum {
	PAGE = 4096, AREA_PAGES = 64, PLACE = 0x50000000, PLACE_PAGES = 256, ARGS = 6,
	PROCESSES = 8, PROCESSES_MAX = 32, LIFE = 4000, LIFE_UNITS = 250, RECENT = 16, NUMBERS = 72,
	LOUD = 256,		/* one of so many calls that print or walk everything is made */
	MESSAGE_WORDS = sizeof(struct ipc_message) / 4,
};
#define LIFE_NS	20000000000ull		/* of one process, at most */
#define POLL_NS	1000000u

static struct options { uint32_t seed, calls, processes; } options = { 1, 100000, PROCESSES };
static uint32_t calls_made, processes, deaths;
static uint32_t state, recent[RECENT];
static char *area, *none;

static uint32_t any(uint32_t below)
{
	return xorshift(&state, below);
}

/* ---- Arguments ---- */

static uint32_t pointer(void)
{
	uint32_t base = (uint32_t)(uintptr_t)area;

	switch (any(8)) {
	case 0: return base + any(AREA_PAGES) * PAGE + PAGE - any(16);	/* ends of pages */
	case 1: return base + AREA_PAGES * PAGE - any(64);		/* a hole behind */
	case 2: return 0xc0000000u + any(1u << 28);
	case 3: return 0xbffff000u + any(2 * PAGE);
	case 4: return (uint32_t)(uintptr_t)none + any(PAGE);
	case 5: return PLACE + any(PLACE_PAGES * PAGE);
	case 6: return any(PAGE);
	default: return base + any(AREA_PAGES * PAGE);
	}
}

static uint32_t handle(void)
{
	return any(4) ? 1024 + any(24) : any(64) - 8;
}

static uint32_t value(void)
{
	static const uint32_t limits[] = {
		0, 1, 2, 4, 0xffffffff, 0x80000000, 0x7fffffff, 0xbffff000, 0xc0000000, 0xfff,
		0x1000, 0x1001, 0x40000000, 0x08048000, 0xfffff000, 65536, 4095,
	};

	switch (any(9)) {
	case 0: return any(0);
	case 1: return limits[any(sizeof(limits) / sizeof(*limits))];
	case 2: return any(64);
	case 3: return recent[any(RECENT)];
	case 4: return any(2048) * PAGE;
	case 5: return handle();
	default: return pointer();
	}
}

/* A message where one is expected: its words half sensible. fork, kill and what waits for an
 * answer that nobody owes are left out. */
static uint32_t message(void)
{
	uint32_t *w = (uint32_t *)(void *)(area + any(AREA_PAGES * PAGE / 8) * 4);
	struct ipc_message *m = (struct ipc_message *)w;

	for (unsigned i = 0; i < MESSAGE_WORDS; i++)
		w[i] = value();
	m->label = any(20);
	if (m->label == PROC_FORK || m->label == PROC_KILL)
		m->label = PROC_IDS;
	if (any(4)) {
		m->data_bytes = any(5000);
		m->handle_count = any(4);
	}
	return any(8) ? (uint32_t)(uintptr_t)w : pointer();
}

/* ---- Calls ---- */

/* What a mapping call may do without killing its process at once. */
static void tame_mapping(uint32_t number, uint32_t arg[ARGS])
{
	if (number == CALL_mmap && any(2)) {
		arg[2] &= PROT_READ | PROT_WRITE | PROT_EXEC;
		arg[3] = (any(2) ? MAP_PRIVATE : MAP_SHARED) | (any(2) ? MAP_ANONYMOUS : 0) |
			 (any(3) ? 0 : MAP_FIXED);
	}
	if (number == CALL_mremap && any(2))
		arg[3] &= MREMAP_MAYMOVE | MREMAP_FIXED;
	if (number == CALL_munmap || number == CALL_madvise || number == CALL_mprotect ||
	    number == CALL_mremap || (number == CALL_mmap && (arg[3] & MAP_FIXED))) {
		arg[0] = PLACE + any(PLACE_PAGES) * PAGE + (any(8) ? 0 : any(PAGE));
		arg[1] %= PLACE_PAGES * PAGE;
	}
	if (number == CALL_mremap && any(4)) {
		arg[2] %= PLACE_PAGES * PAGE;
		arg[4] = PLACE + any(PLACE_PAGES) * PAGE;
	}
	if (number == CALL_brk && any(8))
		arg[0] = 0;
}

/* False: not this one. */
static int tame(uint32_t number, uint32_t arg[ARGS])
{
	switch (number) {
	case CALL_exit:
		return 0;
	case CALL_log: case CALL_write:
		return any(LOUD) == 0;
	case CALL_sleep:
		arg[0] %= 1000000;
		arg[1] = 0;
		return 1;
	case CALL_ipc_call:
		arg[0] = any(2) ? HANDLE_PROC : handle() % 1026;
		arg[1] = message();
		return 1;
	case CALL_ipc_receive:		/* from an endpoint of its own it would never come back */
		arg[0] %= 1026;
		return 1;
	case CALL_ipc_reply_receive:
		arg[1] %= 1026;
		return 1;
	case CALL_machine:
		return arg[0] > MACHINE_TRACE || any(LOUD * 16) == 0 ?
		       arg[0] != MACHINE_POWEROFF && arg[0] != MACHINE_TRACE : 0;
	case CALL_swapon: case CALL_swapoff:
		return any(4) == 0;
	default:
		tame_mapping(number, arg);
		return 1;
	}
}

static uint32_t sixth;		/* in memory: all registers are taken */

static uint32_t call(uint32_t number, const uint32_t *arg)
{
	sixth = arg[5];
	__asm__ volatile("pushl %%ebp; movl %1, %%ebp; int $0x80; popl %%ebp"
			 : "+a"(number)
			 : "m"(sixth), "b"(arg[0]), "c"(arg[1]), "d"(arg[2]), "S"(arg[3]),
			   "D"(arg[4])
			 : "memory");
	return number;
}

/* How many that were: 1 or 0. */
static unsigned make_call(void)
{
	uint32_t number = any(50) ? any(NUMBERS) : any(0), arg[ARGS], result;

	for (unsigned k = 0; k < ARGS; k++)
		arg[k] = value();
	if (!tame(number, arg))
		return 0;
	result = call(number, arg);
	if (result != 0 && result < (uint32_t)-4095)
		recent[any(RECENT)] = result;
	return 1;
}

/* The exit code tells how many calls were made, in units of LIFE / LIFE_UNITS: shared memory
 * could be written to by any of them. */
static void live(uint32_t seed)
{
	unsigned calls = 0;

	state = seed * 2654435761u + 1;
	area = mmap(NULL, AREA_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	none = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED || none == MAP_FAILED)
		_exit(0);
	munmap(area + (AREA_PAGES - 1) * PAGE, PAGE);
	close(0);
	close(1);
	close(2);			/* else it would read from the console, for ever */
	for (unsigned i = 0; i < LIFE; i++) {
		if (any(32) == 0)
			area[any((AREA_PAGES - 1) * PAGE)] = (char)i;
		calls += make_call();
	}
	_exit((int)(1 + calls / (LIFE / LIFE_UNITS)));
}

/* ---- The run ---- */

static struct { pid_t pid; uint64_t end; } alive[PROCESSES_MAX];	/* pid 0: nobody */

static void start_one(uint32_t seed)
{
	unsigned i = 0;
	pid_t pid = fork();

	if (pid == 0)
		live(seed);
	if (pid < 0)
		sys_sleep(10000000, 0);
	while (i < PROCESSES_MAX && alive[i].pid)
		i++;
	if (pid > 0 && i < PROCESSES_MAX) {
		alive[i].pid = pid;
		alive[i].end = clock_ns() + LIFE_NS;
	}
}

/*
 * Wait for any child. One that has unmapped its own text may run through gigabytes of zeros as
 * if they were instructions (`add %al,(%eax)`), so each has its time. -1: there is none.
 */
static pid_t wait_bounded(int *status)
{
	pid_t pid;

	while ((pid = waitpid(-1, status, WNOHANG)) == 0) {
		for (unsigned i = 0; i < PROCESSES_MAX; i++)
			if (alive[i].pid && clock_ns() > alive[i].end)
				kill(alive[i].pid, SIGKILL);
		sys_sleep(POLL_NS, 0);
	}
	for (unsigned i = 0; i < PROCESSES_MAX; i++)
		if (alive[i].pid == pid)
			alive[i].pid = 0;
	return pid;
}

/* Those of processes that were killed aren't counted. */
static void run(void)
{
	uint32_t seed = options.seed * 100000;
	int status;

	for (uint32_t i = 0; i < options.processes; i++)
		start_one(seed++);
	while (calls_made < options.calls) {
		if (wait_bounded(&status) < 0)
			sys_sleep(1000000, 0);
		else if (WIFEXITED(status) && WEXITSTATUS(status) > 0)
			calls_made += (WEXITSTATUS(status) - 1) * (LIFE / LIFE_UNITS);
		else
			deaths++;
		start_one(seed++);
	}
	while (wait_bounded(&status) > 0)
		continue;
	processes = seed - options.seed * 100000;
}

static uint32_t free_frames(void)
{
	struct abi_memory m;

	for (int i = 0; i < 3; i++)
		sys_machine(MACHINE_DROP_CACHES, 0);
	memset(&m, 0, sizeof(m));
	sys_sysinfo(SYSINFO_MEMORY, &m, sizeof(m));
	return m.free;
}

/* proc and the archive server: a name is found, another isn't, a child is waited for. */
static int servers_answer(void)
{
	struct stat st;
	int status = -1;
	pid_t pid;

	if (stat("/bin/sh", &st) != 0 || stat("/bin/nosuch", &st) == 0)
		return 0;
	pid = fork();
	if (pid == 0)
		execl("/bin/true", "true", (char *)NULL);
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static int read_options(int argc, char **argv)
{
	int letter;

	while ((letter = getopt(argc, argv, "s:n:p:")) != -1) {
		uint32_t number = letter == '?' ? 0 : (uint32_t)strtoul(optarg, NULL, 0);

		switch (letter) {
		case 's': options.seed = number; break;
		case 'n': options.calls = number; break;
		case 'p': options.processes = number; break;
		default: return 0;
		}
	}
	return optind == argc && options.processes >= 1 && options.processes <= PROCESSES_MAX;
}

int main(int argc, char **argv)
{
	uint32_t before, after;
	int found, answers;

	if (!read_options(argc, argv)) {
		fprintf(stderr, "usage: fuzz [-s SEED] [-n CALLS] [-p PROCESSES]\n");
		return 2;
	}
	before = free_frames();
	run();
	found = sys_machine(MACHINE_AUDIT, 0);
	answers = servers_answer();
	after = free_frames();
	printf("%u calls, %u processes, %u of them killed; audit %d, servers %s, "
	       "free %u then %u\n", (unsigned)calls_made, (unsigned)processes, (unsigned)deaths, found,
	       answers ? "answer" : "DON'T ANSWER", (unsigned)before, (unsigned)after);
	return found != 0 || !answers;
}

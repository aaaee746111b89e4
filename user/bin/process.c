/* Commands about processes. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <clockhand.h>
#include <user/servers/proc.h>
#include "user/bin/box.h"

enum { STATUS_NOT_EXECUTABLE = 126, STATUS_NOT_FOUND = 127, STATUS_SIGNAL = 128,
       TASKS_MAX = 1024, TASK_FLAG_SERVER = 1 };

int box_true(int argc, char **argv)
{
	(void)argc, (void)argv;
	return 0;
}

int box_false(int argc, char **argv)
{
	(void)argc, (void)argv;
	return 1;
}

int box_uname(int argc, char **argv)
{
	struct utsname u;

	uname(&u);
	if (argc > 1 && strcmp(argv[1], "-a") == 0)
		printf("%s %s %s %s %s\n", u.sysname, u.nodename, u.release, u.version, u.machine);
	else
		puts(u.sysname);
	return 0;
}

/* "SECONDS" or "SECONDS.FRACTION" in microseconds. */
static useconds_t microseconds(const char *text)
{
	useconds_t us = (useconds_t)strtoul(text, (char **)&text, 10) * 1000000u;

	if (*text == '.')
		for (useconds_t unit = 100000; *++text >= '0' && *text <= '9' && unit; unit /= 10)
			us += (useconds_t)(*text - '0') * unit;
	return us;
}

int box_sleep(int argc, char **argv)
{
	if (argc != 2)
		return box_usage("SECONDS");
	return usleep(microseconds(argv[1])) < 0 ? box_error("sleep", errno) : 0;
}

static const struct {
	const char *name;
	int number;
} signals[] = {
	{ "HUP", SIGHUP }, { "INT", SIGINT }, { "QUIT", SIGQUIT }, { "ABRT", SIGABRT },
	{ "KILL", SIGKILL }, { "SEGV", SIGSEGV }, { "TERM", SIGTERM }, { "CHLD", SIGCHLD },
};

/* The signal named or numbered by `text`; -1 if there is none. */
static int signal_parse(const char *text)
{
	if (*text >= '0' && *text <= '9')
		return atoi(text);
	if (strncmp(text, "SIG", 3) == 0)
		text += 3;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (strcmp(text, signals[i].name) == 0)
			return signals[i].number;
	return -1;
}

int box_kill(int argc, char **argv)
{
	int sig = SIGTERM, i = 1, status = 0;

	if (argc > 1 && argv[1][0] == '-') {
		sig = signal_parse(argv[1] + 1);
		i = 2;
	}
	if (sig < 0 || i >= argc)
		return box_usage("[-SIGNAL] PID...");
	for (; i < argc; i++)
		if (kill(atoi(argv[i]), sig) < 0)
			status = box_error(argv[i], errno);
	return status;
}

static int parent_of(const struct proc_parent *parents, unsigned count, int pid)
{
	for (unsigned i = 0; i < count; i++)
		if (parents[i].pid == pid)
			return parents[i].parent;
	return 0;
}

static void ps_line(const struct abi_task_row *t, int parent)
{
	uint32_t centis = (uint32_t)((t->user_ns + t->system_ns) / 10000000u);

	printf("%5d %5d %c%c   %7u %6u %6u %4u:%02u.%02u %s\n", (int)t->pid, parent, t->state,
	       t->flags & TASK_FLAG_SERVER ? '<' : ' ', (unsigned)t->vm_pages * 4,
	       (unsigned)t->rss_pages * 4, (unsigned)t->swap_pages * 4, (unsigned)centis / 6000,
	       (unsigned)centis / 100 % 60, (unsigned)centis % 100, t->name);
}

int box_ps(int argc, char **argv)
{
	static struct proc_parent parents[IPC_DATA_BYTES / sizeof(struct proc_parent)];
	struct ipc_message m = {
		.label = PROC_PARENTS, .data = (uint32_t)parents, .reply_room = sizeof(parents),
	};
	struct abi_task_row *rows = calloc(TASKS_MAX, sizeof(*rows));
	unsigned count;
	int n, error;

	(void)argc, (void)argv;
	if (!rows)
		return box_error("ps", ENOMEM);
	n = box_sysinfo(SYSINFO_TASKS, rows, TASKS_MAX * sizeof(*rows));
	error = proc_call(&m);
	if (n < 0 || error < 0)
		return n < 0 ? 1 : box_error("proc", -error);
	count = m.data_bytes / sizeof(parents[0]);
	puts("  PID  PPID STAT     VSZ    RSS   SWAP       TIME COMMAND");
	for (unsigned i = 0; i < (unsigned)n / sizeof(*rows); i++)
		ps_line(&rows[i], parent_of(parents, count, rows[i].pid));
	return 0;
}

/* "S.mmm" */
static void print_seconds(FILE *f, uint64_t ms, char unit)
{
	fprintf(f, "%u.%03u%c ", (unsigned)(ms / 1000), (unsigned)(ms % 1000), unit);
}

static uint64_t ms_of(const struct timeval *tv)
{
	return (uint64_t)tv->tv_sec * 1000 + (uint32_t)tv->tv_usec / 1000;
}

/* The line of csh's `time`, as the threads quote it. */
static void time_print(const struct rusage *used, uint64_t elapsed_ns)
{
	uint64_t user = ms_of(&used->ru_utime), system = ms_of(&used->ru_stime);
	uint32_t centis = (uint32_t)(elapsed_ns / 10000000u);
	uint64_t elapsed_ms = elapsed_ns / 1000000u;
	unsigned permille = elapsed_ms ? (unsigned)((user + system) * 1000 / elapsed_ms) : 0;
	unsigned seconds = centis / 100;

	print_seconds(stderr, user, 'u');
	print_seconds(stderr, system, 's');
	if (seconds >= 3600)
		fprintf(stderr, "%u:%02u:%02u.%02u", seconds / 3600, seconds / 60 % 60,
			seconds % 60, (unsigned)centis % 100);
	else
		fprintf(stderr, "%u:%02u.%02u", seconds / 60, seconds % 60, (unsigned)centis % 100);
	fprintf(stderr, " %u.%u%% 0+0k 0+0io %ldpf+0w\n", permille / 10, permille % 10,
		used->ru_majflt);
}

int box_time(int argc, char **argv)
{
	struct rusage used;
	uint64_t start = clock_ns();
	int status;
	pid_t pid;

	if (argc < 2)
		return box_usage("COMMAND ARG...");
	pid = fork();
	if (pid == 0) {
		execvp(argv[1], argv + 1);
		box_error(argv[1], errno);
		_exit(errno == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE);
	}
	if (pid < 0 || wait4(pid, &status, 0, &used) < 0)
		return box_error(argv[1], errno);
	time_print(&used, clock_ns() - start);
	return WIFSIGNALED(status) ? STATUS_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Processes: fork, wait, kill, ids. All of it is proc's; here are the messages. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <clockhand.h>
#include <user/servers/proc.h>

/* newlib says so in <time.h>: ticks of clock() and times(). */
#define NS_PER_TICK	(1000000000u / CLOCKS_PER_SEC)

pid_t fork(void)
{
	struct ipc_message m = { .label = PROC_FORK };
	int error = proc_call(&m);

	return error < 0 ? libc_result(error) : (pid_t)m.word[0];
}

pid_t vfork(void)
{
	return fork();
}

void _exit(int code)
{
	sys_exit(TASK_STATUS_EXIT(code));
}

static struct timeval timeval_of(uint64_t ns)
{
	struct timeval tv = {
		.tv_sec = (time_t)(ns / 1000000000u),
		.tv_usec = (suseconds_t)(ns % 1000000000u / 1000u),
	};

	return tv;
}

static void rusage_fill(struct rusage *to, const struct abi_usage *from)
{
	memset(to, 0, sizeof(*to));
	to->ru_utime = timeval_of(from->user_ns);
	to->ru_stime = timeval_of(from->system_ns);
	to->ru_maxrss = (long)from->max_rss_pages * 4;
	to->ru_minflt = (long)(from->faults - from->major_faults);
	to->ru_majflt = (long)from->major_faults;
}

pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
	struct abi_usage used = { 0 };	/* what proc can't tell for want of memory */
	struct ipc_message m = {
		.label = PROC_WAIT, .word = { (uint32_t)pid, (uint32_t)options },
		.data = (uint32_t)&used, .reply_room = sizeof(used),
	};
	int error = proc_call(&m);

	if (error < 0)
		return libc_result(error);
	if (m.word[0] != 0 && status)
		*status = (int)m.word[1];
	if (m.word[0] != 0 && usage)
		rusage_fill(usage, &used);
	return (pid_t)m.word[0];
}

pid_t wait3(int *status, int options, struct rusage *usage)
{
	return wait4(-1, status, options, usage);
}

pid_t waitpid(pid_t pid, int *status, int options)
{
	return wait4(pid, status, options, NULL);
}

pid_t wait(int *status)
{
	return wait4(-1, status, 0, NULL);
}

int kill(pid_t pid, int sig)
{
	struct ipc_message m = {
		.label = PROC_KILL, .word = { (uint32_t)pid, (uint32_t)sig },
	};

	return libc_result(proc_call(&m));
}

/* word[which] of PROC_IDS: pid, parent, uid, gid. */
static int id_ask(int which)
{
	struct ipc_message m = { .label = PROC_IDS };
	int error = proc_call(&m);

	return error < 0 ? libc_result(error) : (int)m.word[which];
}

pid_t getpid(void)
{
	return id_ask(0);
}

pid_t getppid(void)
{
	return id_ask(1);
}

uid_t getuid(void)
{
	return (uid_t)id_ask(2);
}

uid_t geteuid(void)
{
	return getuid();
}

gid_t getgid(void)
{
	return (gid_t)id_ask(3);
}

gid_t getegid(void)
{
	return getgid();
}

/* both[0]: this process; both[1]: the children it waited for. */
static int usage_ask(struct abi_usage both[2])
{
	struct ipc_message m = {
		.label = PROC_TIMES, .data = (uint32_t)both,
		.reply_room = 2 * sizeof(both[0]),
	};

	return proc_call(&m);
}

int getrusage(int who, struct rusage *usage)
{
	struct abi_usage both[2];
	int error;

	if (who != RUSAGE_SELF && who != RUSAGE_CHILDREN)
		return libc_result(-EINVAL);
	error = usage_ask(both);
	if (error < 0)
		return libc_result(error);
	rusage_fill(usage, &both[who == RUSAGE_CHILDREN]);
	return 0;
}

clock_t times(struct tms *t)
{
	struct abi_usage both[2];
	int error = usage_ask(both);

	if (error < 0)
		return (clock_t)libc_result(error);
	t->tms_utime = (clock_t)(both[0].user_ns / NS_PER_TICK);
	t->tms_stime = (clock_t)(both[0].system_ns / NS_PER_TICK);
	t->tms_cutime = (clock_t)(both[1].user_ns / NS_PER_TICK);
	t->tms_cstime = (clock_t)(both[1].system_ns / NS_PER_TICK);
	return (clock_t)(clock_ns() / NS_PER_TICK);
}

int sched_yield(void)
{
	return libc_result(sys_yield());
}

/* Signals are never held back yet: asking is answered, blocking is refused. */
int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	if (old)
		*old = 0;
	if (set && *set != 0 && how != SIG_UNBLOCK)
		return libc_result(-ENOTSUP);
	return 0;
}

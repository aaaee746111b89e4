/*
 * Small system calls that belong to no bigger part: the log, the clocks, sleeping, and
 * the boot modules.
 */
#include "kernel/abi/errno.h"
#include "kernel/console.h"
#include "kernel/printk.h"
#include "kernel/syscall.h"
#include "kernel/task.h"
#include "kernel/thread.h"
#include "kernel/time.h"
#include "kernel/usercopy.h"
#include "mm/object.h"

enum {
	LOG_BYTES_MAX = 200,		/* of one line; the rest is cut */
	LOG_LINES_A_SECOND = 100,	/* of all programs; more are dropped and counted */
};

enum { CLOCK_MONOTONIC_NS, CLOCK_WALL_NS, CLOCK_CPU_NS };

/* May one more line go to the log in this second? Says so once when lines were lost. */
static bool log_allowed(void)
{
	static ns_t second_end;
	static uint32_t lines, dropped;
	ns_t now = clock_ns();

	if (now >= second_end) {
		if (dropped != 0)
			printk("log: %u lines of programs dropped\n", dropped);
		second_end = now + NS_PER_SECOND;
		lines = dropped = 0;
	}
	if (lines == LOG_LINES_A_SECOND) {
		dropped++;
		return false;
	}
	lines++;
	return true;
}

/* log(text, bytes): one line into the kernel's log, marked with the program's name. What
 * isn't printable becomes '?', so that no program can forge a line. */
int32_t sys_log(const uint32_t *arg)
{
	struct task *t = current_task();
	char line[LOG_BYTES_MAX + 1];
	size_t bytes = MIN(arg[1], (uint32_t)LOG_BYTES_MAX);

	if (copy_from_user(line, arg[0], bytes) != OK)
		return -EFAULT;
	while (bytes > 0 && line[bytes - 1] == '\n')
		bytes--;
	line[bytes] = '\0';
	for (size_t i = 0; i < bytes; i++) {
		if (line[i] < ' ' || line[i] > '~')
			line[i] = '?';
	}
	if (log_allowed())
		printk("%s[%d]: %s\n", t->name, (int)t->pid, line);
	return OK;
}

/* clock(which, uint64_t *ns): 0 since boot, 1 since 1970, 2 CPU time of the caller's
 * task. */
int32_t sys_clock(const uint32_t *arg)
{
	struct abi_usage u;
	uint64_t ns;

	switch (arg[0]) {
	case CLOCK_MONOTONIC_NS:
		ns = clock_ns();
		break;
	case CLOCK_WALL_NS:
		ns = clock_wall_ns();
		break;
	case CLOCK_CPU_NS:
		task_usage(current_task(), &u);
		ns = u.user_ns + u.system_ns;
		break;
	default:
		return -EINVAL;
	}
	return copy_to_user(arg[1], &ns, sizeof(ns));
}

/* No sleep ends later than this, 292 years after boot: the lab's clock jumps over a sleep,
 * and must not run over its end. */
#define SLEEP_END_NS	(1ull << 63)

/* sleep(nanoseconds low, high). -EINTR if killed, -EINVAL beyond SLEEP_END_NS. */
int32_t sys_sleep(const uint32_t *arg)
{
	ns_t wanted = (ns_t)arg[1] << 32 | arg[0], now = clock_ns();
	uint32_t flags;
	int result;

	if (wanted == 0)
		return OK;
	if (now > SLEEP_END_NS || wanted > SLEEP_END_NS - now)
		return -EINVAL;
	flags = irq_save();
	result = thread_sleep(SLEEP_KILLABLE, now + wanted, "time");
	irq_restore(flags);
	return result == -ETIMEDOUT ? OK : result;
}

/* archive(n): a handle of the n-th boot module's object, to read and to map. -ENOENT if
 * there are fewer. Everybody may: it is what programs are mapped from. */
int32_t sys_archive(const uint32_t *arg)
{
	struct object *o = object_boot_module(arg[0]);
	int h;

	if (o == NULL)
		return -ENOENT;
	h = handle_insert(&current_task()->handles, &o->kobject,
			  HANDLE_RIGHT_READ | HANDLE_RIGHT_MAP, 0, HANDLE_AS_SYSTEM);
	if (h < 0)
		kobject_drop(&o->kobject);
	return h;
}

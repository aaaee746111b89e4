/*
 * watchdog.ms=N: a machine that hasn't come to its end N ms after boot says where it stands and
 * panics, instead of going round for ever. 0 is off. For runs that must end in words,
 * whatever was broken, so it is no timer of the list; a loop with interrupts off only the
 * runner's time limit ends.
 */
#include "kernel/watchdog.h"
#include "kernel/panic.h"
#include "kernel/param.h"
#include "kernel/printk.h"
#include "kernel/thread.h"

PARAM_U32(limit_ms, "watchdog.ms", 0, 0, 3600000);

static void tell_thread(struct thread *t, void *arg)
{
	static const char *const states[] = { "ready", "running", "asleep", "dead" };

	(void)arg;
	printk("watchdog: %3u %-16s %s%s%s\n", t->tid, t->name, states[t->state],
	       t->state == THREAD_SLEEPING && t->waiting_for ? ", waits for " : "",
	       t->state == THREAD_SLEEPING && t->waiting_for ? t->waiting_for : "");
}

/* What the running thread was at shows in trace and backtrace. */
void watchdog_look(ns_t now)
{
	if (limit_ms == 0 || now < limit_ms * NS_PER_MS || panicking())
		return;
	thread_for_each(tell_thread, NULL);
	panic("watchdog: not at its end after %u ms; thread %s runs", limit_ms, current->name);
}

/*
 * Crossing between user mode and the kernel, as seen by the running thread: inline,
 * because every system call and fault pays for it. Interrupts off in both.
 *
 * Time is charged as kernel/sched.c says: the moment is added to what ends and taken
 * from what begins.
 */
#ifndef KERNEL_CROSSING_H
#define KERNEL_CROSSING_H

#include "kernel/thread.h"
#include "kernel/timer.h"

/* The kernel was entered from user mode. */
static inline void thread_enter_kernel(void)
{
	struct thread *t = current;
	uint64_t now = cycles_now();

	t->cycles[CPU_USER] += now;
	t->cycles[CPU_SYSTEM] -= now;
}

/* The kernel is about to go to user mode: first whatever else must run. Who is killed is
 * asked to reschedule, so that there is no third question. */
static inline void thread_leave_kernel(void)
{
	struct thread *t = current;
	uint64_t now;

	if ((held_ranks | need_resched) != 0)
		thread_before_user_mode();
	now = cycles_now();
	t->cycles[CPU_SYSTEM] += now;
	t->cycles[CPU_USER] -= now;
}

#endif

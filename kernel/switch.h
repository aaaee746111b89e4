/*
 * Switching threads: inline, because each rendezvous pays for it twice. Only
 * kernel/sched.c and the short way of IPC (kernel/ipc_short.c) include this; interrupts
 * are off in all of it.
 */
#ifndef KERNEL_SWITCH_H
#define KERNEL_SWITCH_H

#include "kernel/counters.h"
#include "kernel/panic.h"
#include "kernel/sched.h"
#include "kernel/task.h"
#include "kernel/thread.h"
#include "kernel/timer.h"
#include "kernel/trap.h"
#include "mm/pgtable.h"
#include "mm/vma.h"

/* sched_switch_sleeping()'s rare case; see kernel/sched.c. */
void sched_slice_late(const struct thread *next, uint64_t now);

/*
 * Save where `prev` is, in the form of struct switch_frame, and go on where `next` was
 * saved. What a thread needs to go on lies on its own stack: all registers but ebp count
 * as used, so the compiler has saved there what it wants back. Interrupts off.
 */
_Static_assert(offsetof(struct thread, kstack_esp) == 0, "context_switch()");
static ALWAYS_INLINE void context_switch(struct thread *prev, struct thread *next)
{
	__asm__ volatile("pushl %%ebp; pushl $1f; movl %%esp, (%0); movl (%1), %%esp; ret; "
			 "1: popl %%ebp"
			 : "+S"(prev), "+D"(next)
			 : : "eax", "ebx", "ecx", "edx", "memory", "cc");
}

/* Load the page directory of `mm`, if it isn't. NULL: any will do. */
static ALWAYS_INLINE void switch_mm(struct mm *mm)
{
	if (mm == NULL || mm == pgtable_loaded)
		return;
	pgtable_loaded = mm;
	__asm__ volatile("movl %0, %%cr3" : : "r"(address_paddr(mm->pgdir)) : "memory");
}

static ALWAYS_INLINE bool stack_intact(const struct thread *t)
{
	return *(const uint32_t *)(t->kstack_top - KSTACK_BYTES) == STACK_MAGIC;
}

/* The ranks of spinlocks that the running thread holds; lock.2 is about them. */
static ALWAYS_INLINE uint32_t spin_ranks(void)
{
	return held_ranks >> RANK_TASKS << RANK_TASKS;
}

/* What both ways below share: after `prev`, the running thread, `next` runs from `now` on, in `mm` if that isn't NULL. */
static ALWAYS_INLINE void switch_common(struct thread *prev, struct thread *next,
					struct mm *mm, uint64_t now)
{
	KASSERT(stack_intact(prev), "thread.3");
	COUNT(context_switches);
	prev->cycles[CPU_SYSTEM] += now;
	next->cycles[CPU_SYSTEM] -= now;
	next->state = THREAD_RUNNING;
	current = next;				/* thread.1 */
	trap_set_kstack(next->kstack_top);
	switch_mm(mm);
	context_switch(prev, next);
	if (thread_dead != NULL)
		thread_reap();
}

/* Make `next`, which is on no queue, the running thread from `now` on; comes back when
 * `current` runs again. No spinlock held. */
static ALWAYS_INLINE void sched_switch(struct thread *next, uint64_t now)
{
	current->held_ranks = held_ranks;
	held_ranks = next->held_ranks;
	switch_common(current, next, next->task == NULL ? NULL : next->task->mm, now);
}

/* The shortest way, for IPC: `prev`, the running thread, which was not killed and is queued where it waits,
 * sleeps killable, and `next`, SLEEPING off all queues, goes on with OK. Neither is on a
 * queue of RANK_SCHED, so interrupts off will do; the trace tells of the call or reply,
 * not of the switch. Both belong to tasks and hold no lock, not even a mutex. */
static ALWAYS_INLINE void sched_switch_sleeping(struct thread *prev, struct thread *next,
						uint64_t now)
{
	KASSERT2((held_ranks | next->held_ranks) == 0, "lock.2", held_ranks, prev->tid);
	KASSERT2(next->state == THREAD_SLEEPING && list_empty(&next->run_link),
		 "thread.2", next->state, next->tid);
	prev->state = THREAD_SLEEPING;
	prev->held_ranks = 0;
	if (next->slice_end < timer_armed_until)	/* else the timer sees to it */
		sched_slice_late(next, now);
	switch_common(prev, next, next->task->mm, now);
}

#endif

/*
 * What the parts of the scheduler share: kernel/{sched,thread,wait,lock,timer}.c,
 * kernel/switch.h and nobody else. "sched lock held" means RANK_SCHED and interrupts off.
 */
#ifndef KERNEL_SCHED_H
#define KERNEL_SCHED_H

#include "kernel/thread.h"

extern struct spinlock sched_lock;	/* RANK_SCHED */
extern struct thread boot_thread;	/* the first one; the idle thread after boot */
extern struct list thread_all;		/* every thread, by all_link; RANK_SCHED */

/* Put `t` on its run queue, last. Asks for a reschedule if it is better than the
 * running thread. sched lock held. */
void sched_make_ready(struct thread *t);

/* Leave `current`, whose state and queue the caller has set, for the best thread.
 * Comes back when it runs again. Takes the sched lock held and returns with it
 * released, interrupts off. No other spinlock may be held (lock.2). */
void sched_leave_locked(void);

/* Take the best READY thread off its run queue. sched lock held. */
struct thread *sched_take_best(void);

/* Every timer interrupt, interrupts off: is the slice of `current` over? */
void sched_tick(void);
/* When that is, on clock_ns(); UINT64_MAX if nothing waits for it. */
ns_t sched_slice_due(void);

/* Register the first thread; called once by sched_init(). */
void thread_table_init(void);
/* Who has ended and still has its stack; NULL: nobody. Freed after every switch. */
extern struct thread *thread_dead;
void thread_reap(void);
void thread_begin(void);		/* C half of thread_entry */

/* What context_switch() leaves on top of the stack of a thread that doesn't run. */
struct switch_frame {
	uint32_t eip, ebp;
};
extern char thread_entry[];		/* kernel/switch.asm */

/* Take `t` out of a sleep with `result`; nothing if it is not SLEEPING. Sched lock held. */
void sched_wake_locked(struct thread *t, int result);
/* Sleep on `queue` (NULL: on none) by run_link, as thread_sleep(). Interrupts off. */
int sched_sleep_on(struct list *queue, enum sleep_kind kind, ns_t deadline,
		   const char *what);
/* A deadline came; thread.wake_timer's function. */
void sched_deadline(struct timer *timer);

#endif

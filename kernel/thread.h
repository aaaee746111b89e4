/*
 * Threads, the scheduler, sleeping and waking.
 *
 *            thread_create
 *                 |            wake                 chosen
 *                 v       +----------> READY <--------------+
 *               READY     |              |                  |
 *                 |    SLEEPING          v                  |
 *                 +------> ^ <------- RUNNING --------------+
 *                          |  sleep      |        preempted, yield
 *                          |             v thread_exit
 *                          |           DEAD ---> freed by the next thread
 *
 * thread.1  exactly one thread is RUNNING: `current`.
 * thread.2  READY <=> on a run queue; SLEEPING <=> on a wait queue, or only a
 *           deadline or thread_wake() wakes it. The idle thread is on no queue.
 * thread.3  the lowest word of every kernel stack holds STACK_MAGIC.
 */
#ifndef KERNEL_THREAD_H
#define KERNEL_THREAD_H

#include "kernel/ipc_types.h"
#include "kernel/irq_flag.h"
#include "kernel/list.h"
#include "kernel/lock.h"
#include "kernel/time.h"
#include "kernel/types.h"

enum { KSTACK_BYTES = 2 * PAGE_SIZE, THREAD_NAME_BYTES = 16, THREADS_MAX = 1024 };
#define STACK_MAGIC 0x57ac4bedu

enum thread_state { THREAD_READY, THREAD_RUNNING, THREAD_SLEEPING, THREAD_DEAD };

/* Smaller runs first; equal ones take turns of SCHED_SLICE_MS. */
enum thread_priority {
	PRIO_DRIVER = 0,	/* threads that complete I/O            */
	PRIO_SERVER = 1,	/* proc, fs, tty, and who they serve    */
	PRIO_USER   = 2,	/* programs; kswapd too (kswapd.priority=) */
	PRIO_IDLE   = 3,
	PRIO_COUNT
};
enum { SCHED_SLICE_MS = 50 };

enum cpu_mode { CPU_USER, CPU_SYSTEM };

struct waitq {
	struct list threads;		/* RANK_SCHED */
};
#define WAITQ_INIT(q) { LIST_INIT((q).threads) }

struct thread {
	uint32_t	kstack_esp;	/* saved by context_switch() */
	uint32_t	kstack_top;	/* offset 4; goes into the TSS */
	uint8_t		state;		/* enum thread_state */
	uint8_t		priority;	/* enum thread_priority, as it is now */
	uint8_t		base_priority;	/* ... without donation */
	bool		kthread;
	uint16_t	tid;		/* index in the thread table */
	uint16_t	generation;	/* of that index; tokens hold both */
	struct task    *task;		/* NULL: belongs to the kernel */
	struct list	task_link;	/* task->threads, RANK_TASKS */
	struct list	run_link;	/* run queue or waitq, RANK_SCHED */
	struct list	all_link;	/* every thread, RANK_SCHED */

	/* Sleeping */
	struct timer	wake_timer;	/* the deadline of a sleep */
	int		wake_result;	/* OK, also while it sleeps; -ETIMEDOUT, -EINTR */
	bool		sleep_killable;	/* false only in unkillable sleeps */
	bool		killed;		/* must not return to user mode */
	const char     *waiting_for;	/* shown by ps while it sleeps */

	/* Locks */
	uint32_t	held_ranks;	/* bit r: holds a lock of rank r; while it doesn't run */

	/* Memory */
	uint8_t		memalloc;	/* > 0: may use the reserve (is freeing memory, or dying) */

	bool		trashing;	/* reclaim=2.2: found too little, and frees until there is more */

	/* FPU: state saved in `fpu`, or live in the CPU if fpu_owner == this */
	void	       *fpu;		/* NULL: never used it */

	/* Time, in cycles_read() units */
	uint64_t	cycles[2];	/* by enum cpu_mode; see thread_time_ns() */
	uint64_t	slice_end;	/* cycles at which it must give way */

	struct ipc_state ipc;		/* kernel/ipc.c */
	char		name[THREAD_NAME_BYTES];
};

extern struct thread *current;
extern uint32_t need_resched;		/* bool: reschedule, or end, before user mode. A word, so
					 * that it is tested together with held_ranks */

void sched_init(void);			/* the caller becomes the first thread */
/* The end of boot: the first thread becomes the idle thread. */
NORETURN void sched_idle(void);

/* Make a thread that runs fn(arg) in the kernel, READY at once. `task` may be
 * NULL (a kernel thread). Returns NULL without memory or table space. Sleeps. */
struct thread *thread_create(struct task *task, const char *name,
			     void (*fn)(void *arg), void *arg,
			     enum thread_priority priority);
/* End the running thread. Its stack is freed by whoever runs next. */
NORETURN void thread_exit(void);

extern struct thread *thread_table[THREADS_MAX];	/* by tid; NULL: free. RANK_SCHED */
/* The thread of `tid` if it still is of that generation, else NULL. */
static inline struct thread *thread_find(unsigned tid, unsigned generation)
{
	struct thread *t = tid < THREADS_MAX ? thread_table[tid] : NULL;

	return t != NULL && t->generation == generation ? t : NULL;
}

/* The name of the call of `t`: docs/formats.md, "Messages". */
static ALWAYS_INLINE uint32_t ipc_token(const struct thread *t)
{
	return (uint32_t)t->generation << 16 | t->tid;
}

/* Give up the CPU while READY, to equals and betters only. */
void sched_yield(void);
/* Switch straight to `next`, which is SLEEPING off all queues, instead of to the
 * best ready thread; `current` must already be queued wherever it waits. It sleeps
 * killable, shown as `waiting_for`, and finds why it runs again in wake_result. If it
 * was killed before, `next` becomes READY and the result is -EINTR at once. Interrupts
 * are on. */
void sched_switch_to(struct thread *next);
/* A resched point in a long loop. Sleeps (in a way), so no spinlock held. */
void cond_resched(void);
/* On the way to user mode, interrupts off: reschedule, die if killed (lock.4). */
void thread_before_user_mode(void);

/* Set the priority as it is now; base_priority stays. Any context. */
void thread_set_priority(struct thread *t, enum thread_priority p);

/* Nanoseconds that `t` has used in `mode` up to now. */
ns_t thread_time_ns(const struct thread *t, enum cpu_mode mode);
ns_t idle_time_ns(void);
/* Nanoseconds that all threads together, dead ones too, have used in `mode`, without
 * the idle thread's. */
ns_t cpu_time_ns(enum cpu_mode mode);

/*
 * Sleeping. Call with interrupts off (irq_save()) after testing the condition:
 * nothing can then wake the queue between test and sleep. Returns with
 * interrupts still off: OK when woken, -ETIMEDOUT at `deadline` (0 = none),
 * -EINTR if killable and the thread was killed. Look at the condition again.
 */
enum sleep_kind { SLEEP_UNKILLABLE, SLEEP_KILLABLE };
int  waitq_sleep(struct waitq *q, enum sleep_kind kind, ns_t deadline, const char *what);
void waitq_init(struct waitq *q);
void waitq_wake_one(struct waitq *q);	/* any context */
void waitq_wake_all(struct waitq *q);
/* Wake `t` out of a killable sleep with -EINTR and mark it killed. */
void thread_kill(struct thread *t);
/* Wake exactly `t`, SLEEPING; used by IPC, which keeps queues of its own. */
void thread_wake(struct thread *t, int result);
/* Sleep off all queues until thread_wake(). Interrupts off, as waitq_sleep(). */
int  thread_sleep(enum sleep_kind kind, ns_t deadline, const char *what);

/* Sleep until `cond` holds. Evaluates it with interrupts off. Result as above. */
#define wait_event(q, cond, kind, deadline, what) ({			\
	uint32_t wait_flags_ = irq_save();				\
	int wait_result_ = 0;						\
	while (!(cond) && wait_result_ == 0)				\
		wait_result_ = waitq_sleep(q, kind, deadline, what);	\
	if (cond)							\
		wait_result_ = 0;					\
	irq_restore(wait_flags_);					\
	wait_result_;							\
})

/* Call fn for every thread, RANK_SCHED held. */
void thread_for_each(void (*fn)(struct thread *t, void *arg), void *arg);

#endif

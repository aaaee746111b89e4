/* Host shim of kernel/thread.h: one thread, no interrupts. A wait whose condition does
 * not hold calls shim_sleep(), which a test may set to make the condition true. */
#ifndef KERNEL_THREAD_H
#define KERNEL_THREAD_H

#include "kernel/list.h"
#include "kernel/lock.h"
#include "kernel/time.h"
#include "kernel/types.h"

enum thread_priority { PRIO_DRIVER, PRIO_SERVER, PRIO_USER, PRIO_IDLE, PRIO_COUNT };
enum sleep_kind { SLEEP_UNKILLABLE, SLEEP_KILLABLE };

struct task;

struct waitq {
	struct list threads;
};
#define WAITQ_INIT(q) { LIST_INIT((q).threads) }

struct thread {
	struct task    *task;
	uint32_t	held_ranks;
	uint8_t		memalloc;
	bool		trashing;
	bool		killed;
	bool		kthread;
	char		name[16];
};

extern struct thread *current;
extern bool need_resched;

/* Called instead of sleeping; NULL (default): a sleep fails the test. */
extern void (*shim_sleep)(const char *what);
/* Called by cond_resched() and sched_yield(), if set: other threads would run now. */
extern void (*shim_resched)(void);

void cond_resched(void);
void sched_yield(void);
void waitq_init(struct waitq *q);
int  waitq_sleep(struct waitq *q, enum sleep_kind kind, ns_t deadline, const char *what);
int  thread_sleep(enum sleep_kind kind, ns_t deadline, const char *what);
void waitq_wake_one(struct waitq *q);
void waitq_wake_all(struct waitq *q);
struct thread *thread_create(struct task *task, const char *name, void (*fn)(void *arg),
			     void *arg, enum thread_priority priority);
ns_t thread_time_ns(const struct thread *t, int mode);
enum cpu_mode { CPU_USER, CPU_SYSTEM };

#define wait_event(q, cond, kind, deadline, what) ({			\
	int wait_result_ = 0;						\
	while (!(cond) && wait_result_ == 0)				\
		wait_result_ = waitq_sleep(q, kind, deadline, what);	\
	if (cond)							\
		wait_result_ = 0;					\
	wait_result_;							\
})

enum { SCHED_SLICE_MS = 50 };

static inline bool irqs_on(void)
{
	return false;
}

static inline uint32_t irq_save(void)
{
	return 0;
}

static inline void irq_restore(uint32_t flags)
{
	(void)flags;
}

#endif

/*
 * Sleeping and waking: wait queues, deadlines, kills.
 *
 * A sleeper is linked by run_link to a wait queue, to a mutex's waiters, or to nothing.
 * It becomes READY exactly once, by whoever finds it SLEEPING first: a waker, its
 * deadline or a kill; the others then do nothing. All of it happens under RANK_SCHED.
 */
#include "kernel/thread.h"

#include "kernel/abi/errno.h"
#include "kernel/panic.h"
#include "kernel/sched.h"

void sched_wake_locked(struct thread *t, int result)
{
	if (t->state != THREAD_SLEEPING)
		return;
	list_remove(&t->run_link);
	t->wake_result = result;
	sched_make_ready(t);
}

/*
 * Sleep on `queue` (NULL: on none) by run_link, behind those that sleep there, shown by ps as
 * `what`, until a waker, `deadline` (on clock_ns(); 0: none) or, if `kind` says so, a kill ends
 * it. Returns OK, -ETIMEDOUT or -EINTR; -EINTR at once if killed already. Called with
 * interrupts off and no spinlock held (lock.2); returns with interrupts still off.
 */
int sched_sleep_on(struct list *queue, enum sleep_kind kind, ns_t deadline,
		   const char *what)
{
	struct thread *t = current;

	KASSERT(!irqs_on(), "sleep with interrupts off");
	if (kind == SLEEP_KILLABLE && t->killed)
		return -EINTR;
	if (deadline != 0)
		timer_set(&t->wake_timer, deadline);
	spin_lock(&sched_lock);
	t->state = THREAD_SLEEPING;
	t->sleep_killable = kind == SLEEP_KILLABLE;
	t->waiting_for = what;
	if (queue != NULL)
		list_insert_tail(queue, &t->run_link);
	t->wake_result = OK;
	sched_leave_locked();
	t->sleep_killable = true;
	if (deadline != 0)
		timer_cancel(&t->wake_timer);
	return t->wake_result;
}

void waitq_init(struct waitq *q)
{
	list_init(&q->threads);
}

/* Sleep on `q`, behind those that sleep there. See kernel/thread.h for the contract. */
int waitq_sleep(struct waitq *q, enum sleep_kind kind, ns_t deadline, const char *what)
{
	return sched_sleep_on(&q->threads, kind, deadline, what);
}

/* Sleep where only thread_wake(), the deadline or a kill finds the thread. */
int thread_sleep(enum sleep_kind kind, ns_t deadline, const char *what)
{
	return sched_sleep_on(NULL, kind, deadline, what);
}

/* Wake the thread that has slept longest on `q`, if any. Any context. */
void waitq_wake_one(struct waitq *q)
{
	uint32_t flags = spin_lock_irq(&sched_lock);

	if (!list_empty(&q->threads))
		sched_wake_locked(list_first(&q->threads, struct thread, run_link), 0);
	spin_unlock_irq(&sched_lock, flags);
}

/* Wake all threads on `q`, in the order they came. Any context. */
void waitq_wake_all(struct waitq *q)
{
	uint32_t flags = spin_lock_irq(&sched_lock);
	struct thread *t, *next;

	list_for_each_safe(t, next, &q->threads, run_link)
		sched_wake_locked(t, 0);
	spin_unlock_irq(&sched_lock, flags);
}

/* Let the sleep of `t` return `result`. Nothing if it does not sleep (any more). */
void thread_wake(struct thread *t, int result)
{
	uint32_t flags = spin_lock_irq(&sched_lock);

	sched_wake_locked(t, result);
	spin_unlock_irq(&sched_lock, flags);
}

/* Mark `t` as one that must not see user mode again, and end its sleep if that is
 * killable; an unkillable one is bounded by a driver's time limit. Any context. */
void thread_kill(struct thread *t)
{
	uint32_t flags = spin_lock_irq(&sched_lock);

	t->killed = true;
	if (t == current)
		need_resched = true;	/* the others when they run */
	if (t->state == THREAD_SLEEPING && t->sleep_killable)
		sched_wake_locked(t, -EINTR);
	spin_unlock_irq(&sched_lock, flags);
}

void sched_deadline(struct timer *timer)
{
	struct thread *t = container_of(timer, struct thread, wake_timer);

	spin_lock(&sched_lock);
	sched_wake_locked(t, -ETIMEDOUT);
	spin_unlock(&sched_lock);
}

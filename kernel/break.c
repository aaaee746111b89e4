/* Breaking what assertions of the kernel guard (kernel/breakage.h): most panic at once. */
#include "kernel/breakage.h"
#include "kernel/console.h"
#include "kernel/cpu.h"
#include "kernel/handle.h"
#include "kernel/ipc.h"
#include "kernel/sched.h"
#include "kernel/thread.h"
#include "kernel/timer.h"

static struct spinlock swap_rank = SPINLOCK_INIT(RANK_SWAP);
static struct spinlock rmap_rank = SPINLOCK_INIT(RANK_RMAP);
static struct spinlock lru_rank = SPINLOCK_INIT(RANK_LRU);

static bool break_order(void)
{
	spin_lock(&swap_rank);
	spin_lock(&rmap_rank);
	return true;
}

static bool break_sleep(void)
{
	spin_lock(&swap_rank);
	cond_resched();
	return true;
}

static bool break_irqs(void)
{
	irq_restore(FLAGS_IRQS_ON);
	spin_lock(&lru_rank);
	return true;
}

static bool break_held(void)
{
	spin_lock(&swap_rank);
	return true;
}

/* Somebody has ended and waits to be freed, and now the running thread ends too. */
static bool break_running(void)
{
	irq_save();
	thread_dead = current;
	thread_exit();
}

/* A thread on a wait queue gets on a run queue as well. */
static bool break_queues(void)
{
	uint32_t flags = spin_lock_irq(&sched_lock);
	struct thread *t;

	list_for_each(t, &thread_all, all_link)
		if (t->state == THREAD_SLEEPING && !list_empty(&t->run_link))
			sched_make_ready(t);
	spin_unlock_irq(&sched_lock, flags);
	return false;
}

static bool break_stack(void)
{
	*(uint32_t *)(uintptr_t)(current->kstack_top - KSTACK_BYTES) = 0;
	irq_save();
	(void)thread_sleep(SLEEP_UNKILLABLE, clock_ns() + NS_PER_MS, "its own end");
	return true;
}

/* The FPU is out of reach, but fpu_user says that it isn't. */
static bool break_fpu_user(void)
{
	fpu_trap();
	fpu_trap();
	return true;
}

/* The FPU holds the state of a thread that has no memory for it. */
static bool break_fpu_owner(void)
{
	struct thread *t;

	fpu_trap();
	fpu_disable();
	current->fpu = NULL;
	list_for_each(t, &thread_all, all_link) {
		if (t == current || t->task == NULL)
			continue;
		irq_save();
		current = t;
		fpu_trap();
	}
	return false;
}

static void destroy_nothing(struct kobject *k)
{
	(void)k;
}

static bool break_references(void)
{
	static const struct kobject_ops ops = { .name = "broken", .destroy = destroy_nothing };
	struct kobject k;

	kobject_init(&k, KOBJECT_OBJECT, &ops);
	kobject_drop(&k);
	kobject_drop(&k);
	return true;
}

/* An endpoint goes with somebody in its queue. */
static bool break_callers(void)
{
	struct endpoint *ep = endpoint_create();

	if (ep == NULL)
		return false;
	list_insert(&ep->callers, &current->ipc.link);
	kobject_drop(&ep->kobject);
	return true;
}

/* Suspended twice. */
static bool break_timer(void)
{
	irq_save();
	timer_suspend();
	timer_suspend();
	return true;
}

const struct breakage break_kernel[] = {
	{ "lock.1",   "locked in falling rank",			break_order },
	{ "lock.2",   "slept with a spinlock",			break_sleep },
	{ "lock.3",   "took an interrupt's lock, interrupts on", break_irqs },
	{ "lock.4",   "went to user mode with a lock",		break_held },
	{ "thread.1", "ended a thread in the place of another",	break_running },
	{ "thread.2", "queued a sleeper twice",			break_queues },
	{ "thread.3", "wrote to the end of a kernel stack",	break_stack },
	{ "fpu.1",    "took the FPU that it had",		break_fpu_user },
	{ "fpu.2",    "forgot where the FPU's state goes",	break_fpu_owner },
	{ "handle.1", "dropped a reference twice",		break_references },
	{ "ipc.1",    "freed an endpoint that has a caller",	break_callers },
	{ "timer.2",  "suspended the timer twice",		break_timer },
	{ NULL, NULL, NULL }
};

/*
 * Ranked locks: see kernel/lock.h for the order and its exceptions. The short ways are in
 * kernel/lock_ops.h; here are faults, nesting, and mutexes that somebody waits for.
 */
#include "kernel/lock.h"

#include "kernel/panic.h"
#include "kernel/sched.h"
#include "kernel/thread.h"

uint32_t held_ranks;

void lock_fault(const char *invariant, uint32_t bit)
{
	panic("INV %s: rank %u while ranks %#x are held by %s", invariant,
	      (unsigned)__builtin_ctz(bit), held_ranks, current->name);
}

void lock_check_irqs(uint32_t bit)
{
	if (irqs_on())
		lock_fault("lock.3", bit);
}

void spin_init(struct spinlock *l, enum lock_rank rank)
{
	*l = (struct spinlock)SPINLOCK_INIT(rank);
}

/* Take a second lock of the highest rank that the thread holds. The caller knows why
 * nobody takes the two the other way round. Released before the first. */
void spin_lock_nested(struct spinlock *l)
{
	uint32_t bit = l->bit;

	if ((held_ranks & bit) == 0 || held_ranks >= bit << 1)
		lock_fault("lock.1", bit);
	if (bit >= BIT(RANK_IRQ))
		lock_check_irqs(bit);
	spin_take(l, bit);
	l->held = SPIN_NESTED;
}

/* Take `l` if it is free, in any order. False if it is not. */
bool spin_trylock(struct spinlock *l)
{
	uint32_t bit = l->bit;
	bool nested = (held_ranks & bit) != 0;

	if (l->held != SPIN_FREE)
		return false;
	if (bit >= BIT(RANK_IRQ))
		lock_check_irqs(bit);
	spin_take(l, bit);
	if (nested)
		l->held = SPIN_NESTED;
	return true;
}

/* Release `l`, which is nested: its rank stays held. One that is free is a fault. */
void spin_unlock_nested(struct spinlock *l)
{
	if (l->held == SPIN_FREE)
		lock_fault("lock.2", l->bit);
	l->held = SPIN_FREE;
}

void mutex_init(struct mutex *m, enum lock_rank rank)
{
	m->bit = BIT(rank);
	m->nested = false;
	m->owner = NULL;
	list_init(&m->waiters);
}

/* Sleep until the owner of `m` hands it over to the running thread. */
void mutex_wait(struct mutex *m)
{
	uint32_t flags = irq_save();

	sched_sleep_on(&m->waiters, SLEEP_UNKILLABLE, 0, "mutex");
	irq_restore(flags);
	KASSERT(m->owner == current, "mutex handed over");
}

/*
 * Release `m`, which the running thread owns: its rank is held no more, unless another mutex
 * of that rank is (nested). The first that waits owns it from now on and is woken, so that no
 * passer-by can take it before he runs. Takes the sched lock; never sleeps.
 */
void mutex_hand_over(struct mutex *m)
{
	uint32_t flags;

	if (m->nested)
		m->nested = false;
	else
		held_ranks &= ~m->bit;
	m->owner = NULL;
	if (list_empty(&m->waiters))
		return;
	flags = spin_lock_irq(&sched_lock);
	m->owner = list_first(&m->waiters, struct thread, run_link);
	sched_wake_locked(m->owner, 0);
	spin_unlock_irq(&sched_lock, flags);
}

bool mutex_held(const struct mutex *m)
{
	return m->owner == current;
}

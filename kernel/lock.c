/*
 * Ranked locks: see kernel/lock.h for the order and its exceptions.
 *
 * All ranks that a thread holds are one word, so "this rank lies above everything held"
 * is one comparison. An interrupt handler borrows the word of the thread it interrupted:
 * lock.3 makes sure that nothing from RANK_IRQ up is held then. Nobody else can hold a
 * spinlock that we find taken (lock.2), so finding one is a fault, not a reason to spin.
 */
#include "kernel/lock.h"

#include "kernel/panic.h"
#include "kernel/sched.h"
#include "kernel/thread.h"

enum { RANK_FIRST_SPIN = RANK_TASKS };

/* Apart from the hot paths, which have no registers to spare for its figures. */
static NORETURN __attribute__((noinline, cold))
void lock_fault(const char *invariant, const uint8_t *rank)
{
	panic("INV %s: rank %u while ranks %#x are held by %s", invariant, *rank,
	      current->held_ranks, current->name);
}

static inline bool unlikely(bool x)
{
	return __builtin_expect(x, false);
}

/* lock.1: nothing of this rank or above is held. */
static inline void assert_rising(const struct thread *t, uint32_t bit,
				 const uint8_t *rank)
{
	if (unlikely(t->held_ranks >= bit))
		lock_fault("lock.1", rank);
}

static inline void spin_take(struct spinlock *l, struct thread *t, uint32_t bit)
{
	if (unlikely(l->held))
		lock_fault("lock.2", &l->rank);
	l->held = true;
	t->held_ranks |= bit;
}

/* lock.3 */
static inline void assert_irqs_off(uint32_t bit, const uint8_t *rank)
{
	if (bit >= BIT(RANK_IRQ) && unlikely(irqs_on()))
		lock_fault("lock.3", rank);
}

void spin_init(struct spinlock *l, enum lock_rank rank)
{
	*l = (struct spinlock){ .rank = (uint8_t)rank };
}

/* Take `l`, of a higher rank than all that the thread holds (lock.1). */
void spin_lock(struct spinlock *l)
{
	struct thread *t = current;
	uint32_t bit = BIT(l->rank);

	assert_rising(t, bit, &l->rank);
	assert_irqs_off(bit, &l->rank);
	spin_take(l, t, bit);
}

/* Take a second lock of the highest rank that the thread holds. The caller knows why
 * nobody takes the two the other way round. Released before the first. */
void spin_lock_nested(struct spinlock *l)
{
	struct thread *t = current;
	uint32_t bit = BIT(l->rank);

	if (unlikely((t->held_ranks & bit) == 0 || t->held_ranks >= bit << 1))
		lock_fault("lock.1", &l->rank);
	assert_irqs_off(bit, &l->rank);
	spin_take(l, t, bit);
	l->nested = true;
}

/* Take `l` if it is free, in any order. False if it is not. */
bool spin_trylock(struct spinlock *l)
{
	struct thread *t = current;
	uint32_t bit = BIT(l->rank);

	if (l->held)
		return false;
	assert_irqs_off(bit, &l->rank);
	l->nested = (t->held_ranks & bit) != 0;
	spin_take(l, t, bit);
	return true;
}

static inline void spin_release(struct spinlock *l)
{
	if (unlikely(!l->held))
		lock_fault("lock.2", &l->rank);
	l->held = false;
	if (unlikely(l->nested))
		l->nested = false;
	else
		current->held_ranks &= ~BIT(l->rank);
}

void spin_unlock(struct spinlock *l)
{
	spin_release(l);
}

/* Interrupts off, then spin_lock(). Returns the flags for spin_unlock_irq(). */
uint32_t spin_lock_irq(struct spinlock *l)
{
	uint32_t flags = irq_save();
	struct thread *t = current;
	uint32_t bit = BIT(l->rank);

	assert_rising(t, bit, &l->rank);
	spin_take(l, t, bit);
	return flags;
}

void spin_unlock_irq(struct spinlock *l, uint32_t flags)
{
	spin_release(l);
	irq_restore(flags);
}

bool spin_held(const struct spinlock *l)
{
	return l->held;
}

bool lock_any_spin_held(void)
{
	return current->held_ranks >> RANK_FIRST_SPIN != 0;
}

void mutex_init(struct mutex *m, enum lock_rank rank)
{
	m->rank = (uint8_t)rank;
	m->nested = false;
	m->owner = NULL;
	list_init(&m->waiters);
}

/* Take `m`, sleeping behind those that wait already. No spinlock held, and no mutex of
 * its rank or above (lock.1). Threads only; interrupt handlers never touch a mutex. */
void mutex_lock(struct mutex *m)
{
	assert_rising(current, BIT(m->rank), &m->rank);
	if (m->owner == NULL) {
		m->owner = current;
	} else {
		uint32_t flags = irq_save();

		sched_sleep_on(&m->waiters, SLEEP_UNKILLABLE, 0, "mutex");
		irq_restore(flags);
		KASSERT(m->owner == current, "mutex handed over");
	}
	current->held_ranks |= BIT(m->rank);
}

/* Take `m` if it is free, in any order. Does not sleep. False if it is not free. */
bool mutex_trylock(struct mutex *m)
{
	if (m->owner != NULL)
		return false;
	m->owner = current;
	m->nested = (current->held_ranks & BIT(m->rank)) != 0;
	current->held_ranks |= BIT(m->rank);
	return true;
}

/* Release `m`, or hand it to the first that waits: it owns it from now on, so that no
 * passer-by can take it before it runs. */
void mutex_unlock(struct mutex *m)
{
	KASSERT(m->owner == current, "mutex released by its owner");
	if (m->nested)
		m->nested = false;
	else
		current->held_ranks &= ~BIT(m->rank);
	if (list_empty(&m->waiters)) {
		m->owner = NULL;
	} else {
		uint32_t flags = spin_lock_irq(&sched_lock);

		m->owner = list_first(&m->waiters, struct thread, run_link);
		sched_wake_locked(m->owner, 0);
		spin_unlock_irq(&sched_lock, flags);
	}
}

bool mutex_held(const struct mutex *m)
{
	return m->owner == current;
}

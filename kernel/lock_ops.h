/*
 * Taking and releasing locks: the short ways, inline. Part of kernel/lock.h, which has
 * the contracts; kernel/lock.c has the long ways.
 *
 * All ranks that the running thread holds are one word, so "this rank lies above
 * everything held" is one comparison. An interrupt handler borrows the word of the
 * thread it interrupted: lock.3 makes sure that nothing from RANK_IRQ up is held then.
 */
#ifndef KERNEL_LOCK_OPS_H
#define KERNEL_LOCK_OPS_H

#include "kernel/irq_flag.h"

extern struct thread *current;
extern uint32_t held_ranks;	/* bit r: the running thread holds a lock of rank r; the
				 * others' are in thread.held_ranks */

/* A panic that names the invariant, the lock's rank and who held what. */
NORETURN __attribute__((cold)) void lock_fault(const char *invariant, uint32_t bit);
/* lock.3, for a lock that may be of an interrupt's rank. */
void lock_check_irqs(uint32_t bit);

void mutex_wait(struct mutex *m);	/* somebody has it */
void mutex_hand_over(struct mutex *m);	/* somebody waits, or it is nested */

/* lock.1: nothing of this rank or above is held. */
static inline void lock_check_rising(uint32_t bit)
{
	if (__builtin_expect(held_ranks >= bit, false))
		lock_fault("lock.1", bit);
}

/* Nobody else can hold a spinlock (lock.2), so one that is taken is a fault. */
static inline void spin_take(struct spinlock *l, uint32_t bit)
{
	if (__builtin_expect(l->held, false))
		lock_fault("lock.2", bit);
	l->held = SPIN_HELD;
	held_ranks |= bit;
}

static inline void spin_lock(struct spinlock *l)
{
	uint32_t bit = l->bit;

	lock_check_rising(bit);
	if (bit >= BIT(RANK_IRQ))
		lock_check_irqs(bit);
	spin_take(l, bit);
}

static inline void spin_release(struct spinlock *l, uint32_t bit)
{
	if (__builtin_expect(l->held != SPIN_HELD, false)) {
		spin_unlock_nested(l);
		return;
	}
	l->held = SPIN_FREE;
	held_ranks ^= bit;
}

static inline void spin_unlock(struct spinlock *l)
{
	spin_release(l, l->bit);
}

static inline uint32_t spin_lock_irq(struct spinlock *l)
{
	uint32_t flags = irq_save();
	uint32_t bit = l->bit;

	lock_check_rising(bit);
	spin_take(l, bit);
	return flags;
}

static inline void spin_unlock_irq(struct spinlock *l, uint32_t flags)
{
	spin_unlock(l);
	irq_restore(flags);
}

static inline void mutex_lock(struct mutex *m)
{
	lock_check_rising(m->bit);
	if (__builtin_expect(m->owner != NULL, false))
		mutex_wait(m);
	m->owner = current;
	held_ranks |= m->bit;
}

static inline void mutex_unlock(struct mutex *m)
{
	if (__builtin_expect(m->owner != current, false))
		lock_fault("mutex released by its owner", m->bit);
	if (__builtin_expect(m->nested || !list_empty(&m->waiters), false)) {
		mutex_hand_over(m);
		return;
	}
	m->owner = NULL;
	held_ranks ^= m->bit;
}

static inline bool spin_held(const struct spinlock *l)
{
	return l->held != SPIN_FREE;
}

static inline bool lock_any_spin_held(void)
{
	return held_ranks >= BIT(RANK_FIRST_SPIN);
}

#endif

/*
 * Locks, and THE lock order.
 *
 * The kernel runs on one CPU and switches threads only where it sleeps, at
 * cond_resched() and on the way back to user mode. A spinlock therefore never
 * spins: it asserts. It is taken and released in earnest all the same, so that
 * the order is true and preemption or a second CPU can come later.
 *
 * lock.1  A thread takes locks in rising rank only; a try may break the order.
 * lock.2  No thread sleeps while it holds a spinlock.
 * lock.3  A rank from RANK_IRQ up is held only with interrupts off.
 * lock.4  A thread that returns to user mode holds nothing.
 */
#ifndef KERNEL_LOCK_H
#define KERNEL_LOCK_H

#include "kernel/list.h"
#include "kernel/types.h"

enum lock_rank {
	/* Mutexes: the holder may sleep. */
	RANK_SWAPON = 1,	/* swapon and swapoff, one at a time	mm/swap/  */
	RANK_MMAP,		/* vmas and brk of one mm		mm/vma.c  */

	/* Spinlocks taken with interrupts on. */
	RANK_TASKS,		/* list of tasks, pids			kernel/task.c */
	RANK_HANDLES,		/* one task's handle table		kernel/handle.c */
	RANK_IPC,		/* endpoints and rendezvous states	kernel/ipc.c */
	RANK_OBJECT,		/* pages and vmas of one object		mm/object.c */
	RANK_RMAP,		/* the vmas of one anon_vma		mm/rmap/anon_vma/ */
	RANK_PAGE_TABLE,	/* PTEs and the vma tree of one mm	mm/pgtable.c */
	RANK_FAMILY,		/* the members of an anonmm family	mm/rmap/anonmm/ */
	RANK_SWAP,		/* slot maps, swap cache		mm/swap/  */
	RANK_SLAB,		/* slab caches				mm/slab.c */

	/* Spinlocks that interrupt handlers take too. */
	RANK_IRQ,
	RANK_LRU = RANK_IRQ,	/* active and inactive lists of a zone	mm/lru.c  */
	RANK_FRAMES,		/* free lists of a zone			mm/frame.c */
	RANK_BLOCK,		/* request queues			drivers/block.c */
	RANK_TIMER,		/* pending timers			kernel/timer.c */
	RANK_SCHED,		/* run queues, wait queues		kernel/sched.c */
	RANK_CONSOLE,		/* the log and its lines		kernel/printk.c */
	RANK_COUNT
};
_Static_assert(RANK_COUNT <= 32, "held ranks are one word of bits");

/*
 * The exceptions to lock.1, and why they can't deadlock:
 *  - the reverse map holds RANK_RMAP, RANK_FAMILY or RANK_OBJECT and *tries*
 *    RANK_PAGE_TABLE, which a fault may hold while it adds a page: a failed try is
 *    "not now";
 *  - fork holds the parent's RANK_PAGE_TABLE and takes the child's, which nobody
 *    else can hold for long: spin_lock_nested() says so at the call.
 *
 * The page lock (PG_locked) is no struct here: it is held across I/O, by no
 * thread in particular. A thread may sleep for a page lock only while it holds
 * nothing but mutexes; reclaim only ever tries it.
 */

enum { RANK_FIRST_SPIN = RANK_TASKS };

/* NESTED: the holder held another lock of this rank already, so that the release of this
 * one leaves the rank's bit in held_ranks set. */
enum spin_state { SPIN_FREE, SPIN_HELD, SPIN_NESTED };

struct spinlock {
	uint32_t bit;		/* BIT(rank) */
	uint8_t	 held;		/* enum spin_state */
};

struct mutex {
	uint32_t	bit;
	bool		nested;		/* as SPIN_NESTED */
	struct thread  *owner;		/* NULL: free */
	struct list	waiters;	/* threads, in order of arrival */
};

#define SPINLOCK_INIT(r)  { .bit = BIT(r), .held = SPIN_FREE }
#define MUTEX_INIT(m, r)  { .bit = BIT(r), .nested = false, .owner = NULL, \
			      .waiters = LIST_INIT((m).waiters) }

void spin_init(struct spinlock *l, enum lock_rank rank);
void spin_lock_nested(struct spinlock *l);	/* a second lock of one rank; released
						 * before the first */
bool spin_trylock(struct spinlock *l);		/* in any order */
void spin_unlock_nested(struct spinlock *l);	/* spin_unlock()'s rare case */

void mutex_init(struct mutex *m, enum lock_rank rank);
bool mutex_held(const struct mutex *m);		/* by the running thread */

/*
 * The rest is inline, in kernel/lock_ops.h:
 *   spin_lock(l), spin_unlock(l)   take `l`, of a higher rank than all that is held
 *   spin_lock_irq(l)               interrupts off, then lock: for ranks from RANK_IRQ up.
 *                                  Returns the flags that spin_unlock_irq() gives back
 *   mutex_lock(m)                  take `m`, sleeping behind those that wait already. No
 *                                  spinlock held. Threads only, no interrupt handlers
 *   mutex_unlock(m)                release it, or hand it to the first that waits
 *   lock_any_spin_held()           the running thread holds a spinlock: it must not sleep
 *   spin_held(l)                   `l` is held
 */
#include "kernel/lock_ops.h"

#endif

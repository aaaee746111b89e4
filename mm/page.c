/*
 * References and the page lock.
 *
 * A page's contents belong to whoever holds PG_LOCKED; the flag is a bit in the page,
 * held by no thread in particular: a read locks the page and the disk's interrupt
 * unlocks it. Sleepers wait in one of a few queues, chosen by the frame's number;
 * whoever is woken looks again, so that two pages may share a queue.
 */
#include "kernel/panic.h"
#include "kernel/thread.h"
#include "mm/frame.h"
#include "mm/lru.h"
#include "mm/page.h"

enum { PAGE_WAITQ_BITS = 6 };

static struct waitq page_waitqs[1 << PAGE_WAITQ_BITS];

/* The queue for `p`; made when somebody first waits in it. */
static struct waitq *page_waitq(const struct page *p)
{
	struct waitq *q = &page_waitqs[page_pfn(p) & (ARRAY_LEN(page_waitqs) - 1)];

	if (!q->threads.next)
		waitq_init(q);
	return q;
}

/* Wake all who wait for a change of `p`. Any context. */
static void page_wake(const struct page *p)
{
	struct waitq *q = page_waitq(p);

	if (!list_empty(&q->threads))
		waitq_wake_all(q);
}

/* Sleep until none of `flags` is set in `p`, whose reference the caller has. */
static void page_wait(struct page *p, uint32_t flags, const char *what)
{
	uint32_t irq;

	if (!page_is(p, flags))
		return;
	irq = irq_save();
	while (page_is(p, flags))
		waitq_sleep(page_waitq(p), SLEEP_UNKILLABLE, 0, what);
	irq_restore(irq);
}

/* Take a reference. Any context. */
void page_hold(struct page *p)
{
	KASSERT2(p->count > 0, "frame: held from nowhere", page_pfn(p), p->flags);
	__atomic_fetch_add(&p->count, 1, __ATOMIC_RELAXED);
}

/*
 * Give a reference back; the last one takes the page off its LRU list, if it is on one
 * (PG_LRU), and frees the frame. The count changes by one atomic step. A count of 0 is a
 * fault. Any context, since the end of a write drops one in the disk's interrupt; takes
 * RANK_LRU and RANK_FRAMES; never sleeps.
 */
void page_drop(struct page *p)
{
	KASSERT2(p->count > 0, "frame: dropped too often", page_pfn(p), p->flags);
	if (__atomic_sub_fetch(&p->count, 1, __ATOMIC_RELAXED) != 0)
		return;
	if (page_is(p, PG_LRU))
		lru_remove(p);
	page_free(p, 0);
}

/* Take the page lock if it is free. Any context. */
bool page_trylock(struct page *p)
{
	return !(__atomic_fetch_or(&p->flags, PG_LOCKED, __ATOMIC_ACQUIRE) & PG_LOCKED);
}

/*
 * Take the page lock. The caller has a reference and holds no spinlock (lock.2); sleeps in
 * the page's queue, not killable, until page_trylock() gives it. A disk lets it go at the
 * latest when the driver's time limit is over.
 */
void page_lock(struct page *p)
{
	uint32_t irq;

	KASSERT(!lock_any_spin_held(), "lock.2");
	if (page_trylock(p))
		return;
	irq = irq_save();
	while (!page_trylock(p))
		waitq_sleep(page_waitq(p), SLEEP_UNKILLABLE, 0, "page lock");
	irq_restore(irq);
}

/* Let the page lock go and wake who waits for it. Any context. */
void page_unlock(struct page *p)
{
	KASSERT2(page_is(p, PG_LOCKED), "page: unlocked twice", page_pfn(p), p->flags);
	page_clear(p, PG_LOCKED);
	page_wake(p);
}

/* Sleep until the page isn't under write-back. */
void page_wait_writeback(struct page *p)
{
	page_wait(p, PG_WRITEBACK, "page write");
}

/* The write is over: PG_WRITEBACK goes, sleepers wake. Interrupt context; the extra
 * count of frame.7 stays the caller's. */
void page_end_writeback(struct page *p)
{
	KASSERT2(page_is(p, PG_WRITEBACK), "frame.7", page_pfn(p), p->flags);
	page_clear(p, PG_WRITEBACK);
	page_wake(p);
}

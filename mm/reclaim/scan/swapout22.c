/*
 * reclaim=2.2: the walk through the page tables (docs/history.md 1.5). The process with the
 * largest rss is gone through once, in order of addresses and from where the last walk
 * stopped, then the next largest; a page that wasn't used since the walk last came by
 * loses its PTE, and its write begins at once. So slots follow the addresses of one process.
 *
 * Where this differs from 2.2.0-pre6:
 *  - a page that several map is written when the last of them has lost it (there the first,
 *    and no one else could have changed it), so that it is written once;
 *  - a page that somebody else holds for the moment (a copy under way) is passed over;
 *  - processes are counted without kernel threads, and any address space is one.
 */
#include "drivers/block.h"
#include "kernel/counters.h"
#include "kernel/thread.h"
#include "kernel/trace.h"
#include "mm/reclaim/scan/linux22.h"
#include "mm/reclaim/policies.h"
#include "mm/rmap.h"
#include "mm/swap/area.h"

/* One walk: for whom, and the page that it found to write. */
struct walk {
	const struct scan_control *sc;
	struct page *p;
};

/* ---- One PTE ---- */

/* Has the anonymous `p`, locked, a slot that it may go to? It leaves one that is lost, and gets
 * one if it has none and may be written. */
static bool has_slot(struct page *p, bool may_write)
{
	if (slot_is_lost(p) && (!may_write || !leave_slot(p)))
		return false;
	return page_is(p, PG_SWAPCACHE) || (may_write && swap_cache_add_new(p));
}

/* The anonymous `p`, locked, not used since, loses the PTE. True: it was the last, and the page
 * is to be written. */
static bool unmap_anon(struct page *p, struct vma *v, vaddr_t addr, pte_t *pte, bool may_write)
{
	bool dirty = page_is(p, PG_DIRTY) || (*pte & PTE_DIRTY);

	if (dirty && !may_write)
		return false;
	if (!has_slot(p, may_write) || !page_unmap_to_swap(p, v, addr, pte))
		return false;
	return p->mapcount == 0 && page_is(p, PG_DIRTY);
}

/*
 * try_to_swap_out: what is done with the page of one PTE (the table of docs/history.md 1.5). A
 * used one is made old; an object's loses the PTE, its contents stay in the object; an anonymous
 * one gets a slot, and the PTE its entry. Returns false, to end the walk, with the page locked
 * and held in w->p, if it is to be written. page_table_lock held; never sleeps.
 */
static bool visit(struct page *p, struct vma *v, vaddr_t addr, pte_t *pte, void *arg)
{
	struct walk *w = arg;

	if (page_is(p, PG_LOCKED | PG_WRITEBACK) ||
	    ((w->sc->flags & GFP_DMA) && page_is(p, PG_NORMAL)))
		return true;
	if (pte_test_and_clear_young(v->mm, addr, pte)) {
		page_set(p, PG_REFERENCED);
		return true;
	}
	if (p->count != page_known_refs(p) || !page_trylock(p))
		return true;
	page_hold(p);
	if (page_is(p, PG_OBJECT))
		(void)page_unmap_to_swap(p, v, addr, pte);
	else if (unmap_anon(p, v, addr, pte, !w->sc->kswapd))
		w->p = p;
	if (w->p)
		return false;
	page_unlock(p);
	page_drop(p);
	return true;
}

/* ---- The write ---- */

/*
 * Let what is plugged go, and sleep until `p` is written. Of those whose pages the drive writes in one go the last goes on
 * first: 2.2's run queue took in whom it woke at its head, ours does at its tail. First come,
 * first served, the same one would fill swap.in_flight each time, and each of the others get
 * one page through in the meantime.
 */
static void wait_for_write(struct page *p)
{
	static unsigned waiting;

	block_unplug();
	waiting++;
	page_wait_writeback(p);
	if (--waiting > 0)
		sched_yield();
	block_plug();
}

/*
 * Begin to write `p`, locked, unmapped, dirty and in the swap cache; the caller's reference is
 * dropped. If more than swap.in_flight swap pages are under way, this one is waited for. Returns
 * false if its slot is lost and there is no other: it stays as it is. Sleeps.
 */
bool linux22_write(struct page *p)
{
	bool wait = swap_in_flight_full();

	if (slot_is_lost(p) && !swap_relocate(p)) {
		page_unlock(p);
		page_drop(p);
		return false;
	}
	TRACE(ISOLATE, page_pfn(p), 0, 0);
	swap_write(p);
	if (wait)
		wait_for_write(p);
	page_drop(p);
	return true;
}

/* ---- Which process ---- */

/* The mm that has most left of its turn (swap_cnt), or NULL. */
static struct mm *most_left(void)
{
	struct mm *mm, *best = NULL;

	list_for_each(mm, &mm_all, all_link)
		if (mm->rss > 0 && mm->swap_left > (best ? best->swap_left : 0))
			best = mm;
	return best;
}

/* The next mm to walk: if none has any of its turn left, all begin a new one as large as they
 * are. NULL: nothing is mapped anywhere. */
static struct mm *choose_mm(void)
{
	struct mm *mm = most_left();

	if (mm)
		return mm;
	list_for_each(mm, &mm_all, all_link)
		mm->swap_left = mm->rss;
	return most_left();
}

/*
 * swap_out: walk the mms, largest first, each until its end (its turn is over then) or until a
 * page is found to write, whose write this begins; at priority p a 1/(p + 1) of all mms is
 * tried, and one more. Returns true if a write was begun. No locks held; sleeps for the write.
 */
bool linux22_swap_out(struct scan_control *sc)
{
	unsigned all = mm_count();

	for (unsigned tries = CLAMP(all / (sc->priority + 1), 1u, all) + 1; tries > 0; tries--) {
		struct walk w = { .sc = sc };
		struct mm *mm = choose_mm();

		if (!mm)
			return false;
		if (mm_walk(mm, visit, &w))
			mm->swap_left = 0;
		else
			return linux22_write(w.p);
	}
	return false;
}

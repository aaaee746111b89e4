/*
 * swap_out of Linux 2.4 (docs/history.md 2.3): a clock over all PTEs of all address spaces. Its
 * hand is an mm, and inside that an address (mm_walk()); it stays where it is between
 * calls. No write is started here: what loses its last PTE is dirty in the swap cache, and goes
 * to the disk when shrink_cache meets it on the inactive list.
 *
 * Where this differs from 2.4:
 *  - the TLB is flushed when an accessed bit is cleared: 2.4 left that to chance, with the few
 *    entries of a TLB of the time;
 *  - there are no clean anonymous pages without a slot here, which 2.4 dropped;
 *  - a page that somebody else holds stays mapped: he may have isolated it;
 *  - a page whose slot is lost (bad, or its area leaves) gets another one.
 */
#include "kernel/counters.h"
#include "kernel/thread.h"
#include "mm/reclaim/scan/linux24.h"
#include "mm/rmap.h"
#include "mm/swap.h"

struct swap_out {
	struct linux24_round *round;
	uint32_t	      left;	/* pages still to be unmapped */
};

/* The locked page has a slot that PTEs can name, or is an object's. A page that gets one is on
 * the lists from then on, without the mark of use, which the cache took from what entered it.
 * False: there is none. */
static bool has_entry(struct page *p)
{
	if (page_is(p, PG_OBJECT))
		return true;
	if (slot_is_lost(p) && !leave_slot(p))
		return false;
	if (!page_is(p, PG_SWAPCACHE)) {
		if (!swap_cache_add_new(p))
			return false;
		page_clear(p, PG_REFERENCED);
	}
	if (!page_is(p, PG_LRU))
		lru_insert(p, lru_rules.around);
	return true;
}

/* Steps 4 and 6 to 10 of try_to_swap_out (below). True: the PTE is gone. */
bool linux24_unmap_pte(struct page *p, struct vma *v, vaddr_t addr, pte_t *pte)
{
	bool gone;

	if (p->count > page_known_refs(p) || !page_trylock(p))		/* 4 */
		return false;
	gone = has_entry(p) && page_unmap_to_swap(p, v, addr, pte);
	page_unlock(p);
	return gone;
}

/*
 * try_to_swap_out, steps as in docs/history.md 2.3: the page is used (1), active (2), of another
 * class (3), locked or held (4), gets no slot (9); else the PTE becomes its swap entry (6 to 10).
 * Returns true if nobody maps it any more: "freeable".
 */
static bool try_to_swap_out(struct page *p, struct vma *v, vaddr_t addr, pte_t *pte,
			    struct linux24_round *r)
{
	if (pte_test_and_clear_young(v->mm, addr, pte)) {		/* 1 */
		lru_mark_accessed(p);
		return false;
	}
	if (page_is(p, PG_ACTIVE) || !linux24_in_class(r, p))		/* 2, 3 */
		return false;
	return linux24_unmap_pte(p, v, addr, pte) && p->count == 1;
}

/* mm_walk()'s visit. */
static bool visit(struct page *p, struct vma *v, vaddr_t addr, pte_t *pte, void *arg)
{
	struct swap_out *s = arg;

	COUNT(swap_out_ptes);
	if (try_to_swap_out(p, v, addr, pte, s->round))
		s->left--;
	return s->left > 0;
}

/* The hand goes to the next mm: the first of the list is under it, so that one which dies
 * hands it on. */
void linux24_next_mm(void)
{
	struct list *first = mm_all.next;

	list_remove(first);
	list_insert_tail(&mm_all, first);
}

/*
 * Unmap SWAP_CLUSTER pages, or as many as the kernel in force wants, that have not been used
 * since the hand came by: as many mms are visited as there are, and the first once more, or a
 * part of that. False: fewer were found, or the kernel in force doesn't try again after a
 * failure. No spinlock held, mmap_locks don't matter; never sleeps but to let others run.
 */
bool linux24_swap_out(struct linux24_round *r)
{
	const struct linux24_kernel *k = r->kernel;
	struct swap_out s = {
		.round = r, .left = k->swap_target ? k->swap_target(r->priority) : SWAP_CLUSTER,
	};
	int32_t mms = (int32_t)mm_count();

	if (k->swap_out_fails_once && r->swap_out_failed)
		return false;
	COUNT(swap_out_calls);
	if (k->swap_part_of_mms)
		mms /= (int32_t)r->priority;
	for (; mms >= 0 && s.left > 0 && !list_empty(&mm_all); mms--) {
		if (mm_walk(list_first(&mm_all, struct mm, all_link), visit, &s))
			linux24_next_mm();
		cond_resched();
	}
	r->swap_out_failed |= s.left > 0;
	return s.left == 0;
}

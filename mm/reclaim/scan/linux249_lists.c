/*
 * Lists and ages of reclaim=2.4.9 (docs/history.md 3.1). A page of the cache is
 *
 *   active            aged: +3 when used, halved when not; it may be mapped
 *   inactive ("inactive_dirty" there)  old, and mapped nowhere: to be written, or clean already
 *   clean ("inactive_clean"; each zone has its own)  its slot holds the same: as good as free
 *
 * and a page that has no slot yet is on no list. swap_out looks at PTEs: what was used gets older
 * later, what wasn't loses its PTE, and gets a slot if need be, old or not.
 */
#include "drivers/block.h"
#include "kernel/counters.h"
#include "kernel/task.h"
#include "kernel/thread.h"
#include "kernel/trace.h"
#include "mm/object.h"
#include "mm/reclaim/scan/linux24.h"
#include "mm/reclaim/scan/linux249.h"
#include "mm/rmap.h"
#include "mm/swap/area.h"

enum {
	AGE_STEP = 3, AGE_MOST = 64,	/* PAGE_AGE_ADV, PAGE_AGE_MAX */
	MM_SHIFT = 4,			/* 16 of 64 mms in a call of swap_out */
	PTE_SHIFT = 5, PTE_LEAST = 8,	/* rss / 32 PTEs of each, 8 at least */
	INACTIVE_PLENTY = 3,		/* a zone's part: 1/3 */
	FREE_PLENTY = 2,		/* times `high` */
};

static void age_up(struct page *p)
{
	page_set_age(p, MIN(page_age(p) + AGE_STEP, (uint32_t)AGE_MOST));
}

/* Has the zone of `p` so many pages that are inactive, clean or free that none need be added? */
static bool inactive_plenty(const struct page *p)
{
	const struct zone *z = page_zone(p);

	return z->inactive_here + z->clean_count + z->free > z->present / INACTIVE_PLENTY;
}

static bool free_plenty(const struct page *p)
{
	const struct zone *z = page_zone(p);

	return z->free + z->clean_count > FREE_PLENTY * z->high;
}

/* ---- PTEs ---- */

/* try_to_swap_out for one PTE. arg: how many more are to be looked at. */
static bool visit(struct page *p, struct vma *v, vaddr_t addr, pte_t *pte, void *arg)
{
	uint32_t *left = arg;

	COUNT(swap_out_ptes);
	(*left)--;
	if (inactive_plenty(p))
		return *left > 0;
	if (pte_test_and_clear_young(v->mm, addr, pte)) {
		age_up(p);
	} else if (linux24_unmap_pte(p, v, addr, pte) && page_age(p) == 0 &&
		   page_is(p, PG_LRU) && page_is(p, PG_ACTIVE)) {
		lru_deactivate(p);
	}
	return *left > 0;
}

static void swap_out_mm(struct mm *mm)
{
	uint32_t left = MIN(MAX(mm->rss >> PTE_SHIFT, (uint32_t)PTE_LEAST), mm->rss);

	if (left > 0)
		(void)mm_walk(mm, visit, &left);
}

void linux249_swap_out(void)
{
	struct task *t = current_task();
	int32_t mms = (int32_t)(mm_count() << MM_SHIFT >> LINUX249_PRIORITY);

	COUNT(swap_out_calls);
	if (t && t->mm)
		swap_out_mm(t->mm);
	do {
		cond_resched();
		if (list_empty(&mm_all))
			return;
		swap_out_mm(list_first(&mm_all, struct mm, all_link));
		linux24_next_mm();
	} while (--mms >= 0);
}

/* ---- active ---- */

/* Who but its cache and we holds the page? PTEs, or somebody who is at it. */
static bool in_use(const struct page *p)
{
	return p->count > 2;
}

static void age(struct page *p, struct linux249_round *r)
{
	if (inactive_plenty(p))
		return;
	if (page_is(p, PG_REFERENCED)) {
		page_clear(p, PG_REFERENCED);
		age_up(p);
		return;
	}
	page_set_age(p, page_age(p) / 2);
	if (in_use(p))
		return;
	r->moved |= !slot_is_lost(p);	/* else it goes round for ever, if there is no other slot */
	if (page_age(p) == 0)
		lru_deactivate(p);
}

/* refill_inactive_scan. Never sleeps. */
void linux249_refill(struct linux249_round *r)
{
	struct zone *z = &zones[ZONE_NORMAL];
	uint32_t count = z->active_count >> LINUX249_PRIORITY;
	struct page *p;

	COUNT_ADD(pgrefill, count);
	while (count-- > 0 && (p = lru_next(z, LRU_ACTIVE)) != NULL) {
		age(p, r);
		page_drop(p);
	}
}

/* ---- inactive ---- */

/* Nobody but cache and caller has the locked page: it goes when the caller lets go. Unlocks. */
static void drop_cached(struct page *p, bool kswapd)
{
	swap_cache_delete(p);
	page_unlock(p);
	count_freed(kswapd);
}

/* The locked page of the swap cache goes to the disk, or is clean, or nobody wants it. Unlocks.
 * Sleeps for a bio. */
static void launder_cached(struct page *p, struct linux249_round *r)
{
	bool wanted = swap_count((swap_entry){ p->private }) > 1, lost = slot_is_lost(p);

	if (wanted && lost && !swap_relocate(p)) {
		lru_activate(p);
		page_unlock(p);
		return;
	}
	r->moved = true;
	if (!wanted && (page_is(p, PG_DIRTY) || lost)) {
		drop_cached(p, r->kswapd);
	} else if (page_is(p, PG_DIRTY)) {
		swap_write(p);
	} else {
		lru_make_clean(p);
		page_unlock(p);
	}
}

/* page_launder's steps for one page, held by us. Where it says nothing the page has gone to
 * the head of its list. */
static void launder(struct page *p, struct linux249_round *r)
{
	if (page_is(p, PG_REFERENCED) || p->mapcount > 0) {
		page_clear(p, PG_REFERENCED);
		lru_activate(p);
		return;
	}
	if (free_plenty(p) || page_is(p, PG_WRITEBACK) || in_use(p) || !page_trylock(p))
		return;
	TRACE(ISOLATE, page_pfn(p), 0, 0);
	if (page_is(p, PG_OBJECT) && !object_swap_out(p)) {
		lru_activate(p);
		page_unlock(p);
	} else if (page_is(p, PG_SWAPCACHE)) {
		launder_cached(p, r);
	} else {
		lru_activate(p);	/* out of the cache, and soon free or mapped again */
		page_unlock(p);
	}
}

/* See linux249.h. What is written is plugged into large requests, in the order of the list. */
void linux249_launder(struct linux249_round *r)
{
	struct zone *z = &zones[ZONE_NORMAL];
	uint32_t count = z->inactive_count >> LINUX249_PRIORITY;
	struct page *p;

	block_plug();
	while (count-- > 0 && (p = lru_next(z, LRU_INACTIVE)) != NULL) {
		count_scanned(r->kswapd, 1);
		launder(p, r);
		page_drop(p);
	}
	block_unplug();
}

/* ---- clean ---- */

/* reclaim_page for one candidate, held by us: was it freed? Else it isn't clean any more. */
static bool reclaim_clean(struct page *p, bool kswapd)
{
	if (p->mapcount > 0 || page_is(p, PG_REFERENCED) || !page_is(p, PG_SWAPCACHE)) {
		page_clear(p, PG_REFERENCED);
		lru_activate(p);
		return false;
	}
	if (page_is(p, PG_DIRTY | PG_WRITEBACK) || in_use(p) || !page_trylock(p)) {
		lru_make_dirty(p);
		return false;
	}
	drop_cached(p, kswapd);
	return true;
}

bool linux249_reclaim_page(struct zone *z, bool kswapd)
{
	bool freed = false;
	struct page *p;

	while (!freed && (p = lru_next(z, LRU_CLEAN)) != NULL) {
		freed = reclaim_clean(p, kswapd);
		page_drop(p);
	}
	if (freed)
		linux249_press();
	return freed;
}

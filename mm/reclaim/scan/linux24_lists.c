/*
 * The two lists of Linux 2.4 under reclaim (docs/history.md 2.2 to 2.9): refill_inactive and
 * shrink_cache. The lists are global; pages stay on them while they are looked at, and go to the
 * other end.
 *
 * A page that PTEs map can't be freed from this side; it is passed over and counted. When there
 * were too many, the kernels differ (enum out_of_patience).
 *
 * Where this differs from 2.4:
 *  - a page that nobody wants any more but its slot is freed by whoever unmapped it last
 *    (mm/rmap/common.c), so that few are left for swap_writepage to drop;
 *  - an object's page that gets no slot becomes active at once.
 */
#include "drivers/block.h"
#include "kernel/counters.h"
#include "kernel/thread.h"
#include "kernel/trace.h"
#include "mm/object.h"
#include "mm/reclaim/scan/linux24.h"
#include "mm/rmap.h"
#include "mm/swap/area.h"

/* What came of a page of the inactive list. */
enum look {
	LOOK_MAPPED,			/* somebody maps it: nothing can be done here */
	LOOK_BUSY,			/* another class, locked, or under way to the disk */
	LOOK_FREE,			/* only we hold it now */
};

/* Look at `count` pages of the active tail: used ones go to its head, others to the inactive
 * head. Never sleeps. */
void linux24_refill(const struct linux24_kernel *k, uint32_t count)
{
	struct zone *z = &zones[ZONE_NORMAL];
	struct page *p;

	while (count-- > 0 && (p = lru_next(z, LRU_ACTIVE)) != NULL) {
		COUNT(pgrefill);
		if (page_is(p, PG_REFERENCED)) {
			page_clear(p, PG_REFERENCED);
		} else {
			lru_deactivate(p);
			if (k->demoted_is_referenced)
				page_set(p, PG_REFERENCED);
		}
		page_drop(p);
	}
}

/* Is the only reference besides ours that of the swap cache, or of an object? */
static bool only_cached(const struct page *p)
{
	return page_is(p, PG_SWAPCACHE | PG_OBJECT) && p->count == 2;
}

/* The page is on its way to the disk: wait until it is there. What we have plugged goes first. */
static void wait_for_write(struct page *p)
{
	block_unplug();
	page_wait_writeback(p);
	block_plug();
}

/* The dirty page of a slot, locked: to the disk, unlocked; or free, if nobody wants it. Sleeps. */
static enum look launder(const struct linux24_kernel *k, struct page *p)
{
	if (k->write_drops_ownerless && swap_count((swap_entry){ p->private }) == 1) {
		swap_cache_delete(p);
		page_unlock(p);
		return LOOK_FREE;
	}
	swap_write(p);
	return LOOK_BUSY;
}

/* A page that only cache or object hold, locked; it comes back unlocked. Sleeps. */
static enum look look_at_cached(const struct linux24_kernel *k, struct page *p)
{
	if (page_is(p, PG_OBJECT)) {		/* written when we come by again */
		if (!object_swap_out(p))
			lru_activate(p);
		page_unlock(p);
		return LOOK_BUSY;
	}
	if (slot_is_lost(p) && swap_count((swap_entry){ p->private }) > 1 && !swap_relocate(p)) {
		page_unlock(p);
		return LOOK_MAPPED;
	}
	if (page_is(p, PG_DIRTY) && !slot_is_lost(p))
		return launder(k, p);
	swap_cache_delete(p);
	page_unlock(p);
	return LOOK_FREE;
}

/* A mapped page isn't freed, but its buffer head is. */
static void strip(struct page *p)
{
	if (!page_is(p, PG_BUFFER) || !page_trylock(p))
		return;
	linux24_buffer_release(p);
	page_unlock(p);
}

/* The steps of shrink_cache for one page, held. Sleeps: for its write, or to write it. */
static enum look look_at(const struct linux24_round *r, struct page *p)
{
	if (!linux24_in_class(r, p))
		return LOOK_BUSY;
	if (page_is(p, PG_WRITEBACK)) {
		if (!r->no_write)
			wait_for_write(p);
		return LOOK_BUSY;
	}
	if (page_is(p, PG_SWAPCACHE) && page_is(p, PG_LOCKED))
		return LOOK_BUSY;		/* it is being read */
	if (!only_cached(p)) {
		strip(p);
		return LOOK_MAPPED;
	}
	if (!page_trylock(p))
		return LOOK_BUSY;
	if (r->no_write && page_is(p, PG_DIRTY | PG_OBJECT)) {
		page_unlock(p);
		return LOOK_BUSY;
	}
	TRACE(ISOLATE, page_pfn(p), 0, 0);
	return look_at_cached(r->kernel, p);
}

static void count_look(struct linux24_round *r, enum look look)
{
	bool kswapd = r->asker == OOM_ASKS_KSWAPD;

	count_scanned(kswapd, 1);
	if (look != LOOK_FREE)
		return;
	r->wanted--;
	r->freed++;
	count_freed(kswapd);
}

/* One mapped page too many: does the scan go on? *patience is given anew if so. */
static bool goes_on(struct linux24_round *r, uint32_t *patience, uint32_t all_patience)
{
	switch (r->kernel->out_of_patience) {
	case MAPPED_SWAPS_AND_ENDS:
		(void)linux24_swap_out(r);
		return false;
	case MAPPED_SWAPS_AND_GOES_ON:
		(void)linux24_swap_out(r);
		*patience = all_patience;
		return true;
	case MAPPED_ENDS:
		return false;
	default:
		return true;
	}
}

/* The scan is through without patience left: the kernels that unmap now do so. */
static void after_scan(struct linux24_round *r)
{
	enum out_of_patience how = r->kernel->out_of_patience;

	if (how == MAPPED_SWAPS_AFTER_SCAN || (how == MAPPED_SWAPS_IF_WANTED && r->wanted > 0))
		(void)linux24_swap_out(r);
}

/*
 * Free r->wanted frames off the inactive list: a part of it by r->priority is looked at, from the
 * tail on. What is dirty is written; a write that is met is waited for. r->wanted and r->freed
 * tell what was done. No locks held; sleeps.
 */
void linux24_shrink_cache(struct linux24_round *r)
{
	struct zone *z = &zones[ZONE_NORMAL];
	uint32_t part = z->inactive_count / r->priority;
	uint32_t all_patience = r->kernel->patience(r->wanted, r->priority, part);
	uint32_t scan = r->kernel->only_mapped_count ? 2 * z->inactive_count : part;
	uint32_t patience = all_patience;
	struct page *p;

	while (scan-- > 0 && r->wanted > 0 && (p = lru_next(z, LRU_INACTIVE)) != NULL) {
		enum look look = look_at(r, p);

		page_drop(p);
		count_look(r, look);
		cond_resched();
		if (look != LOOK_MAPPED)
			continue;
		if (patience > 0)
			patience--;
		else if (!goes_on(r, &patience, all_patience))
			return;
	}
	if (patience == 0)
		after_scan(r);
}

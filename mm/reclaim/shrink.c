/*
 * The mechanism that reclaim policies share: what is done with one page (the state
 * machine of Linux 2.6.5's shrink_list, docs/history.md 4.5), in batches taken off a zone's
 * lists. Which lists, how far and when is the policy's.
 *
 * Pages that must be written are collected and written in the order of their slots, so
 * that the block layer makes few large requests of them.
 *
 * Locks: none held; page locks are only tried. Never allocates. Sleeps only in
 * swap_write(), for a bio of the pool, or on the first write to an area.
 */
#include "drivers/block.h"
#include "kernel/counters.h"
#include "kernel/panic.h"
#include "kernel/thread.h"
#include "kernel/trace.h"
#include "mm/lru.h"
#include "mm/object.h"
#include "mm/reclaim/policies.h"
#include "mm/rmap.h"
#include "mm/swap/area.h"

/* Pages on their way to the disk: locked, isolated, unmapped. */
struct write_batch {
	unsigned     count;
	struct page *page[RECLAIM_BATCH];
};

/* References that are accounted for: ours, and the cache's. */
static bool only_ours(const struct page *p)
{
	return p->count == 1u + page_is(p, PG_SWAPCACHE);
}

/* Must the page go to another slot? Its own can't be written, or the whole area, or it is on
 * its way out: what reclaim sent back there swapoff would have to fetch again, for ever. A page
 * whose read failed has nothing to take along: it is dropped, and its slot stays what it is. */
bool slot_is_lost(const struct page *p)
{
	swap_entry e = { p->private };

	if (!page_is(p, PG_SWAPCACHE) || !page_is(p, PG_UPTODATE))
		return false;
	if (page_is(p, PG_DIRTY) && !swap_area_takes(swap_entry_to_area(e)))
		return true;
	return page_is(p, PG_ERROR) || swap_area_leaves(e);
}

/* The page leaves a lost slot that no PTE names. False: some do, and there is no other slot
 * that they could be given when the page is unmapped (swap_relocate()). */
bool leave_slot(struct page *p)
{
	if (swap_count((swap_entry){ p->private }) == 1) {
		swap_cache_delete(p);
		return true;
	}
	return swap_slots_free() > 0;
}

bool must_wait_for_writes(const struct scan_control *sc)
{
	return !sc->kswapd && swap_congested();
}

/* An unmapped locked page: write it, free it, or why not. */
static enum verdict judge_unmapped(struct page *p, bool referenced, const struct scan_control *sc)
{
	if (page_is(p, PG_DIRTY) && page_is(p, PG_SWAPCACHE)) {
		if (referenced || !only_ours(p))
			return PAGE_KEEP;
		if (must_wait_for_writes(sc))
			return PAGE_KEEP;
		return PAGE_WRITE;
	}
	if (!only_ours(p))
		return PAGE_KEEP;
	if (page_is(p, PG_SWAPCACHE))
		swap_cache_delete(p);
	return PAGE_FREE;
}

/* A mapped anonymous page gets a slot, so that its PTEs can name it. An object's page gets its
 * own when it leaves the object, unmapped; here it is only not unmapped in vain. */
static bool has_slot(struct page *p)
{
	if (page_is(p, PG_OBJECT))
		return swap_slot_to_be_had();
	return p->mapcount == 0 || page_is(p, PG_SWAPCACHE) || swap_cache_add_new(p);
}

/*
 * What is to become of `p`, isolated, locked and held once by the caller? Numbers as in
 * docs/history.md 4.5: under write-back it is kept (3); used since the last look and mapped or
 * in the swap cache: active (4); mapped anonymous pages get a slot (5) and are unmapped
 * everywhere (6), or are active if that can't be; the rest is judge_unmapped()'s (7 to 9). An
 * object's page gets its slot when it is unmapped and leaves the object. A slot that can't be
 * used any more is left first. Returns the verdict; the page stays locked. No spinlock held;
 * never sleeps.
 */
enum verdict shrink_judge(struct page *p, const struct scan_control *sc)
{
	bool referenced;

	if (page_is(p, PG_WRITEBACK))
		return PAGE_KEEP;					/* 3 */
	if (slot_is_lost(p) && !leave_slot(p))
		return PAGE_ACTIVATE;
	referenced = rmap_referenced(p) > 0;
	if (referenced && (p->mapcount > 0 || page_is(p, PG_SWAPCACHE | PG_OBJECT)))
		return PAGE_ACTIVATE;					/* 4 */
	if (!has_slot(p))
		return PAGE_ACTIVATE;					/* 5 */
	if (p->mapcount > 0) {						/* 6 */
		enum rmap_result r = rmap_try_to_unmap(p);

		if (r != RMAP_UNMAPPED)
			return r == RMAP_AGAIN ? PAGE_KEEP : PAGE_ACTIVATE;
	}
	if (page_is(p, PG_OBJECT) && !object_swap_out(p))
		return PAGE_ACTIVATE;
	if (slot_is_lost(p) && !swap_relocate(p))
		return PAGE_ACTIVATE;
	return judge_unmapped(p, referenced, sc);			/* 7 to 9 */
}

/* Free a page that only we refer to. */
static void free_page(struct page *p, struct scan_control *sc)
{
	page_unlock(p);
	page_drop(p);
	sc->freed++;
	count_freed(sc->kswapd);
}

static void judge(struct page *p, struct scan_control *sc, struct write_batch *w)
{
	enum verdict v;

	list_remove(&p->lru);
	if (!page_trylock(p)) {
		lru_putback(p);						/* 1 */
		return;
	}
	TRACE(ISOLATE, page_pfn(p), 0, 0);
	v = shrink_judge(p, sc);
	if (v == PAGE_FREE) {
		free_page(p, sc);
		return;
	}
	if (v == PAGE_WRITE) {
		w->page[w->count++] = p;
		return;
	}
	if (v == PAGE_ACTIVATE) {
		page_set(p, PG_ACTIVE);
		COUNT(pgactivate);
		TRACE(ACTIVATE, page_pfn(p), 0, 0);
	}
	page_unlock(p);
	lru_putback(p);
}

/* In order of their slots: insertion, since they mostly are already. */
static void sort_by_slot(struct write_batch *w)
{
	for (unsigned i = 1; i < w->count; i++) {
		struct page *p = w->page[i];
		unsigned j = i;

		for (; j > 0 && w->page[j - 1]->private > p->private; j--)
			w->page[j] = w->page[j - 1];
		w->page[j] = p;
	}
}

/* Start all writes. Each page is back on the inactive list before its write can end, so
 * that the end of the write finds it there and moves it to the tail. */
static void write_out(struct write_batch *w)
{
	if (w->count == 0)
		return;
	sort_by_slot(w);
	block_plug();
	for (unsigned i = 0; i < w->count; i++) {
		struct page *p = w->page[i];

		page_hold(p);
		page_set(p, PG_RECLAIM);
		lru_putback(p);
		swap_write(p);
		page_drop(p);
	}
	block_unplug();
	w->count = 0;
}

/* One batch off the inactive tail. Returns how many pages there were. */
static unsigned shrink_batch(struct zone *z, unsigned count, struct scan_control *sc)
{
	struct write_batch writes = { .count = 0 };
	struct list batch = LIST_INIT(batch);
	uint32_t freed_before = sc->freed;
	unsigned n = lru_isolate(z, LRU_INACTIVE, MIN(count, (unsigned)RECLAIM_BATCH), &batch);

	while (!list_empty(&batch))
		judge(list_first(&batch, struct page, lru), sc, &writes);
	write_out(&writes);
	count_scanned(sc->kswapd, n);
	if (sc->freed == freed_before)		/* else frame_give() began anew */
		z->scanned_since_freed += n;
	return n;
}

/*
 * Look at up to `count` pages of z's inactive tail, until sc->wanted are free, or until nothing
 * can be written before other writes are done. Sleeps (see above).
 */
void shrink_inactive(struct zone *z, unsigned count, struct scan_control *sc)
{
	while (count > 0 && sc->freed < sc->wanted) {
		uint32_t freed_before = sc->freed;
		unsigned n = shrink_batch(z, count, sc);

		if (n == 0 || (sc->freed == freed_before && must_wait_for_writes(sc)))
			return;
		count -= MIN(n, count);
		cond_resched();
	}
}

/* See mm/reclaim.h. */
void reclaim_isolated(struct list *batch)
{
	struct scan_control sc = { .wanted = UINT32_MAX };
	struct write_batch writes = { .count = 0 };

	while (!list_empty(batch)) {
		judge(list_first(batch, struct page, lru), &sc, &writes);
		COUNT(pgscan_direct);
	}
	write_out(&writes);
}

/* Does an active page stay active? It is mapped and was used, or mapped pages are to be
 * spared, or there is nowhere to put it. */
static bool stays_active(struct page *p, bool take_mapped, bool swap)
{
	bool used;

	if (!swap && (p->mapcount > 0 || page_is(p, PG_OBJECT)))
		return true;
	if (p->mapcount == 0)
		return false;
	if (!take_mapped || !page_trylock(p))
		return true;
	used = rmap_referenced(p) > 0;
	page_unlock(p);
	return used;
}

/*
 * Look at up to `count` pages of z's active tail: those that stays_active() go back to its
 * head, all others to the head of the inactive list. Mapped ones are spared if they were used,
 * or all of them unless `take_mapped`. Takes RANK_LRU inside; never sleeps.
 */
void refill_inactive(struct zone *z, unsigned count, bool take_mapped)
{
	bool swap = swap_slots_total() > 0;
	struct list batch = LIST_INIT(batch);
	unsigned n = lru_isolate(z, LRU_ACTIVE, count, &batch);

	COUNT_ADD(pgrefill, n);
	while (!list_empty(&batch)) {
		struct page *p = list_first(&batch, struct page, lru);

		list_remove(&p->lru);
		if (!stays_active(p, take_mapped, swap)) {
			page_clear(p, PG_ACTIVE);
			COUNT(pgdeactivate);
			TRACE(DEACTIVATE, page_pfn(p), 0, 0);
		}
		lru_putback(p);
	}
}

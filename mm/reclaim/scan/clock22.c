/*
 * reclaim=2.2: the hands that go round the page array (docs/history.md 1.4). One frees pages of
 * the swap cache that nobody holds beside it; what a page's use says is one bit of the page,
 * fed by the walk through the page tables (swapout22.c) and by each look into the cache. The
 * other does with objects what 2.2 did with SysV shared memory: it sends them to swap
 * when nobody maps them.
 *
 * Where this differs from 2.2.0-pre6: a page of the swap cache that is dirty (its slot can't be
 * written, or it was written to on its way out; there that couldn't be) is written again by
 * whoever may write, instead of being dropped.
 *
 * Locks: page locks are only tried. Never allocates.
 */
#include "kernel/counters.h"
#include "kernel/trace.h"
#include "mm/object.h"
#include "mm/reclaim/scan/linux22.h"
#include "mm/reclaim/policies.h"
#include "mm/swap.h"

static pfn_t clock_hand, object_hand;

static struct page *advance(pfn_t *hand)
{
	*hand = *hand + 1 < page_count ? *hand + 1 : 0;
	return pfn_page(*hand);
}

/* Was it used since a hand came by? */
static bool test_and_clear_used(struct page *p)
{
	bool used = page_is(p, PG_REFERENCED);

	if (used)
		page_clear(p, PG_REFERENCED);
	return used;
}

/* May `sc` have it, nobody but one holder (the cache, the object) having it? */
static bool is_idle(const struct page *p, const struct scan_control *sc)
{
	return p->count == 1 && !page_is(p, PG_LOCKED | PG_WRITEBACK) &&
	       !((sc->flags & GFP_DMA) && page_is(p, PG_NORMAL));
}

/* `p`, locked and held by us and the cache, goes, its frame with it. */
static void free_cached(struct page *p, struct scan_control *sc)
{
	TRACE(ISOLATE, page_pfn(p), 0, 0);
	swap_cache_delete(p);
	page_unlock(p);
	page_drop(p);
	sc->freed++;
	count_freed(sc->kswapd);
}

/* An idle page of the swap cache: drop it, or write it if its contents are nowhere else. */
static bool take_cached(struct page *p, bool used, struct scan_control *sc)
{
	bool others = swap_count((swap_entry){ p->private }) != 1;

	if ((used && others) || !page_trylock(p))
		return false;
	page_hold(p);
	if (!others || !page_is(p, PG_DIRTY)) {
		free_cached(p, sc);
		return true;
	}
	if (!sc->kswapd)
		return linux22_write(p);
	page_unlock(p);
	page_drop(p);
	return false;
}

/*
 * shrink_mmap: move the hand over at most 2 * RAM >> priority frames, clear each one's use, and
 * free the first page of the swap cache that nobody else holds; used ones are spared if PTEs
 * name their slots. Returns true if one was freed (or, dirty, begun to be written), and the next
 * call goes on behind it. No locks held; sleeps for writes only.
 */
bool linux22_clock(struct scan_control *sc)
{
	uint32_t left = 2 * page_count >> sc->priority;

	do {
		struct page *p = advance(&clock_hand);
		bool used = test_and_clear_used(p);

		count_scanned(sc->kswapd, 1);
		if (page_is(p, PG_SWAPCACHE) && is_idle(p, sc) && take_cached(p, used, sc))
			return true;
	} while (left-- > 1);
	return false;
}

static bool is_memory_object(const struct page *p)
{
	const struct object *o = p->mapping;

	return page_is(p, PG_OBJECT) && o->kind == OBJECT_MEMORY;
}

/* An object's page that nobody uses goes over to the swap cache, and to the disk. */
static bool take_object(struct page *p)
{
	if (!page_trylock(p))
		return false;
	page_hold(p);
	if (object_swap_out(p))
		return linux22_write(p);
	page_unlock(p);
	page_drop(p);
	return false;
}

/*
 * shm_swap: look at objects' pages >> priority of the objects' pages, from where the last look
 * ended, and send the first to swap that was not used since and is mapped nowhere. Returns true
 * if there was one. Only for who may write. No locks held; sleeps for writes only.
 */
bool linux22_objects_out(struct scan_control *sc)
{
	uint32_t left = objects_memory_frames() >> sc->priority;

	for (pfn_t n = 0; n < page_count && left > 0 && !sc->kswapd; n++) {
		struct page *p = advance(&object_hand);

		if (!is_memory_object(p))
			continue;
		left--;
		count_scanned(false, 1);
		if (!test_and_clear_used(p) && p->mapcount == 0 && is_idle(p, sc) && take_object(p))
			return true;
	}
	return false;
}

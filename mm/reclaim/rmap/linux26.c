/*
 * reclaim=2.6: after Linux 2.6.5 (docs/history.md 4.3 to 4.6).
 *
 * Per zone, an active and an inactive list. The lower the priority (12 ... 0, a shift),
 * the larger the part of the lists that is looked at. Small parts are saved up as "scan
 * debts" until they make a batch. kswapd is woken at `low` and works until `high`;
 * allocations that find less than `min` reclaim themselves.
 *
 * Where this differs from 2.6.5:
 *  - min_free_kbytes may fall to 64 (there 128), so that 4 and 8 MiB machines aren't
 *    mostly watermark, and no zone has less than 4 frames of `min`;
 *  - kswapd aims for `high` only (2.6.5 takes whatever the scan gives), so that a low
 *    priority doesn't empty the inactive list;
 *  - kswapd rests while its writes are under way (there the nap never happens by a slip);
 *  - an allocating thread that may not write, because enough writes are under way, waits for
 *    them at any priority (2.6.5 goes on over pages that it can't write: with much RAM and a
 *    slow disk most of reclaim's time went there);
 *  - reclaim=default: an allocation doesn't retry for ever, see page_alloc() in mm/frame.h, and
 *    asks the OOM rule only when nothing at all was freed.
 */
#include "drivers/block.h"
#include "kernel/counters.h"
#include "kernel/isqrt.h"
#include "kernel/param.h"
#include "kernel/thread.h"
#include "kernel/trace.h"
#include "mm/oom.h"
#include "mm/reclaim/policies.h"
#include "mm/rmap.h"
#include "mm/slab.h"
#include "mm/swap.h"
#include "mm/swap/area.h"

PARAM_U32(swappiness, "vm.swappiness", 60, 0, 100);

enum {
	MIN_FREE_KB_LEAST = 64, MIN_FREE_KB_MOST = 16384,
	ZONE_MIN_LEAST = 4,		/* frames */
	SLAB_PRIORITY = 8,		/* from here down empty slabs are given back */
	WAIT_PRIORITY = 9,		/* from here down reclaimers wait for the disk */
	CONGESTION_WAIT_MS = 100,	/* HZ/10 */
	ORDER_RETRY_MAX = 3,		/* larger blocks are not worth an OOM kill */
	ORDER_TRIES = 8,
	ROUNDS_MAX = 64,		/* with progress that others took away each time */
};

/* ---- Watermarks ---- */

/*
 * Set min, low and high of all zones, in frames. As a whole min is isqrt(RAM in KiB) KiB, from
 * MIN_FREE_KB_LEAST to MIN_FREE_KB_MOST (docs/history.md 4.3, with another least);
 * a zone gets its share by size, at least ZONE_MIN_LEAST frames, and 0 if it has no RAM;
 * low = 2 min, high = 3 min. Once at boot, no locks; never sleeps.
 */
void linux26_set_watermarks(void)
{
	uint32_t total = frames_total();
	uint32_t kb = isqrt(total * (PAGE_SIZE / 1024));
	uint32_t frames = CLAMP(kb, (uint32_t)MIN_FREE_KB_LEAST, (uint32_t)MIN_FREE_KB_MOST) /
			  (PAGE_SIZE / 1024);

	for (unsigned i = 0; i < ZONE_COUNT; i++) {
		struct zone *z = &zones[i];

		z->min = z->present ? MAX(frames * z->present / total, (uint32_t)ZONE_MIN_LEAST) : 0;
		z->low = 2 * z->min;
		z->high = 3 * z->min;
		z->prev_priority = RECLAIM_PRIORITY;
	}
}

/* ---- One zone ---- */

/* Are mapped pages to be taken now? docs/history.md 4.4. */
static bool take_mapped(const struct zone *z)
{
	uint32_t distress = 100 >> z->prev_priority;
	uint32_t mapped_ratio = rmap_mapped_pages() * 100 / frames_total();

	return mapped_ratio / 2 + distress + swappiness >= 100;
}

/* Age and shrink one zone at sc->priority: scan debts of docs/history.md 4.4. */
static void shrink_zone(struct zone *z, struct scan_control *sc)
{
	uint32_t count;

	z->scan_active += RECLAIM_BATCH * z->active_count / (2 * (z->inactive_count | 1)) + 1;
	if (z->scan_active >= RECLAIM_BATCH) {
		count = MIN(z->scan_active, z->active_count);
		z->scan_active = 0;
		refill_inactive(z, count, take_mapped(z));
	}
	z->scan_inactive += z->inactive_count >> sc->priority;
	if (z->scan_inactive >= RECLAIM_BATCH || sc->priority == 0) {
		count = MAX(z->scan_inactive, (uint32_t)RECLAIM_BATCH);
		z->scan_inactive = 0;
		shrink_inactive(z, count, sc);
	}
}

static void note_unreclaimable(struct zone *z)
{
	if (z->scanned_since_freed > 2 * z->present)
		z->all_unreclaimable = true;
}

/* Empty slabs hold frames too; their zone isn't asked. */
static void shrink_slabs(struct scan_control *sc)
{
	if (sc->priority <= SLAB_PRIORITY)
		sc->freed += slab_shrink();
}

/* ---- Direct reclaim ---- */

static void reclaim_zones(struct scan_control *sc)
{
	unsigned last = sc->flags & GFP_DMA ? ZONE_DMA : ZONE_NORMAL;

	for (unsigned i = 0; i <= last; i++) {
		struct zone *z = &zones[i];

		if (z->present == 0 || sc->freed >= sc->wanted)
			continue;
		if (z->all_unreclaimable && sc->priority != RECLAIM_PRIORITY)
			continue;
		z->prev_priority = sc->priority;
		shrink_zone(z, sc);
		note_unreclaimable(z);
	}
}

/*
 * Free RECLAIM_BATCH frames, trying harder from priority to priority. Returns how many
 * were freed. Sleeps for the disk. The caller may use the reserve meanwhile.
 */
static uint32_t direct_reclaim(enum gfp flags)
{
	struct scan_control sc = { .wanted = RECLAIM_BATCH, .flags = flags };
	ns_t since = direct_reclaim_begin();

	for (int priority = RECLAIM_PRIORITY; priority >= 0; priority--) {
		sc.priority = (uint32_t)priority;
		TRACE(DIRECT, frames_free(), priority, 0);
		reclaim_zones(&sc);
		shrink_slabs(&sc);
		if (sc.freed >= sc.wanted || current->killed)
			break;
		if (must_wait_for_writes(&sc) ||
		    (priority <= WAIT_PRIORITY && swap_writes_pending() > 0))
			block_wait_congestion(CONGESTION_WAIT_MS);
	}
	direct_reclaim_end(since);
	return sc.freed;
}

/* ---- Allocation ---- */

/*
 * The part that sleeps: reclaim and try again, until there is a block, or the OOM rule
 * says that there will be none. Bounded: each round ends in a page, a victim's memory
 * (bounded in mm/oom/), or one of ROUNDS_MAX tries. A killed caller doesn't wait: it could
 * be its own memory that it waits for.
 */
static struct page *alloc_slowly(enum gfp flags, unsigned order)
{
	for (unsigned round = 0; !current->killed; round++) {
		uint32_t freed = direct_reclaim(flags);
		struct page *p = take_above(flags, order, MARK_MIN);

		if (p)
			return p;
		if (order > 0 && round >= ORDER_TRIES)
			return NULL;
		if (freed > 0 && round < ROUNDS_MAX)
			continue;
		if (order > ORDER_RETRY_MAX || !oom_then_retry(order))
			break;
	}
	return may_use_reserve(flags) ? take_above(flags, order, MARK_NONE) : NULL;
}

/*
 * The same as 2.6.5 did it: the OOM rule hears of each reclaim that freed less than a batch, even if
 * others' frames are there by then; and there is no end of tries but a frame, or death.
 */
static struct page *alloc_slowly_26(enum gfp flags, unsigned order)
{
	for (unsigned round = 0; !current->killed; round++) {
		bool failed = direct_reclaim(flags) < RECLAIM_BATCH;
		struct page *p;

		if (failed && oom_kill(OOM_ASKS_ALLOC, order) != OOM_RETRY)
			break;
		p = take_above(flags, order, MARK_MIN);
		if (p)
			return p;
		if (order > ORDER_RETRY_MAX || (order > 0 && round >= ORDER_TRIES))
			return NULL;
		wait_for_memory();
	}
	return may_use_reserve(flags) ? take_above(flags, order, MARK_NONE) : NULL;
}

/* page_alloc(): the passes of docs/history.md 4.3; `slowly` is the one that sleeps. */
static struct page *alloc(enum gfp flags, unsigned order,
			  struct page *(*slowly)(enum gfp flags, unsigned order))
{
	struct zone *first = flags & GFP_DMA ? &zones[ZONE_DMA] : &zones[ZONE_NORMAL];
	struct page *p = zone_take(first, order, first->low);

	if (!p)
		p = take_above(flags, order, MARK_LOW);
	if (p)
		return p;
	kswapd_wake();
	p = take_above(flags, order, MARK_MIN);
	if (p || (flags & GFP_SPARE))
		return p;
	if (may_use_reserve(flags))
		return take_above(flags, order, MARK_NONE);
	if (!(flags & GFP_WAIT))
		return take_above(flags, order, MARK_HALF);
	return slowly(flags, order);
}

/* What reclaim=default takes. */
struct page *linux26_alloc(enum gfp flags, unsigned order)
{
	return alloc(flags, order, alloc_slowly);
}

static struct page *alloc_26(enum gfp flags, unsigned order)
{
	return alloc(flags, order, alloc_slowly_26);
}

/* ---- kswapd ---- */

static bool zone_is_well(const struct zone *z)
{
	return z->present == 0 || z->free > z->high;
}

bool linux26_needs_balance(void)
{
	for (unsigned i = 0; i < ZONE_COUNT; i++)
		if (!zone_is_well(&zones[i]))
			return true;
	return false;
}

/* All zones up to the highest one that is short, so that its neighbours age alike. */
static void balance_zones(struct scan_control *sc)
{
	int last = ZONE_COUNT - 1;

	while (last >= 0 && zone_is_well(&zones[last]))
		last--;
	for (int i = 0; i <= last; i++) {
		struct zone *z = &zones[i];

		if (zone_is_well(z) && i != last)
			continue;
		if (z->all_unreclaimable && sc->priority != RECLAIM_PRIORITY)
			continue;
		sc->wanted = sc->freed + MAX(z->high + 1 - z->free, (uint32_t)RECLAIM_BATCH);
		z->prev_priority = sc->priority;
		shrink_zone(z, sc);
		note_unreclaimable(z);
	}
}

/*
 * One run of kswapd (balance_pgdat, docs/history.md 4.6): from RECLAIM_PRIORITY to priority 1,
 * until every zone is above `high`; each priority looks at all short zones once, gives empty
 * slabs back, and from WAIT_PRIORITY down rests CONGESTION_WAIT_MS while writes are under
 * way. Called by kswapd without locks; sleeps.
 */
void linux26_balance(void)
{
	struct scan_control sc = { .kswapd = true, .flags = GFP_KERNEL };

	for (int priority = RECLAIM_PRIORITY; priority >= 1; priority--) {
		if (!linux26_needs_balance())
			return;
		sc.priority = (uint32_t)priority;
		balance_zones(&sc);
		shrink_slabs(&sc);
		cond_resched();
		if (priority <= WAIT_PRIORITY && swap_writes_pending() > 0 &&
		    linux26_needs_balance())
			block_wait_congestion(CONGESTION_WAIT_MS);
	}
}

const struct reclaim_policy reclaim_linux26 = {
	.name		 = "2.6",
	.set_watermarks	 = linux26_set_watermarks,
	.alloc		 = alloc_26,
	.balance	 = linux26_balance,
	.needs_balance	 = linux26_needs_balance,
	.lru		 = { .around = PLACE_INACTIVE },
	.swap		 = { .cluster = 256, .readahead = 8, .free = SLOTS_50, .search = SEARCH_24,
			     .window = WINDOW_HOLE },
	.oom		 = "2.6",
};

/*
 * reclaim=2.2: after Linux 2.2.0-pre6 of January 1999 (docs/history.md 1.1 to 1.6).
 *
 * There are no lists. A hand goes round the page array and frees pages of the swap cache that
 * nobody maps (clock22.c); another walk goes through the page tables of the largest
 * process and sends to the disk what wasn't used since it last came by (swapout22.c). Whoever
 * allocates and finds less than `min` free does both until the gap up to `high` is closed,
 * alone: kswapd looks once a second and may not write.
 *
 * Where this differs from 2.2.0-pre6:
 *  - an allocation that finds no frame although reclaim claims to have made progress (it counts
 *    pages whose write was only begun) waits for the disk, for ROUNDS_MAX rounds at most, and
 *    then asks the OOM rule; there it failed at once;
 *  - all allocations that may sleep count as the user's (there the kernel's own went on when
 *    reclaim had failed): what the kernel can't do without is told by may_use_reserve();
 *  - blocks of several frames are tried again like single ones;
 *  - there are no files, no buffers and no directory cache to shrink, so that their floors
 *    and turns are missing. Pages of memory objects take the place of SysV shared memory;
 *  - a killed thread stops reclaiming;
 *  - requests are ordered and merged by elevator=, which isn't 2.2's, and a reclaimer plugs the
 *    disk until it waits or has done (there it stayed plugged until anybody waited).
 * What differs in swap-in and in the OOM rule: swap/readahead_22.c, oom/linux22.c.
 */
#include "drivers/block.h"
#include "kernel/counters.h"
#include "kernel/thread.h"
#include "kernel/trace.h"
#include "mm/reclaim/scan/linux22.h"
#include "mm/reclaim/policies.h"
#include "mm/slab.h"

enum {
	RAM_SHIFT = 7,			/* min is one page in 128: of RAM, in pages */
	MIN_LEAST = 10, MIN_MOST = 256,
	FIRST_PRIORITY = 6,
	KSWAPD_MS = 1000,
	KSWAPD_PAGES = 16,
	DISK_WAIT_MS = 100,
	ROUNDS_MAX = 64,
};

/* freepages.min, low and high: of the whole machine, in frames. */
static struct { uint32_t min, low, high; } marks;

/*
 * Set freepages.min, low and high by RAM alone (docs/history.md 1.1): 1, 2 and 3 times a page
 * in 128 of RAM (a rest counts, as the BIOS keeps some), at least 10 and at most 256 pages. 2.2
 * has no zones: each of ours gets a share for whoever shows or sums them, and their sums are
 * the marks. Once at boot; never sleeps.
 */
static void set_watermarks(void)
{
	struct zone *dma = &zones[ZONE_DMA], *normal = &zones[ZONE_NORMAL];
	uint32_t units = (page_count + BIT(RAM_SHIFT) - 1) >> RAM_SHIFT;
	uint32_t min = CLAMP(units, (uint32_t)MIN_LEAST, (uint32_t)MIN_MOST);

	marks.min = min;
	marks.low = 2 * min;
	marks.high = 3 * min;
	normal->min = min * normal->present / frames_total();
	dma->min = min - normal->min;
	for (unsigned i = 0; i < ZONE_COUNT; i++) {
		zones[i].low = 2 * zones[i].min;
		zones[i].high = 3 * zones[i].min;
	}
}

/* ---- Reclaim ---- */

/* Take a step of reclaim again and again, each a page of progress, until sc->wanted are made.
 * False: it makes no more. */
static bool repeat(bool (*step)(struct scan_control *sc), struct scan_control *sc)
{
	while (!current->killed && step(sc)) {
		if (--sc->wanted == 0)
			return true;
		cond_resched();
	}
	return false;
}

/*
 * try_to_free_pages (docs/history.md 1.3): from priority 6 to 0, until sc->wanted pages of
 * progress are made, first by the clock, then by objects, then by processes. Returns false if
 * priority 0 didn't suffice. The caller is marked as freeing memory. No locks held; sleeps.
 */
static bool free_pages(struct scan_control *sc)
{
	bool done = false;

	current->memalloc++;
	(void)slab_shrink();
	block_plug();
	for (int priority = FIRST_PRIORITY; priority >= 0 && !done; priority--) {
		sc->priority = (uint32_t)priority;
		TRACE(DIRECT, frames_free(), priority, 0);
		done = repeat(linux22_clock, sc) || repeat(linux22_objects_out, sc) ||
		       repeat(linux22_swap_out, sc);
		cond_resched();
	}
	block_unplug();
	current->memalloc--;
	return done;
}

/* ---- Allocation ---- */

/* May the running thread take a page without reclaiming? `trashing` is its own: who has once
 * found too little pays until there is more than `low`. */
static bool may_take(void)
{
	uint32_t free = frames_free();

	if (free <= marks.min)
		return false;
	if (current->trashing && free <= marks.low)
		return false;
	current->trashing = false;
	return true;
}

/* The batch of pre6: all that is missing up to `high` at once. */
static bool reclaim_batch(enum gfp flags)
{
	uint32_t free = frames_free();
	struct scan_control sc = { .wanted = marks.high > free ? marks.high - free : 1,
				   .flags = flags };
	ns_t since = direct_reclaim_begin();
	bool done;

	current->trashing = true;
	done = free_pages(&sc);
	direct_reclaim_end(since);
	return done;
}

/* Reclaim, and take what there is then, down to the last frame. Each round ends in a page, in
 * the OOM rule's word, or has waited for the disk; there are ROUNDS_MAX. */
static struct page *alloc_slowly(enum gfp flags, unsigned order)
{
	for (unsigned round = 0; !current->killed && round < ROUNDS_MAX; round++) {
		bool done = reclaim_batch(flags);
		struct page *p = done ? take_above(flags, order, MARK_NONE) : NULL;

		if (p)
			return p;
		if (done)
			block_wait_congestion(DISK_WAIT_MS);
		else if (!oom_then_retry(order))
			break;
	}
	return may_use_reserve(flags) ? take_above(flags, order, MARK_NONE) : NULL;
}

/* page_alloc(): docs/history.md 1.2. */
static struct page *alloc_22(enum gfp flags, unsigned order)
{
	bool waits = (flags & GFP_WAIT) && current->memalloc == 0;
	struct page *p = NULL;

	if (flags & GFP_SPARE)
		return take_above(flags, order, MARK_MIN);
	if (!waits || may_take())
		p = take_above(flags, order, MARK_NONE);
	return p || !waits ? p : alloc_slowly(flags, order);
}

/* ---- kswapd ---- */

/*
 * One look of kswapd (docs/history.md 1.6): if less than `high` is free, 16 pages of progress are
 * tried for, without a write: a dirty page stays. Called by kswapd without locks; sleeps.
 */
static void balance(void)
{
	struct scan_control sc = { .wanted = KSWAPD_PAGES, .kswapd = true };

	if (frames_free() >= marks.high)
		return;
	COUNT(pageoutrun);
	(void)free_pages(&sc);
}

/* The clock alone wakes it. */
static void kswapd_22(void)
{
	(void)kswapd_sleep(KSWAPD_MS);
	balance();
}

const struct reclaim_policy reclaim_linux22 = {
	.name		 = "2.2",
	.set_watermarks	 = set_watermarks,
	.alloc		 = alloc_22,
	.balance	 = balance,
	.kswapd		 = kswapd_22,
	.lru		 = { .fresh = PLACE_NOWHERE, .wanted = PLACE_NOWHERE,
			     .object = PLACE_NOWHERE, .around = PLACE_NOWHERE },
	.swap		 = { .cluster = 32, .readahead = READAHEAD_BY_RAM_22, .readahead_limit = true,
			     .free = SLOTS_WRITE, .search = SEARCH_22, .window = WINDOW_22,
			     .in_flight = LINUX22_IN_FLIGHT, .write_ends_first = true },
	.oom		 = "2.2",
};

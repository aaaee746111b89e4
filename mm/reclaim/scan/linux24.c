/*
 * What the policies reclaim=2.4.13 to 2.4.14, aa and skraw share (docs/history.md 2.1 to 2.6):
 * watermarks, the allocation loop, try_to_free_pages, kswapd. In what they differ stands in
 * struct linux24_kernel; each fills one.
 *
 * Where this differs from 2.4:
 *  - the page that an allocation's own reclaim freed and that 2.4 kept apart for it is taken
 *    from below the watermark: nobody else can have come between;
 *  - a killed task's user memory doesn't come from the reserve (mm/reclaim/alloc.c);
 *  - an order above 0 isn't tried for ever, but ORDER_TRIES times;
 *  - kswapd asks whether it is OOM after each failure, where 2.4.13 asked only while it made progress
 *    without end: there were always files to make a little with, here a machine without swap hung;
 *  - a swapoff that is under way is called off when an allocation got nowhere SWAPOFF_TRIES times.
 */
#include "drivers/block.h"
#include "kernel/counters.h"
#include "kernel/thread.h"
#include "kernel/time.h"
#include "kernel/trace.h"
#include "mm/reclaim/scan/linux24.h"
#include "mm/slab.h"
#include "mm/swap.h"

enum {
	RATIO_DMA = 32, RATIO_NORMAL = 128, MIN_LEAST = 20, MIN_MOST = 255,
	ORDER_TRIES = 64, SWAPOFF_TRIES = 256,
};

static bool need_balance[ZONE_COUNT];

/* The one in force. */
static const struct linux24_kernel *kernel(void)
{
	return reclaim->own;
}

/* ---- Zones ---- */

/* min = size / ratio within bounds, low and high two and three times that. 2.1 */
static void set_watermarks(struct zone *z, uint32_t ratio)
{
	z->min = z->present ? CLAMP(z->present / ratio, (uint32_t)MIN_LEAST, (uint32_t)MIN_MOST) : 0;
	z->low = 2 * z->min;
	z->high = 3 * z->min;
}

/* See linux24.h. Once at boot, no locks; never sleeps. */
void linux24_set_watermarks(void)
{
	set_watermarks(&zones[ZONE_DMA], RATIO_DMA);
	set_watermarks(&zones[ZONE_NORMAL], RATIO_NORMAL);
}

/* The first zone that an allocation would take from. */
static enum zone_kind class_of(enum gfp flags)
{
	return (flags & GFP_DMA) || zones[ZONE_NORMAL].present == 0 ? ZONE_DMA : ZONE_NORMAL;
}

/* Is a zone of the class above its high watermark? Then all of the class is well. */
static bool class_is_well(enum zone_kind class)
{
	for (int i = (int)class; i >= ZONE_DMA; i--)
		if (zones[i].present > 0 && zones[i].free > zones[i].high)
			return true;
	return false;
}

/* ---- try_to_free_pages ---- */

/* Slabs, then the lists: active to inactive so that two thirds are active, then
 * shrink_cache. */
static void shrink_caches(struct linux24_round *r)
{
	const struct zone *z = &zones[ZONE_NORMAL];
	uint32_t wanted = r->wanted, slabs = slab_shrink() + linux24_buffers_shrink();

	r->freed += slabs;
	if (slabs >= wanted) {
		r->wanted = 0;
		return;
	}
	linux24_refill(r->kernel, (uint32_t)((uint64_t)wanted * z->active_count /
					  ((z->inactive_count + 1) * 2)));
	linux24_shrink_cache(r);
}

/*
 * Free SWAP_CLUSTER frames of r->class, from priority 6 to 1. True if that is done, or
 * (2.4.13) if a swap_out on the way unmapped what it should. Sleeps.
 */
static bool try_to_free_pages(struct linux24_round *r)
{
	bool unmapped = false;

	r->kernel = kernel();
	r->wanted = SWAP_CLUSTER;
	block_plug();
	for (r->priority = LINUX24_PRIORITY; r->priority > 0 && r->wanted > 0; r->priority--) {
		if (current->killed)
			break;
		shrink_caches(r);
		if (r->wanted > 0 && r->kernel->swap_each_round)
			unmapped |= linux24_swap_out(r);
	}
	block_unplug();
	return r->wanted == 0 || (unmapped && r->kernel->swap_out_is_success);
}

/* ---- Allocation ---- */

/* A block from a zone that keeps more than its low (or min, or a quarter of min) free. */
static struct page *take(enum zone_kind class, unsigned order, bool low, unsigned min_shift)
{
	for (int i = (int)class; i >= ZONE_DMA; i--) {
		struct zone *z = &zones[i];
		uint32_t mark = low ? z->low : z->min >> min_shift;
		struct page *p = z->present ? zone_take(z, order, mark + 1) : NULL;

		if (p)
			return p;
	}
	return NULL;
}

/* try_to_free_pages by an allocating thread, with the reserve at its disposal. *hopeless: the
 * OOM rule says that nothing will come. Returns frames freed. */
static uint32_t direct_reclaim(enum gfp flags, unsigned order, bool *hopeless)
{
	struct linux24_round r = { .class = class_of(flags), .asker = OOM_ASKS_ALLOC,
				   .no_write = flags & GFP_NOFS };
	ns_t since = direct_reclaim_begin();
	bool done;

	TRACE(DIRECT, frames_free(), LINUX24_PRIORITY, 0);
	done = try_to_free_pages(&r);
	direct_reclaim_end(since);
	if (!done)
		COUNT(reclaim_failed);
	if (!done && kernel()->oom == OOM_BY_EACH_FAILURE)
		*hopeless = oom_kill(OOM_ASKS_ALLOC, order) == OOM_NOBODY;
	return r.freed;
}

/*
 * Steps 6 to 8 of docs/history.md 2.1: reclaim and try again, for ever with a single page: the
 * loop ends with a frame, with the death of the running thread, or if the OOM rule has nobody to
 * kill. Others run in between. With GFP_NOFS there is one round: it could go on without an end, as
 * what is dirty stays so, while the caller's locked pages keep others waiting.
 */
static struct page *alloc_slowly(enum gfp flags, unsigned order)
{
	bool hopeless = false;

	for (unsigned round = 1; !current->killed && !hopeless; round++) {
		uint32_t freed = direct_reclaim(flags, order, &hopeless);
		struct page *p = take(class_of(flags), order, false, 0);

		if (!p && freed > 0 && order == 0)
			p = take_above(flags, 0, MARK_NONE);
		if (p || (flags & GFP_NOFS))
			return p;
		if (order > kernel()->order_for_ever || (order > 0 && round >= ORDER_TRIES))
			return NULL;
		if (freed == 0 && round % SWAPOFF_TRIES == 0)
			(void)swap_off_call_off();
		sched_yield();
	}
	return NULL;
}

/*
 * page_alloc()'s loop, steps as in docs/history.md 2.1: above low (1), or kswapd is woken (2); above
 * min, or a quarter of it for whoever may not sleep, but for guesses (3); anything for those who
 * free memory (4); then alloc_slowly(). NULL: see there, or if the caller may not sleep (5).
 */
struct page *linux24_alloc(enum gfp flags, unsigned order)
{
	enum zone_kind class = class_of(flags);
	struct page *p = take(class, order, true, 0);

	if (p)
		return p;
	need_balance[class] = true;
	kswapd_wake();
	p = take(class, order, false, flags & (GFP_WAIT | GFP_SPARE) ? 0 : 2);
	if (p || (flags & GFP_SPARE))
		return p;
	if (may_use_reserve(flags))
		return take_above(flags, order, MARK_NONE);
	if (flags & GFP_WAIT)
		p = alloc_slowly(flags, order);
	return p || !may_use_reserve(flags) ? p : take_above(flags, order, MARK_NONE);
}

/* ---- kswapd ---- */

static bool needs_balance(void)
{
	return need_balance[ZONE_DMA] || need_balance[ZONE_NORMAL];
}

/* Nothing could be freed: for one second not even an allocation wakes kswapd. */
static void rest(void)
{
	uint32_t irq = irq_save();

	(void)thread_sleep(SLEEP_UNKILLABLE, clock_ns() + NS_PER_SECOND, "memory to free");
	irq_restore(irq);
}

/* One look at each zone, highest first. True if one needs more. */
static bool balance_zones(void)
{
	bool more = false;

	for (int i = ZONE_COUNT - 1; i >= ZONE_DMA; i--) {
		struct linux24_round r = { .class = (enum zone_kind)i, .asker = OOM_ASKS_KSWAPD };

		cond_resched();
		if (!need_balance[i])
			continue;
		if (!try_to_free_pages(&r)) {
			COUNT(reclaim_failed);
			(void)oom_kill(OOM_ASKS_KSWAPD, 0);
			need_balance[i] = false;
			rest();
		} else if (class_is_well(r.class)) {
			need_balance[i] = false;
		} else {
			more = true;
		}
	}
	return more;
}

/* A turn of kswapd: asleep until a zone wants to be balanced, then at work until all are well, or
 * nothing can be freed. */
void linux24_kswapd(void)
{
	if (!needs_balance())
		(void)kswapd_sleep(0);
	COUNT(pageoutrun);
	TRACE(KSWAPD_WAKE, frames_free(), 0, 0);
	while (balance_zones())
		if (kernel()->oom == OOM_BY_KSWAPD_UNBALANCED)
			(void)oom_kill(OOM_ASKS_KSWAPD, 0);
	TRACE(KSWAPD_SLEEP, frames_free(), 0, 0);
}

/*
 * reclaim=2.4.9: Linux 2.4.9, Rik van Riel's VM, and nearly that of 2.4.13-ac4
 * (docs/history.md 3.1). Pages have an age; there is a target of inactive pages, which follows how many
 * pages were wanted lately; clean pages are kept until somebody takes them. Lists and PTEs:
 * linux249_lists.c.
 *
 * The fault that brings a page back keeps its slot until swap counts as full, and then frees it
 * (swap.free=full). It must: where swap is smaller than RAM, all slots would else soon belong
 * to pages that are in memory, and those without a slot fill a zone, which stays short of free
 * and of inactive pages for good: kswapd runs all its rounds for each page that is wanted, past
 * the other zone's pages, which has plenty.
 *
 * Where this differs from 2.4.9:
 *  - kswapd asks whether it is OOM when its rounds failed and moved no page: none got older, inactive
 *    or written, and no write is under way. 2.4.9 asked after each failure. But what swap_out has
 *    unmapped takes three runs to age (5, 2, 1, 0), and if that is most of memory there may be
 *    no slot left by then: where swap is smaller than RAM it killed before the first page was written;
 *  - kswapd, when its rounds got nowhere, rests for writes under way and else lets others run;
 *    there it went on at once; so does an allocating thread, which ends when it is killed;
 *  - a clean page is freed and a frame taken, where 2.4.9 handed over the page itself;
 *  - a page whose write was begun is one that page_launder has looked at; there it met it once more;
 *  - a page of the swap cache that only its slot knows is freed, not written;
 *  - an order above 0 isn't tried for ever, but ORDER_TRIES times; a killed task's user memory
 *    doesn't come from the reserve; a swapoff is called off when SWAPOFF_TRIES got nowhere;
 *  - swap pages have no buffer heads (linux24_buffers.c);
 *  - what linux24_swap_out.c says of PTEs.
 */
#include "mm/reclaim/scan/linux249.h"
#include "drivers/block.h"
#include "kernel/counters.h"
#include "kernel/panic.h"
#include "kernel/thread.h"
#include "kernel/time.h"
#include "kernel/trace.h"
#include "mm/oom.h"
#include "mm/reclaim/scan/linux24.h"
#include "mm/slab.h"
#include "mm/swap/area.h"

enum {
	ROUNDS_MAX = 1 << LINUX249_PRIORITY,
	PRESSURE_SHIFT = 6,		/* a minute's average, nearly */
	TARGET_SHARE = 4,		/* inactive_target is a quarter of RAM at most */
	SPARE = 8,			/* frames above `min` that aren't taken before clean pages */
	KSWAPD_MS = 1000, REST_MS = 20,
	ORDER_TRIES = 64, SWAPOFF_TRIES = 256,
};

static uint32_t memory_pressure;
static bool reclaim_wanted;		/* kreclaimd has to run */
static struct waitq reclaim_waitq = WAITQ_INIT(reclaim_waitq);

/* ---- Shortages ---- */

void linux249_press(void)
{
	memory_pressure++;
}

static uint32_t inactive_target(void)
{
	return MIN(memory_pressure >> PRESSURE_SHIFT, frames_total() / TARGET_SHARE);
}

static uint32_t nearly_free(const struct zone *z)
{
	return z->free + z->clean_count;
}

/* Is a zone below `low`, clean pages counted as free, or are all together below their `high`? */
static bool free_shortage(void)
{
	uint32_t sum = 0, high = 0;

	for (unsigned i = 0; i < ZONE_COUNT; i++) {
		if (nearly_free(&zones[i]) < zones[i].low)
			return true;
		sum += nearly_free(&zones[i]);
		high += zones[i].high;
	}
	return sum < high;
}

/* The same with the inactive pages: below `high`, or all together below that and the target. */
static bool inactive_shortage(void)
{
	uint32_t sum = 0, high = 0;

	for (unsigned i = 0; i < ZONE_COUNT; i++) {
		uint32_t inactive = zones[i].inactive_here + nearly_free(&zones[i]);

		if (inactive < zones[i].high)
			return true;
		sum += inactive;
		high += zones[i].high;
	}
	return sum < high + inactive_target();
}

/*
 * do_try_to_free_pages: up to 64 rounds, each over a 64th of the lists, while there is a shortage.
 * False: at the end both kinds of pages are short still. No spinlock held; sleeps for bios.
 */
static bool free_pages(struct linux249_round *r)
{
	bool few_inactive = false, few_free = false;

	linux249_refill(r);
	for (unsigned round = 0; round < ROUNDS_MAX && !current->killed; round++) {
		if (few_inactive) {
			linux249_swap_out();
			linux249_refill(r);
		}
		if (few_free)
			linux249_launder(r);
		if (few_inactive || few_free)
			(void)slab_shrink();
		cond_resched();
		few_inactive = inactive_shortage();
		few_free = free_shortage();
		if (!few_inactive && !few_free)
			break;
	}
	return !few_inactive || !few_free;
}

/* ---- Allocation ---- */

static void wake_kreclaimd(void)
{
	uint32_t irq;

	if (reclaim_wanted)
		return;
	irq = irq_save();
	reclaim_wanted = true;
	waitq_wake_one(&reclaim_waitq);
	irq_restore(irq);
}

static int first_zone(enum gfp flags)
{
	return flags & GFP_DMA ? ZONE_DMA : ZONE_NORMAL;
}

/* A block of a zone that has its `low` free. Where not even `min` is, kreclaimd is woken. */
static struct page *take_free(enum gfp flags, unsigned order)
{
	for (int i = first_zone(flags); i >= ZONE_DMA; i--) {
		struct zone *z = &zones[i];
		struct page *p = z->free >= z->low ? frame_take(z, order) : NULL;

		if (p)
			return p;
		if (z->free < z->min)
			wake_kreclaimd();
	}
	return NULL;
}

enum limit { LIMIT_MIN = 1, LIMIT_LOW, LIMIT_HIGH };	/* times min */

/* The same for a zone whose free and clean frames reach the limit; where few are really free a clean
 * one is freed first, for a caller who may sleep (it costs nothing, but interrupts may come for
 * what is free). */
static struct page *take_limit(enum gfp flags, unsigned order, enum limit limit)
{
	for (int i = first_zone(flags); i >= ZONE_DMA; i--) {
		struct zone *z = &zones[i];
		struct page *p;

		if (z->present == 0 || nearly_free(z) < (unsigned)limit * z->min)
			continue;
		if (order == 0 && (flags & GFP_WAIT) && z->free < z->min + SPARE)
			(void)linux249_reclaim_page(z, false);
		p = frame_take(z, order);
		if (p)
			return p;
	}
	return NULL;
}

/* All that an allocation tries before it reclaims. */
static struct page *take(enum gfp flags, unsigned order)
{
	struct page *p = take_free(flags, order);

	if (!p)
		p = take_limit(flags, order, LIMIT_HIGH);
	if (!p)
		p = take_limit(flags, order, LIMIT_LOW);
	if (p)
		return p;
	kswapd_wake();
	if ((flags & GFP_WAIT) && !may_use_reserve(flags))
		sched_yield();
	return take_limit(flags, order, LIMIT_MIN);
}

/* Help once. False: it was in vain, nothing even came nearer to its end. */
static bool direct_reclaim(void)
{
	struct linux249_round r = { .kswapd = false };
	ns_t since = direct_reclaim_begin();
	bool done;

	TRACE(DIRECT, frames_free(), LINUX249_PRIORITY, 0);
	linux249_press();
	done = free_pages(&r);
	direct_reclaim_end(since);
	if (!done)
		COUNT(reclaim_failed);
	return done || r.moved;
}

/* What was begun takes its time: the disk's, if it is at work, or that of others. */
static void rest(void)
{
	if (swap_writes_pending() > 0)
		block_wait_congestion(REST_MS);
	else
		sched_yield();
}

/* Help, and try again: for ever with a single page. It ends with a frame, with the death of the
 * running thread, or if the OOM rule in force hears allocations and has nobody to kill. */
static struct page *alloc_slowly(enum gfp flags, unsigned order)
{
	for (unsigned round = 1; !current->killed; round++) {
		bool done = direct_reclaim();
		struct page *p = take(flags, order);

		if (p)
			return p;
		if (order > 0 && round >= ORDER_TRIES)
			return NULL;
		if (!done && round % SWAPOFF_TRIES == 0)
			(void)swap_off_call_off();
		if (!done && !oom_then_retry(order))
			return NULL;
		rest();
	}
	return NULL;
}

/* The last quarter of `min` is for those who free memory. */
static struct page *take_reserve(enum gfp flags, unsigned order)
{
	for (int i = first_zone(flags); i >= ZONE_DMA; i--) {
		struct zone *z = &zones[i];
		struct page *p = z->free >= z->min / 4 || may_use_reserve(flags) ?
				 frame_take(z, order) : NULL;

		if (p)
			return p;
	}
	return NULL;
}

static struct page *find(enum gfp flags, unsigned order)
{
	struct page *p;

	if (flags & GFP_SPARE)
		return take_free(flags, order);
	p = take(flags, order);
	if (!p && (flags & GFP_WAIT) && !may_use_reserve(flags))
		p = alloc_slowly(flags, order);
	if (p || (flags & GFP_WAIT && !may_use_reserve(flags)))
		return p;
	return take_reserve(flags, order);
}

/* page_alloc()'s loop: free >= low; free and clean >= high, >= low; kswapd is woken and others run;
 * >= min; then the caller helps. Its page is as old as a new one. */
static struct page *linux249_alloc(enum gfp flags, unsigned order)
{
	struct page *p;

	linux249_press();
	p = find(flags, order);
	if (p && order == 0)
		page_set_age(p, AGE_START);
	return p;
}

/* ---- kreclaimd ---- */

/* From the clean lists to the free ones, where less than `low` is free. */
static void fill_up(void)
{
	for (unsigned i = 0; i < ZONE_COUNT; i++)
		while (zones[i].free < zones[i].low && linux249_reclaim_page(&zones[i], true))
			cond_resched();
}

static NORETURN void kreclaimd(void *arg)
{
	(void)arg;
	current->memalloc = 1;
	for (;;) {
		(void)wait_event(&reclaim_waitq, reclaim_wanted, SLEEP_UNKILLABLE, 0, "few free");
		reclaim_wanted = false;
		fill_up();
	}
}

/* ---- kswapd ---- */

/* Once a second the pressure loses a 64th. */
static void decay(void)
{
	static ns_t last;

	if (clock_ns() < last + NS_PER_SECOND)
		return;
	last = clock_ns();
	memory_pressure -= memory_pressure >> PRESSURE_SHIFT;
}

/* A turn of kswapd: at work until no more than one of the two is short, and then asleep until it is
 * woken, for a second at most. */
static void linux249_kswapd(void)
{
	static bool started;
	struct linux249_round r = { .kswapd = true };

	if (!started && !thread_create(NULL, "kreclaimd", kreclaimd, NULL, PRIO_USER))
		panic("kreclaimd can't be started: no memory for a thread");
	started = true;
	decay();
	COUNT(pageoutrun);
	TRACE(KSWAPD_WAKE, frames_free(), 0, 0);
	if (free_pages(&r)) {
		TRACE(KSWAPD_SLEEP, frames_free(), 0, 0);
		(void)kswapd_sleep(KSWAPD_MS);
		return;
	}
	COUNT(reclaim_failed);
	if (!r.moved && swap_writes_pending() == 0)
		(void)oom_kill(OOM_ASKS_KSWAPD, 0);
	rest();
}

const struct reclaim_policy reclaim_linux249 = {
	.name		= "2.4.9",
	.set_watermarks = linux24_set_watermarks,
	.alloc		= linux249_alloc,
	.kswapd		= linux249_kswapd,
	.lru		= { .fresh = PLACE_NOWHERE, .wanted = PLACE_ACTIVE, .object = PLACE_ACTIVE,
			    .around = PLACE_ACTIVE, .global = true },
	.swap		= { LINUX24_SWAP, .free = SLOTS_FULL },
	.oom		= "2.4.9",
};

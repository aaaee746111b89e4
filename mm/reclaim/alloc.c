/*
 * What the allocation loops of all policies are made of: taking above a watermark, who
 * may go below, and what to do when reclaim has found nothing.
 *
 * The reserve below `min` is for those who free memory by using a little: kswapd,
 * allocating threads inside reclaim and tasks that are torn down (thread.memalloc), and
 * what the kernel needs so that a killed thread gets that far. What the thread itself
 * wanted, pages of a copy for instance, isn't worth it: a killed task's read of a large
 * file would eat all of it.
 */
#include "kernel/thread.h"
#include "mm/oom.h"
#include "mm/reclaim/policies.h"

enum { OOM_WAIT_MS = 20 };

static uint32_t mark_of(const struct zone *z, enum mark mark)
{
	if (mark == MARK_LOW)
		return z->low;
	if (mark == MARK_MIN)
		return z->min;
	return mark == MARK_HALF ? z->min / 2 : 0;
}

struct page *take_above(enum gfp flags, unsigned order, enum mark mark)
{
	for (int i = flags & GFP_DMA ? ZONE_DMA : ZONE_NORMAL; i >= ZONE_DMA; i--) {
		struct zone *z = &zones[i];
		struct page *p = zone_take(z, order, mark_of(z, mark));

		if (p)
			return p;
	}
	return NULL;
}

bool may_use_reserve(enum gfp flags)
{
	return current->memalloc > 0 || (current->killed && (flags & GFP_NOFAIL_SMALL));
}

/* A zone was given up when nothing in it could be freed. Slots may have become free since
 * then (munmap, swapon), and before anybody is killed all of it is looked at once more. */
static void no_zone_is_given_up(void)
{
	for (unsigned i = 0; i < ZONE_COUNT; i++) {
		zones[i].scanned_since_freed = 0;
		zones[i].all_unreclaimable = false;
	}
}

ns_t direct_reclaim_begin(void)
{
	COUNT(allocstall);
	current->memalloc++;
	return thread_time_ns(current, CPU_SYSTEM);
}

void direct_reclaim_end(ns_t since)
{
	current->memalloc--;
	COUNT_ADD(direct_reclaim_ns, thread_time_ns(current, CPU_SYSTEM) - since);
}

/* Sleep a little so that a dying task, or the disk, can give memory back. Killable. */
void wait_for_memory(void)
{
	uint32_t irq = irq_save();

	(void)thread_sleep(SLEEP_KILLABLE, clock_ns() + OOM_WAIT_MS * NS_PER_MS, "memory");
	irq_restore(irq);
	no_zone_is_given_up();
}

bool oom_then_retry(unsigned order)
{
	if (oom_kill(OOM_ASKS_ALLOC, order) != OOM_RETRY)
		return false;
	wait_for_memory();
	return true;
}

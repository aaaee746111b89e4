/*
 * What the allocation loops of all policies are made of: taking above a watermark, who
 * may go below, and what to do when reclaim has found nothing.
 *
 * The reserve below `min` is for those who free memory by using a little: kswapd,
 * allocating threads inside reclaim (thread.memalloc), and the OOM killer's victim on
 * its way out.
 */
#include "kernel/task.h"
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

bool may_use_reserve(void)
{
	if (!current)
		return true;
	return current->memalloc > 0 || (current->task && (current->task->flags & TASK_OOM));
}

/* Sleep a little so that a dying task, or the disk, can give memory back. */
static void wait_for_memory(void)
{
	uint32_t irq = irq_save();

	(void)thread_sleep(SLEEP_KILLABLE, clock_ns() + OOM_WAIT_MS * NS_PER_MS, "memory");
	irq_restore(irq);
}

bool oom_then_retry(unsigned order)
{
	if (oom_kill(order) != OOM_RETRY)
		return false;
	wait_for_memory();
	return true;
}

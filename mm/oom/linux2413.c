/*
 * oom=2.4.13: up to 2.4.14-pre5, docs/history.md 7.2. Only kswapd asks, after a run that left
 * a zone short, and no time need have passed: it is OOM at once if no zone has more than `low`
 * free, no slot is free, and the page cache is small. The swap cache belongs to that, so with
 * many pages cached that are in swap too nobody is ever killed.
 *
 * The page cache here is the swap cache and the pages of memory objects: there are no files yet
 * (boot modules are neither).
 */
#include "mm/frame.h"
#include "mm/object.h"
#include "mm/oom/rules.h"
#include "mm/swap.h"

enum { CACHE_PERCENT = 2 };

/* Kernels up to 2.4.13 cut off RAM's part of a hundred first. */
bool cache_exceeds(uint32_t count, uint32_t percent)
{
	return count > frames_total() / 100 * percent;
}

static bool any_zone_above_low(void)
{
	for (unsigned i = 0; i < ZONE_COUNT; i++)
		if (zones[i].free > zones[i].low)
			return true;
	return false;
}

static bool linux2413_is_oom(unsigned order)
{
	(void)order;
	return !any_zone_above_low() && swap_slots_free() == 0 &&
	       !cache_exceeds(swap_cached_pages() + objects_memory_frames(), CACHE_PERCENT);
}

const struct oom_rule oom_linux2413 = {
	.name	 = "2.4.13",
	.askers	 = OOM_ASKS_KSWAPD,
	.is_oom	 = linux2413_is_oom,
	.badness = linux24_badness,
	.message = LINUX24_MESSAGE,
};

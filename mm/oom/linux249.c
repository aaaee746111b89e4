/*
 * oom=2.4.9: docs/history.md 7.2. Only kswapd asks, when all its rounds left the machine short of
 * free and of inactive pages. It is OOM if no more than `min` is free, no more than `low` with the
 * clean pages, the cache without the swap cache is small, and no slot is free.
 *
 * The cache, without the swap cache, is the pages of memory objects: there are no files yet.
 */
#include "mm/frame.h"
#include "mm/object.h"
#include "mm/oom/rules.h"
#include "mm/swap.h"

enum { CACHE_PERCENT = 2 + 2 };		/* of page cache and of buffers */

static bool linux249_is_oom(unsigned order)
{
	uint32_t free = 0, clean = 0, min = 0, low = 0;

	(void)order;
	for (unsigned i = 0; i < ZONE_COUNT; i++) {
		free += zones[i].free;
		clean += zones[i].clean_count;
		min += zones[i].min;
		low += zones[i].low;
	}
	return free <= min && free + clean <= low && swap_slots_free() == 0 &&
	       !cache_exceeds(objects_memory_frames(), CACHE_PERCENT);
}

const struct oom_rule oom_linux249 = {
	.name	 = "2.4.9",
	.askers	 = OOM_ASKS_KSWAPD,
	.is_oom	 = linux249_is_oom,
	.badness = linux24_badness,
	.message = LINUX24_MESSAGE,
};

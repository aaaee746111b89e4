/*
 * swap.steal=1: when no slot is free, take the slot of a page that is in memory.
 *
 * A page that was read back keeps its slot, in case it goes out again unchanged. When
 * slots run out that is a luxury: each such page holds a frame and a slot. Stealing
 * makes frames and slots add up to the last one; Linux kills there (docs/performance.md,
 * "Sorting beyond memory").
 *
 * Only a slot whose sole holder is the cache can be taken: then every user of the page
 * has it mapped, and no PTE has to change. A hand goes round each area's slots.
 */
#include "kernel/counters.h"
#include "kernel/panic.h"
#include "kernel/trace.h"
#include "mm/swap/area.h"

enum { STEAL_SEARCH_MAX = 8192 };	/* slots looked at in one call and area */

uint32_t swap_slots_stealable(void)
{
	uint32_t sum = 0;

	for (unsigned i = 0; swap_rules.steal && i < SWAP_AREAS_MAX; i++)
		if (swap_area_takes(&swap_areas[i]))
			sum += swap_areas[i].cache_only;
	return sum;
}

/*
 * The next page of `a` after the hand that only the cache ties to its slot; locked, with
 * a reference. NULL: none in reach. swap_lock held.
 */
static struct page *find_victim(struct swap_area *a)
{
	unsigned looks = MIN(a->size, (uint32_t)STEAL_SEARCH_MAX);

	while (a->cache_only > 0 && looks-- > 0) {
		uint32_t slot = a->steal_hand;
		struct page *p = slot_page(a, slot);

		a->steal_hand = slot + 1 < a->size ? slot + 1 : 0;
		if (!p || slot_count(a, slot) != 1 || page_is(p, PG_WRITEBACK | PG_ERROR))
			continue;
		if (!page_trylock(p))
			continue;
		page_hold(p);
		return p;
	}
	return NULL;
}

/*
 * Take the slot of a page that is in memory, if swap.steal=1, from the first area that has
 * one in reach; the page goes on as one that was never written (or is freed, if nobody maps
 * it). *e is the slot, count 1, no page. Returns false if there is no such page. Takes swap_lock
 * and tries page locks; never sleeps.
 */
bool swap_steal_slot(swap_entry *e)
{
	for (unsigned i = 0; swap_rules.steal && i < SWAP_AREAS_MAX; i++) {
		struct swap_area *a = &swap_areas[i];
		struct page *p = NULL;
		uint32_t slot = 0;
		bool taken;

		spin_lock(&swap_lock);
		if (swap_area_takes(a))
			p = find_victim(a);
		spin_unlock(&swap_lock);
		if (!p)
			continue;
		swap_cache_delete(p);
		spin_lock(&swap_lock);
		taken = slots_take(a, &slot);
		spin_unlock(&swap_lock);
		KASSERT2(taken, "swap.2", a->free, a->used);
		*e = swap_entry_make(i, slot);
		COUNT(swap_steal);
		TRACE(SWAP_STEAL, e->v, page_pfn(p), 0);
		page_unlock(p);
		page_drop(p);
		return true;
	}
	return false;
}

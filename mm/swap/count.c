/*
 * Slots by entry: taking one from the best area, counting its holders, giving it back.
 * The maps themselves are in slots.c.
 *
 * Locks: swap_lock inside each function; callers may hold a page_table_lock.
 */
#include "kernel/abi/errno.h"
#include "kernel/panic.h"
#include "kernel/trace.h"
#include "mm/swap/area.h"

struct spinlock swap_lock = SPINLOCK_INIT(RANK_SWAP);

/* May the area give slots to new pages? */
bool swap_area_takes(const struct swap_area *a)
{
	return a->state == AREA_ON && a->header != HEADER_FOREIGN &&
	       a->failed_writes < FAILED_WRITES_MAX;
}

bool swap_area_leaves(swap_entry e)
{
	return swap_entry_to_area(e)->state == AREA_LEAVING;
}

struct swap_area *swap_entry_in_use(swap_entry e)
{
	unsigned n = swap_entry_area(e);
	uint32_t slot = swap_entry_slot(e);
	struct swap_area *a = n < SWAP_AREAS_MAX ? &swap_areas[n] : NULL;

	if (!a || a->state == AREA_OFF || slot >= a->size)
		return NULL;
	if (slot_count(a, slot) == 0 || slot_count(a, slot) == SLOT_BAD)
		return NULL;
	return a;
}

/* The area that gives the next slot: highest priority, and among equals the one whose
 * turn is longest ago. NULL: all are full. */
static struct swap_area *choose_area(void)
{
	struct swap_area *best = NULL;

	for (unsigned i = 0; i < SWAP_AREAS_MAX; i++) {
		struct swap_area *a = &swap_areas[i];

		if (a->free == 0 || !swap_area_takes(a))
			continue;
		if (!best || a->priority > best->priority ||
		    (a->priority == best->priority && a->turn < best->turn))
			best = a;
	}
	return best;
}

static bool take_free_slot(swap_entry *e)
{
	static uint64_t turns;
	struct swap_area *a;
	uint32_t slot;
	bool found;

	spin_lock(&swap_lock);
	a = choose_area();
	found = a && slots_take(a, &slot);
	if (found) {
		a->turn = ++turns;
		*e = swap_entry_make(swap_area_number(a), slot);
	}
	spin_unlock(&swap_lock);
	return found;
}

/*
 * Take a slot, count 1, for the swap cache: a free one, else (swap.steal=1) that of a
 * page which is in memory. False: there is none. Never sleeps.
 */
bool swap_slot_alloc(swap_entry *e)
{
	return take_free_slot(e) || swap_steal_slot(e);
}

bool swap_slot_to_be_had(void)
{
	return swap_slots_free() > 0 || swap_slots_stealable() > 0;
}

/*
 * One holder more for the slot of `e`. Returns 0; -EINVAL if that is no slot in use; -EAGAIN if
 * the count is at its limit, SLOT_COUNT_MAX. The last count is kept for the cache: without
 * it the page of a slot with so many PTEs could never be read back. Takes swap_lock; never
 * sleeps.
 */
int swap_dup(swap_entry e)
{
	struct swap_area *a;
	uint32_t slot = swap_entry_slot(e);
	int result = -EINVAL;

	spin_lock(&swap_lock);
	a = swap_entry_in_use(e);
	if (a && slot_count(a, slot) + !slot_page(a, slot) >= SLOT_COUNT_MAX)
		result = -EAGAIN;
	else if (a) {
		slot_set(a, slot, (uint16_t)(slot_count(a, slot) + 1), slot_page(a, slot));
		result = 0;
	}
	spin_unlock(&swap_lock);
	return result;
}

/* The last PTE or object entry that named the slot is gone, and nobody maps its page: free both, unless
 * somebody has the page locked; then reclaim will find it. */
static void forget_page(struct page *p)
{
	if (p->mapcount == 0 && page_trylock(p)) {
		swap_cache_try_free(p);
		page_unlock(p);
	}
	page_drop(p);
}

/*
 * One PTE (or object entry) less names the slot of `e`, which is in use (else a fault, pt.2);
 * the last one frees it. A page that only the cache still holds goes at once if it isn't
 * busy. Takes swap_lock, no page lock held by the caller; never sleeps.
 */
void swap_free(swap_entry e)
{
	uint32_t slot = swap_entry_slot(e);
	struct page *left_alone = NULL;
	struct swap_area *a;
	uint16_t count;

	spin_lock(&swap_lock);
	a = swap_entry_in_use(e);
	KASSERT2(a, "pt.2", e.v, slot);
	count = (uint16_t)(slot_count(a, slot) - 1);
	KASSERT2(count > 0 || !slot_page(a, slot), "swap.3", e.v, count);
	slot_set(a, slot, count, slot_page(a, slot));
	if (count == 1 && slot_page(a, slot)) {
		left_alone = slot_page(a, slot);
		page_hold(left_alone);
	}
	spin_unlock(&swap_lock);
	if (left_alone)
		forget_page(left_alone);
}

/* Holders of the slot; 0 if it is free or no slot at all. */
unsigned swap_count(swap_entry e)
{
	struct swap_area *a;
	unsigned count;

	spin_lock(&swap_lock);
	a = swap_entry_in_use(e);
	count = a ? slot_count(a, swap_entry_slot(e)) : 0;
	spin_unlock(&swap_lock);
	return count;
}

/* Slots that new pages can have without stealing. */
uint32_t swap_slots_free(void)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < SWAP_AREAS_MAX; i++)
		if (swap_area_takes(&swap_areas[i]))
			sum += swap_areas[i].free;
	return sum;
}

/* Slots that could hold a page: neither header nor bad. */
uint32_t swap_slots_total(void)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < SWAP_AREAS_MAX; i++)
		if (swap_areas[i].state != AREA_OFF)
			sum += swap_areas[i].size - swap_areas[i].bad;
	return sum;
}

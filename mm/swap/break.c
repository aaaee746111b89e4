/* Breaking swap.1 to swap.5 (kernel/breakage.h). */
#include "kernel/breakage.h"
#include "mm/swap/area.h"

static struct swap_area *first_area(void)
{
	for (unsigned i = 0; i < SWAP_AREAS_MAX; i++)
		if (swap_areas[i].state != AREA_OFF)
			return &swap_areas[i];
	return NULL;
}

/* The first area in use with a slot in use, and that slot. */
static struct swap_area *find_used_slot(uint32_t *slot, bool cached)
{
	for (unsigned i = 0; i < SWAP_AREAS_MAX; i++) {
		struct swap_area *a = &swap_areas[i];

		for (*slot = 1; a->state != AREA_OFF && *slot < a->size; (*slot)++)
			if (slot_count(a, *slot) != 0 && slot_count(a, *slot) != SLOT_BAD &&
			    (!cached || slot_page(a, *slot)))
				return a;
	}
	return NULL;
}

static bool break_header_slot(void)
{
	struct swap_area *a = first_area();

	if (a)
		a->counts[0][0] = 0;
	return a;
}

static bool break_slot_sum(void)
{
	struct swap_area *a = first_area();

	if (a)
		a->free++;
	return a;
}

static bool break_slot_count(void)
{
	uint32_t slot;
	struct swap_area *a = find_used_slot(&slot, false);

	if (a)
		a->counts[slot / COUNTS_PER_FRAME][slot % COUNTS_PER_FRAME]++;
	return a;
}

static bool break_cache(void)
{
	uint32_t slot;
	struct swap_area *a = find_used_slot(&slot, true);

	if (a)
		a->cache[slot / CACHE_PER_FRAME][slot % CACHE_PER_FRAME] = NULL;
	return a;
}

/* The partition ends before the area does. */
static bool break_partition(void)
{
	struct swap_area *a = first_area();

	if (a)
		a->dev->sectors = SECTORS_PER_PAGE;
	return a;
}

const struct breakage break_swap[] = {
	{ "swap.1", "made the header's slot a free one",	break_header_slot },
	{ "swap.2", "raised an area's sum of free slots",	break_slot_sum },
	{ "swap.3", "raised a slot's count",			break_slot_count },
	{ "swap.4", "dropped a page's place in the swap cache",	break_cache },
	{ "swap.5", "made a partition shorter than its area",	break_partition },
	{ NULL, NULL, NULL }
};

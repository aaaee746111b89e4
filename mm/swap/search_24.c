/*
 * swap.search=2.4: as Linux 2.4 and 2.6 did (docs/history.md 1.7, 2.7). Up to swap.cluster slots
 * one behind the other; then the first place with so many free slots in a row, aligned or
 * not; and if there is none, the lowest free slot.
 */
#include "mm/swap/area.h"

/* The first of swap.cluster free slots in a row; a->size: there are no such. */
static uint32_t free_stretch(const struct swap_area *a)
{
	uint32_t start = slots_first_free(a, 0), end = start;

	while (end < a->size) {
		if (end - start == swap_rules.cluster)
			return start;
		if (slot_count(a, end) == 0)
			end++;
		else
			start = end = slots_first_free(a, end);
	}
	return end - start == swap_rules.cluster ? start : a->size;
}

/*
 * The next free slot of `a`, which has one: the first from where the cluster stands, while it
 * lasts; else where a new cluster fits; else the lowest. swap_lock held; never sleeps.
 */
uint32_t slots_search_24(struct swap_area *a)
{
	uint32_t found = a->size;

	if (a->cluster_left > 0) {
		a->cluster_left--;
		found = slots_first_free(a, a->next);
	}
	if (found == a->size) {
		a->cluster_left = swap_rules.cluster - 1;
		found = free_stretch(a);
	}
	if (found == a->size)
		found = slots_first_free(a, 0);
	a->next = found + 1;
	return found;
}

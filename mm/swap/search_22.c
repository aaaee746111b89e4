/*
 * swap.search=2.2: as Linux 2.2 did (docs/history.md 1.7). Up to swap.cluster slots one behind
 * the other, holes passed over; then anew at the lowest free slot of the area, however
 * small the hole is that it lies in.
 */
#include "mm/swap/area.h"

/*
 * The next free slot of `a`, which has one: the first from where the cluster stands, while it
 * lasts; else the lowest, where a new cluster begins. swap_lock held; never sleeps.
 */
uint32_t slots_search_22(struct swap_area *a)
{
	uint32_t found = a->size;

	if (a->cluster_left > 0) {
		a->cluster_left--;
		found = slots_first_free(a, a->next);
	}
	if (found == a->size) {
		a->cluster_left = swap_rules.cluster;
		found = slots_first_free(a, 0);
	}
	a->next = found + 1;
	return found;
}

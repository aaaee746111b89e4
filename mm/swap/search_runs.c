/*
 * swap.search=runs: slots are handed out in aligned runs of swap.cluster. Go on in the
 * current run while it has a free slot; else take the first run that is wholly free; else
 * the first one with a free slot. Pages that leave together thus lie together, and one
 * seek brings several back. A count of free slots per run keeps the search short: a run is
 * searched only when it has one. (2.4 and 2.6 did nearly this: docs/history.md 1.7.)
 */
#include "kernel/panic.h"
#include "mm/swap/area.h"

/* The first free slot of run `r` at or after `from`; a->size: none. */
static uint32_t search_run(const struct swap_area *a, uint32_t r, uint32_t from)
{
	uint32_t end = MIN((r + 1) * swap_rules.cluster, a->size);

	if (a->runs[r].free == 0)
		return a->size;
	while (from < end && slot_count(a, from) != 0)
		from++;
	return from < end ? from : a->size;
}

/* The first run that is wholly free, else the first with a free slot. There is one. */
static uint32_t choose_run(const struct swap_area *a)
{
	uint32_t partial = a->run_count;

	for (uint32_t r = 0; r < a->run_count; r++) {
		if (a->runs[r].free == 0)
			continue;
		if (a->runs[r].free == a->runs[r].usable)
			return r;
		if (partial == a->run_count)
			partial = r;
	}
	KASSERT2(partial < a->run_count, "swap.2", a->free, a->used);
	return partial;
}

/*
 * The next free slot of `a`, which has one: behind the last one given if that run still has
 * one, else in the first run that is wholly free, else in the first with a free slot. At the
 * end of a run the search starts anew, not in whatever run lies behind it. swap_lock held;
 * never sleeps.
 */
uint32_t slots_search_runs(struct swap_area *a)
{
	uint32_t found = a->size;

	if (a->next < a->size)
		found = search_run(a, a->next / swap_rules.cluster, a->next);
	if (found == a->size) {
		uint32_t r = choose_run(a);

		found = search_run(a, r, r * swap_rules.cluster);
	}
	KASSERT2(found < a->size, "swap.2", found, a->free);
	a->next = (found + 1) % swap_rules.cluster ? found + 1 : a->size;
	return found;
}

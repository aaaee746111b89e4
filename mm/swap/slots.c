/*
 * The slot map of an area: who holds each slot. Which free one is next is for a search
 * (swap.search=, search_*.c) to say. Free slots are counted by aligned runs of
 * swap.cluster, so that a search can pass over full ones.
 *
 * Locks: swap_lock for all but creating and destroying.
 */
#include "kernel/abi/errno.h"
#include "kernel/panic.h"
#include "kernel/string.h"
#include "kernel/trace.h"
#include "mm/slab.h"
#include "mm/swap/area.h"

static struct slot_run *run_of(struct swap_area *a, uint32_t slot)
{
	return &a->runs[slot / swap_rules.cluster];
}

/* A directory of `frames` zeroed frames. NULL without memory; then nothing is kept. */
static void **directory_create(uint32_t frames)
{
	void **dir = kmalloc(frames * sizeof(*dir), GFP_KERNEL);

	for (uint32_t i = 0; dir && i < frames; i++) {
		struct page *p = page_alloc(GFP_KERNEL | GFP_ZERO, 0);

		if (!p) {
			while (i-- > 0)
				page_free(address_page(dir[i]), 0);
			kfree(dir);
			return NULL;
		}
		dir[i] = page_address(p);
	}
	return dir;
}

static void directory_destroy(void **dir, uint32_t frames)
{
	for (uint32_t i = 0; dir && i < frames; i++)
		page_free(address_page(dir[i]), 0);
	kfree(dir);
}

static uint32_t counts_frames(uint32_t size)
{
	return (size + COUNTS_PER_FRAME - 1) / COUNTS_PER_FRAME;
}

static uint32_t cache_frames(uint32_t size)
{
	return (size + CACHE_PER_FRAME - 1) / CACHE_PER_FRAME;
}

void slots_destroy(struct swap_area *a)
{
	directory_destroy((void **)a->counts, counts_frames(a->size));
	directory_destroy((void **)a->cache, cache_frames(a->size));
	kfree(a->runs);
	a->counts = NULL;
	a->cache = NULL;
	a->runs = NULL;
}

/*
 * Make the map of an area of `size` slots, all free but slot 0, the header. The area is
 * not in service yet. -ENOMEM leaves it without a map. Sleeps.
 */
int slots_create(struct swap_area *a, uint32_t size)
{
	a->size = size;
	a->run_count = (size + swap_rules.cluster - 1) / swap_rules.cluster;
	a->counts = (uint16_t **)directory_create(counts_frames(size));
	a->cache = (struct page ***)directory_create(cache_frames(size));
	a->runs = kmalloc(a->run_count * sizeof(*a->runs), GFP_KERNEL);
	if (!a->counts || !a->cache || !a->runs) {
		slots_destroy(a);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < a->run_count; i++) {
		uint32_t width = MIN(swap_rules.cluster, size - i * swap_rules.cluster);

		a->runs[i] = (struct slot_run){ .free = (uint16_t)width,
						.usable = (uint16_t)width };
	}
	a->free = size;
	a->used = a->bad = a->cache_only = 0;
	a->next = a->cluster_left = a->steal_hand = 0;
	slots_mark_bad(a, 0);
	return 0;
}

void slot_set(struct swap_area *a, uint32_t slot, uint16_t count, struct page *p)
{
	uint16_t *place = &a->counts[slot / COUNTS_PER_FRAME][slot % COUNTS_PER_FRAME];
	struct page **cached = &a->cache[slot / CACHE_PER_FRAME][slot % CACHE_PER_FRAME];
	uint16_t before = *place;

	KASSERT2(before != SLOT_BAD, "swap.1", slot, before);
	a->cache_only -= (before == 1 && *cached);
	a->cache_only += (count == 1 && p);
	*place = count;
	*cached = p;
	if ((before == 0) == (count == 0))
		return;
	if (count == 0) {
		run_of(a, slot)->free++;
		a->free++;
		a->used--;
		TRACE(SWAP_FREE, swap_entry_make(swap_area_number(a), slot).v, 0, 0);
	} else {
		run_of(a, slot)->free--;
		a->free--;
		a->used++;
	}
}

void slots_mark_bad(struct swap_area *a, uint32_t slot)
{
	uint16_t *place = &a->counts[slot / COUNTS_PER_FRAME][slot % COUNTS_PER_FRAME];

	if (*place == SLOT_BAD)
		return;
	KASSERT2(*place == 0, "swap.1", slot, *place);
	*place = SLOT_BAD;
	run_of(a, slot)->free--;
	run_of(a, slot)->usable--;
	a->free--;
	a->bad++;
}

/* The first free slot from `from` up; a->size: none. Full runs are passed over. */
uint32_t slots_first_free(const struct swap_area *a, uint32_t from)
{
	while (from < a->size && slot_count(a, from) != 0) {
		uint32_t run = from / swap_rules.cluster;

		from = a->runs[run].free ? from + 1 : (run + 1) * swap_rules.cluster;
	}
	return MIN(from, a->size);
}

/* The search in force. */
static uint32_t search(struct swap_area *a)
{
	if (swap_rules.search == SEARCH_22)
		return slots_search_22(a);
	return swap_rules.search == SEARCH_24 ? slots_search_24(a) : slots_search_runs(a);
}

/*
 * Take a free slot of `a`: the one that the search in force finds. It then counts 1 and has no
 * page. Returns false if none is free. swap_lock held; never sleeps.
 */
bool slots_take(struct swap_area *a, uint32_t *slot)
{
	if (a->free == 0)
		return false;
	*slot = search(a);
	KASSERT2(*slot < a->size && slot_count(a, *slot) == 0, "swap.2", *slot, a->free);
	slot_set(a, *slot, 1, NULL);
	return true;
}

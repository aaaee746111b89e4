/*
 * The slot map of an area: who holds each slot, and which free one is next.
 *
 * Slots are handed out in runs of swap.cluster (256), as Linux 2.4 and 2.6 did
 * (docs/history.md 1.7): go on in the current run while it has a free slot; else take
 * the first run that is wholly free; else the first one with a free slot. Pages that
 * leave together thus lie together, and one seek brings several back. A count of free
 * slots per run keeps the search short: a run is searched only when it has one.
 *
 * Locks: swap_lock for all but creating and destroying.
 */
#include "kernel/abi/errno.h"
#include "kernel/panic.h"
#include "kernel/param.h"
#include "kernel/string.h"
#include "kernel/trace.h"
#include "mm/slab.h"
#include "mm/swap/area.h"

PARAM_U32(swap_cluster, "swap.cluster", 256, 8, 4096);

static struct slot_run *run_of(struct swap_area *a, uint32_t slot)
{
	return &a->runs[slot / swap_cluster];
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
	a->run_count = (size + swap_cluster - 1) / swap_cluster;
	a->counts = (uint16_t **)directory_create(counts_frames(size));
	a->cache = (struct page ***)directory_create(cache_frames(size));
	a->runs = kmalloc(a->run_count * sizeof(*a->runs), GFP_KERNEL);
	if (!a->counts || !a->cache || !a->runs) {
		slots_destroy(a);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < a->run_count; i++) {
		uint32_t width = MIN(swap_cluster, size - i * swap_cluster);

		a->runs[i] = (struct slot_run){ .free = (uint16_t)width,
						.usable = (uint16_t)width };
	}
	a->free = size;
	a->used = a->bad = a->cache_only = 0;
	a->next = a->steal_hand = 0;
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

/* The first free slot of run `r` at or after `from`; a->size: none. */
static uint32_t search_run(const struct swap_area *a, uint32_t r, uint32_t from)
{
	uint32_t end = MIN((r + 1) * swap_cluster, a->size);

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
 * Take a free slot of `a`: behind the last one given if that run still has one, else from the
 * first run that is wholly free, else from the first with a free slot. At the end of a run
 * the search starts anew. The slot then counts 1 and has no page. Returns false if none is
 * free. swap_lock held; never sleeps.
 */
bool slots_take(struct swap_area *a, uint32_t *slot)
{
	uint32_t found = a->size;

	if (a->free == 0)
		return false;
	if (a->next < a->size)
		found = search_run(a, a->next / swap_cluster, a->next);
	if (found == a->size) {
		uint32_t r = choose_run(a);

		found = search_run(a, r, r * swap_cluster);
	}
	KASSERT2(found < a->size, "swap.2", found, a->free);
	/* At the end of a run the search starts anew, not in whatever run lies behind it. */
	a->next = (found + 1) % swap_cluster ? found + 1 : a->size;
	slot_set(a, found, 1, NULL);
	*slot = found;
	return true;
}

/*
 * Guesses (GFP_SPARE): they end at the watermark `min` of each zone with every policy, and all that
 * advice brings along is one.
 * rmap: scan
 * links: SPACES BLOCK mm/lru.c mm/audit.c mm/swap/?*.c mm/reclaim/?*.c mm/reclaim/POLICIES/?*.c
 */
#include "mm/reclaim/policies.h"
#include "shim.h"
#include "swap_disk.h"

enum { RAM_BYTES = 24 << 20 };

/* Take frames for guesses until there are none for them; then nothing below `min` is gone. */
static void take_all(const struct reclaim_policy *policy, enum gfp flags)
{
	uint32_t taken = 0;

	shim_machine(RAM_BYTES);
	policy->set_watermarks();
	reclaim = policy;
	lru_rules = policy->lru;
	while (page_alloc(flags, 0))
		taken++;
	CHECK(taken > frames_total() / 2);
	for (unsigned i = 0; i < ZONE_COUNT; i++)
		if (!CHECK(zones[i].free >= zones[i].min))
			printf("# %s: zone %s: %u free, min %u\n", policy->name, zones[i].name,
			       (unsigned)zones[i].free, (unsigned)zones[i].min);
	CHECK(frame_check() == 0);
}

/* ---- Advice ---- */

enum { NEIGHBOURS = 6 };

static unsigned taken, other_ways;

static struct page *alloc_watched(enum gfp flags, unsigned order)
{
	taken++;
	other_ways += !(flags & GFP_SPARE);
	return frame_take(&zones[ZONE_DMA], order);
}

static const struct reclaim_policy watched = { .name = "watched", .alloc = alloc_watched };

/* Slots in a row that are in use and whose pages aren't in memory. The first of them. */
static swap_entry slots_to_read(void)
{
	struct page *p[NEIGHBOURS];
	swap_entry first;

	for (unsigned i = 0; i < NEIGHBOURS; i++) {
		p[i] = page_alloc(GFP_USER, 0);
		CHECK(page_trylock(p[i]) && swap_cache_add_new(p[i]));
	}
	first = (swap_entry){ p[0]->private };
	for (unsigned i = 0; i < NEIGHBOURS; i++) {
		CHECK(swap_dup((swap_entry){ p[i]->private }) == 0);
		swap_cache_delete(p[i]);
		page_unlock(p[i]);
		page_drop(p[i]);
	}
	return first;
}

/* Advice (MADV_WILLNEED) pushes nothing out, whatever window faults have. */
static void advise(enum read_window window)
{
	swap_entry first;

	reclaim = &watched;
	first = slots_to_read();
	swap_rules.window = window;
	swap_rules.readahead = READAHEAD_MAX;
	taken = other_ways = 0;
	CHECK(swap_read_ahead(first));
	CHECK(taken > 1 && other_ways == 0);
	work_all();
	if (other_ways > 0)
		printf("# window %u: %u of %u\n", (unsigned)window, other_ways, taken);
}

int main(void)
{
	boot_machine();
	for (unsigned window = 0; window < READ_WINDOWS; window++)
		advise(window);
	tap_checks("host-spare-02", "what advice reads ahead is a guess, neighbours too, whatever the window of faults");
	for (unsigned i = 0; reclaim_policies[i]; i++) {
		take_all(reclaim_policies[i], GFP_SPARE);
		take_all(reclaim_policies[i], GFP_SPARE | GFP_DMA);
	}
	tap_checks("host-spare-01", "what a guess takes is above the watermark `min` with every policy");
	return tap_done();
}

/*
 * Which slot a search of the past finds next, against that search written down over an array.
 * links: SLOTS mm/frame.c mm/page.c mm/slab.c mm/lru.c
 */
#include "shim.h"
#include "slot_areas.h"

enum { SLOTS_ALL = 400, STEPS = 20000 };

/* docs/history.md 1.7 to the letter, over an array: the slot that comes next. */
struct model_22 {
	bool	 used[SLOTS_ALL];
	uint32_t left, next;
};

static uint32_t model_take(struct model_22 *m)
{
	uint32_t slot = SLOTS_ALL;

	if (m->left > 0)
		for (slot = m->next; slot < SLOTS_ALL && m->used[slot]; slot++)
			continue;
	if (slot < SLOTS_ALL) {
		m->left--;
	} else {
		m->left = swap_rules.cluster;
		for (slot = 1; m->used[slot]; slot++)
			continue;
	}
	m->used[slot] = true;
	m->next = slot + 1;
	return slot;
}

/* 2.2's search against the model: takes and gives back at random, in clusters of `cluster`. */
static void compare_22(uint32_t cluster)
{
	struct model_22 m = { .left = 0 };
	uint32_t held = 0;

	swap_rules.search = SEARCH_22;
	swap_rules.cluster = cluster;
	start(SLOTS_ALL);
	for (unsigned i = 0; i < STEPS; i++) {
		uint32_t slot = 1 + shim_random(SLOTS_ALL - 1);

		if (held < SLOTS_ALL - 1 && shim_random(3)) {
			CHECK(take() == model_take(&m));
			held++;
		} else if (m.used[slot]) {
			swap_free(swap_entry_make(0, slot));
			m.used[slot] = false;
			held--;
		}
	}
	CHECK(swap_check() == 0);
	area_stop(0);
}

int main(void)
{
	shim_machine(8 << 20);
	shim_seed(shim_run_seed());
	compare_22(32);
	tap_checks("host-search-01", "2.2's search, 32 slots a cluster, gives what history.md 1.7 says at 20000 steps");
	compare_22(256);
	tap_checks("host-search-02", "the same with 256, as the patch had it");
	return tap_done();
}


/*
 * The slot map and the swap cache against a model: an array of counts and of pages. Random
 * allocation, dup, free, cache, steal; several areas; runs; headers.
 * links: SLOTS mm/swap/header.c mm/frame.c mm/page.c mm/slab.c mm/lru.c
 */
#include <string.h>

#include "kernel/abi/errno.h"
#include "kernel/counters.h"
#include "kernel/panic.h"
#include "kernel/thread.h"
#include "mm/frame.h"
#include "mm/lru.h"
#include "mm/swap/area.h"
#include "plain_policy.h"
#include "shim.h"
#include "slot_areas.h"

/* ---- Runs ---- */

static void test_order(void)
{
	start(2000);
	CHECK(swap_slots_total() == 1999 && swap_slots_free() == 1999);
	/* Run 0 isn't wholly free only because of the header: it counts as such. */
	for (uint32_t i = 1; i < 256; i++)
		CHECK(take() == i);
	CHECK(take() == 256);
	/* A hole in the first run isn't used while the current run lasts ... */
	swap_free(swap_entry_make(0, 100));
	for (uint32_t i = 257; i < 512; i++)
		CHECK(take() == i);
	/* ... nor while there are free runs. */
	for (uint32_t i = 512; i < 1792; i++)
		CHECK(take() == i);
	CHECK(swap_check() == 0);
	tap_checks("host-slots-01", "slots come in runs: the rest of the run, then the first free run");
	for (uint32_t i = 1792; i < 2000; i++)
		CHECK(take() == i);
	CHECK(take() == 100);
	CHECK(take() == 0 && swap_slots_free() == 0);
	CHECK(swap_check() == 0);
	tap_checks("host-slots-02", "without a free run the first free slot, and at the end none");
	area_stop(0);
}

/* Take slots until `slot` is next: those in between must come in order. */
static void take_up_to(uint32_t from, uint32_t slot)
{
	while (from < slot)
		CHECK(take() == from++);
}

static void test_search_22(void)
{
	swap_rules.search = SEARCH_22;
	swap_rules.cluster = 32;
	start(400);
	take_up_to(1, 20);
	swap_free(swap_entry_make(0, 5));
	take_up_to(20, 34);			/* 1, and 32 behind it */
	CHECK(take() == 5 && take() == 34);	/* the lowest, however small the hole */
	take_up_to(35, 66);
	CHECK(take() == 66);
	swap_free(swap_entry_make(0, 40));
	swap_free(swap_entry_make(0, 50));
	take_up_to(67, 99);
	CHECK(take() == 40 && take() == 50 && take() == 99);
	take_up_to(100, 400);
	CHECK(take() == 0 && swap_check() == 0);
	tap_checks("host-slots-10", "2.2's search: 32 slots behind the first, holes passed over, then the lowest");
	area_stop(0);
}

static void test_search_24(void)
{
	swap_rules.search = SEARCH_24;
	swap_rules.cluster = 32;
	start(200);
	take_up_to(1, 33);			/* a run of 32 */
	swap_free(swap_entry_make(0, 5));
	CHECK(take() == 33);			/* the next place for 32, not the hole */
	take_up_to(34, 65);
	for (uint32_t i = 10; i < 41; i++)	/* 31: too short, but 32 with the hole at 41 */
		swap_free(swap_entry_make(0, i));
	CHECK(take() == 65);
	take_up_to(66, 97);
	swap_free(swap_entry_make(0, 41));
	CHECK(take() == 10);			/* unaligned */
	take_up_to(11, 42);
	take_up_to(97, 193);			/* three more runs of 32 */
	CHECK(take() == 5);			/* no place for 32: the lowest */
	take_up_to(193, 200);
	CHECK(take() == 0 && swap_check() == 0);
	tap_checks("host-slots-11", "2.4's search: 32 in a row, aligned or not, and if there is no such place the lowest");
	area_stop(0);
	swap_rules.search = SEARCH_RUNS;
	swap_rules.cluster = 256;
}

static void test_bad(void)
{
	start(600);
	slots_mark_bad(&swap_areas[0], 1);
	slots_mark_bad(&swap_areas[0], 300);
	CHECK(swap_slots_total() == 597);
	for (unsigned i = 0; i < 597; i++) {
		uint32_t slot = take();

		CHECK(slot > 1 && slot != 300 && slot < 600);
	}
	CHECK(take() == 0);
	CHECK(swap_dup(swap_entry_make(0, 300)) == -EINVAL);
	CHECK(swap_dup(swap_entry_make(0, 0)) == -EINVAL);
	CHECK(swap_dup(swap_entry_make(0, 600)) == -EINVAL);
	CHECK(swap_dup(swap_entry_make(1, 5)) == -EINVAL);
	CHECK(swap_count(swap_entry_make(31, 5)) == 0);
	CHECK(swap_check() == 0);
	tap_checks("host-slots-03", "header and bad slots are never given out, foreign entries refused");
	area_stop(0);
}

static void test_limit(void)
{
	struct page *p = page_alloc(GFP_ATOMIC, 0);
	swap_entry e;

	start(300);
	CHECK(swap_slot_alloc(&e));
	for (unsigned i = 2; i < SLOT_COUNT_MAX; i++)
		CHECK(swap_dup(e) == OK);
	CHECK(swap_dup(e) == -EAGAIN && swap_count(e) == SLOT_COUNT_MAX - 1);
	CHECK(page_trylock(p) && swap_cache_add_read(p, e));	/* it can still be read */
	CHECK(swap_dup(e) == -EAGAIN && swap_count(e) == SLOT_COUNT_MAX);
	swap_cache_delete(p);
	CHECK(swap_dup(e) == -EAGAIN);
	page_unlock(p);
	page_drop(p);
	for (unsigned i = 1; i < SLOT_COUNT_MAX; i++)
		swap_free(e);
	CHECK(swap_count(e) == 0 && swap_slots_free() == 299 && swap_check() == 0);
	tap_checks("host-slots-04", "a count stops at its limit with -EAGAIN, the page can be read, and it comes down");
	area_stop(0);
}

static void test_areas(void)
{
	unsigned in_area[3] = { 0 };
	swap_entry e;

	start(300);
	area_start(1, 300, 7);
	area_start(2, 300, 7);
	for (unsigned i = 0; i < 598; i++) {
		CHECK(swap_slot_alloc(&e));
		in_area[swap_entry_area(e)]++;
		CHECK(in_area[1] - in_area[2] + 1 <= 2);
	}
	CHECK(in_area[0] == 0);
	CHECK(swap_slot_alloc(&e) && swap_entry_area(e) == 0);
	swap_areas[0].state = AREA_LEAVING;
	CHECK(!swap_slot_alloc(&e));
	CHECK(swap_check() == 0);
	tap_checks("host-slots-05", "the better area first, equal ones in turn, none from one that leaves");
	for (unsigned n = 0; n < 3; n++)
		area_stop(n);
}

/* ---- Random, with pages ---- */

enum { SIZE = 700, PAGES = 400, STEPS = 200000 };

static struct {
	unsigned     holders;		/* PTEs */
	struct page *page;
} model[SIZE];
static struct page *loose[PAGES];	/* pages that are in no cache; our reference */
static unsigned loose_count;

static uint32_t random_used(bool (*wanted)(uint32_t slot))
{
	uint32_t start_at = 1 + random_u32() % (SIZE - 1);

	for (uint32_t i = 0; i < SIZE - 1; i++) {
		uint32_t slot = 1 + (start_at + i) % (SIZE - 1);

		if (wanted(slot))
			return slot;
	}
	return 0;
}

static bool has_holders(uint32_t slot) { return model[slot].holders > 0; }
static bool has_page(uint32_t slot) { return model[slot].page != NULL; }

/* A page goes into the cache under a new slot; steals if all are taken. */
static void step_add(void)
{
	struct page *p;
	uint32_t slot;

	if (loose_count == 0)
		return;
	p = loose[loose_count - 1];
	CHECK(page_trylock(p));
	if (swap_cache_add_new(p)) {
		slot = swap_entry_slot((swap_entry){ p->private });
		if (model[slot].page) {		/* stolen from that page, which is loose now */
			CHECK(model[slot].holders == 0);
			loose[loose_count - 1] = model[slot].page;
		} else {
			loose_count--;
		}
		CHECK(model[slot].holders == 0);
		model[slot].page = p;
	} else {
		CHECK(random_used(has_page) == 0 || swap_slots_stealable() == 0);
		CHECK(swap_slots_free() == 0);
	}
	page_unlock(p);
}

/* Which slots may have lost their page by a steal elsewhere? Only cache-only ones. */
static void step_delete(void)
{
	uint32_t slot = random_used(has_page);
	struct page *p = model[slot].page;

	if (!slot)
		return;
	CHECK(page_trylock(p));
	swap_cache_delete(p);
	page_unlock(p);
	model[slot].page = NULL;
	loose[loose_count++] = p;
}

static void step_dup(void)
{
	uint32_t slot = random_used(random_u32() & 1 ? has_page : has_holders);

	if (!slot)
		return;
	CHECK(swap_dup(swap_entry_make(0, slot)) == OK);
	model[slot].holders++;
}

/* The last holder of a cached page that is mapped nowhere: page and slot go. */
static void step_free(void)
{
	uint32_t slot = random_used(has_holders);

	if (!slot)
		return;
	swap_free(swap_entry_make(0, slot));
	model[slot].holders--;
	if (model[slot].holders == 0 && model[slot].page) {
		CHECK(!page_is(model[slot].page, PG_SWAPCACHE));
		loose[loose_count++] = model[slot].page;
		model[slot].page = NULL;
	}
}

static void step_find(void)
{
	uint32_t slot = 1 + random_u32() % (SIZE - 1);
	struct page *p = swap_cache_find(swap_entry_make(0, slot));

	CHECK(p == model[slot].page);
	if (p)
		page_drop(p);
}

static void compare(void)
{
	uint32_t used = 0, cached = 0;

	for (uint32_t slot = 1; slot < SIZE; slot++) {
		unsigned count = model[slot].holders + (model[slot].page != NULL);

		CHECK(swap_count(swap_entry_make(0, slot)) == count);
		CHECK(slot_page(&swap_areas[0], slot) == model[slot].page);
		used += count > 0;
		cached += model[slot].page != NULL;
	}
	CHECK(swap_areas[0].used == used && swap_slots_free() == SIZE - 1 - used);
	CHECK(swap_cached_pages() == cached);
	CHECK(swap_check() == 0);
}

static void test_random(uint32_t seed)
{
	static void (*const steps[])(void) = {
		step_add, step_add, step_dup, step_free, step_delete, step_find
	};

	shim_seed(seed);
	start(SIZE);
	for (loose_count = 0; loose_count < PAGES; loose_count++)
		loose[loose_count] = page_alloc(GFP_KERNEL, 0);
	memset(model, 0, sizeof(model));
	for (unsigned i = 0; i < STEPS; i++) {
		steps[random_u32() % ARRAY_LEN(steps)]();
		if (i % 1000 == 0)
			compare();
	}
	compare();
	tap_checks("host-slots-06", "200000 random steps agree with a model of counts and pages");
	while (random_used(has_holders))
		step_free();
	while (random_used(has_page))
		step_delete();
	CHECK(loose_count == PAGES && swap_slots_free() == SIZE - 1 && swap_check() == 0);
	tap_checks("host-slots-07", "afterwards every slot is free and no page is lost");
	area_stop(0);
}

/* Full: each new page must take the slot of one that is in memory, until none is left. */
static void test_steal(void)
{
	uint32_t stealable;

	start(101);
	memset(model, 0, sizeof(model));
	for (unsigned i = 0; i < 100; i++) {
		struct page *p = page_alloc(GFP_KERNEL, 0);

		CHECK(page_trylock(p) && swap_cache_add_new(p));
		page_unlock(p);
		if (i < 60)
			CHECK(swap_dup((swap_entry){ p->private }) == OK);
	}
	swap_rules.steal = true;
	stealable = swap_slots_stealable();
	CHECK(stealable == 40 && swap_slots_free() == 0);
	for (unsigned i = 0; i < 40; i++) {
		swap_entry e;

		CHECK(swap_slot_alloc(&e));
		CHECK(swap_entry_slot(e) > 60);
	}
	CHECK(take() == 0 && swap_slots_stealable() == 0 && swap_check() == 0);
	CHECK(counters[COUNT_swap_steal] >= 40);
	tap_checks("host-slots-08", "stealing gives every slot whose page is in memory, and no other");
	area_stop(0);
}

/* ---- Headers ---- */

static uint32_t page_words[1024];

static void header(const char *signature, uint32_t version, uint32_t last, uint32_t bad)
{
	memset(page_words, 0, sizeof(page_words));
	memcpy((char *)page_words + 4086, signature, strlen(signature));
	page_words[256] = version;
	page_words[257] = last;
	page_words[258] = bad;
	page_words[384] = 5;
	page_words[385] = 9;
}

static void test_headers(void)
{
	struct swap_header_info info;
	static const char *const refused[] = {
		"S1SUSPEND", "S2SUSPEND", "ULSUSPEND", "LINHIB0001", "SWAP-SPACE", "NTFS", ""
	};

	header("SWAPSPACE2", 1, 99, 2);
	CHECK(swap_header_parse(page_words, 800, &info) == OK);
	CHECK(info.size == 100 && info.bad_count == 2 && info.bad[0] == 5 && info.bad[1] == 9);
	CHECK(swap_header_parse(page_words, 799, &info) == -EINVAL && info.why);
	for (unsigned i = 0; i < ARRAY_LEN(refused); i++) {
		header(refused[i], 1, 99, 0);
		CHECK(swap_header_parse(page_words, 800, &info) == -EINVAL && info.why);
	}
	header("SWAPSPACE2", 2, 99, 0);
	CHECK(swap_header_parse(page_words, 800, &info) == -EINVAL);
	header("SWAPSPACE2", 0x01000000, 99, 0);
	CHECK(swap_header_parse(page_words, 800, &info) == -EINVAL);
	header("SWAPSPACE2", 1, 0, 0);
	CHECK(swap_header_parse(page_words, 800, &info) == -EINVAL);
	header("SWAPSPACE2", 1, 8, 2);
	CHECK(swap_header_parse(page_words, 800, &info) == -EINVAL);
	header("SWAPSPACE2", 1, 99, 100000);
	CHECK(swap_header_parse(page_words, 800, &info) == -EINVAL);
	tap_checks("host-slots-09", "mkswap's header is read, all others refused in words");
}

int main(void)
{
	shim_machine(8 << 20);
	reclaim = &plain;
	test_order();
	test_search_22();
	test_search_24();
	test_bad();
	test_limit();
	test_areas();
	test_random(shim_run_seed());
	test_steal();
	test_headers();
	return tap_done();
}

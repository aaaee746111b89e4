/*
 * The LRU lists against a model: two arrays of pages in order of age.
 * links: mm/lru.c mm/frame.c mm/frame_check.c mm/page.c
 */
#include <string.h>

#include "kernel/panic.h"
#include "mm/lru.h"
#include "shim.h"

enum { PAGES = 200, STEPS = 100000 };

static struct { struct page *page[PAGES]; unsigned count; } lists[2];	/* [0] oldest */
static struct page *out[PAGES];		/* on no list; our reference */
static unsigned out_count;

static void model_push(enum lru_list which, struct page *p)
{
	lists[which].page[lists[which].count++] = p;
}

static void model_cut(enum lru_list which, unsigned i)
{
	lists[which].count--;
	memmove(&lists[which].page[i], &lists[which].page[i + 1],
		(lists[which].count - i) * sizeof(struct page *));
}

static void step_insert(void)
{
	struct page *p;

	if (out_count == 0)
		return;
	p = out[--out_count];
	if (shim_random(2)) {
		lru_insert_active(p);
		model_push(LRU_ACTIVE, p);
	} else {
		lru_insert_inactive(p);
		model_push(LRU_INACTIVE, p);
	}
}

static void step_remove(enum lru_list which)
{
	unsigned i = shim_random(PAGES);

	if (i >= lists[which].count)
		return;
	out[out_count++] = lists[which].page[i];
	lru_remove(lists[which].page[i]);
	model_cut(which, i);
}

/* Activating an active page changes nothing. */
static void step_activate(enum lru_list which)
{
	unsigned i = shim_random(PAGES);
	struct page *p;

	if (i >= lists[which].count)
		return;
	p = lists[which].page[i];
	lru_activate(p);
	if (which == LRU_ACTIVE)
		return;
	model_cut(which, i);
	model_push(LRU_ACTIVE, p);
}

static void step_rotate(void)
{
	unsigned i = shim_random(PAGES);
	struct page *p;

	if (i >= lists[LRU_INACTIVE].count)
		return;
	p = lists[LRU_INACTIVE].page[i];
	lru_rotate(p);
	model_cut(LRU_INACTIVE, i);
	memmove(&lists[LRU_INACTIVE].page[1], &lists[LRU_INACTIVE].page[0],
		lists[LRU_INACTIVE].count * sizeof(struct page *));
	lists[LRU_INACTIVE].page[0] = p;
	lists[LRU_INACTIVE].count++;
}

/* A batch off the old end comes in order of age and goes back young. */
static void step_isolate(enum lru_list which)
{
	struct zone *z = &zones[ZONE_DMA];
	struct list batch = LIST_INIT(batch);
	unsigned n = lru_isolate(z, which, 1 + shim_random(40), &batch);

	CHECK(n <= lists[which].count);
	for (unsigned i = 0; i < n; i++) {
		struct page *p = list_first(&batch, struct page, lru);

		CHECK(p == lists[which].page[0] && p->count == 2 && !page_is(p, PG_LRU));
		list_remove(&p->lru);
		model_cut(which, 0);
		lru_putback(p);
		CHECK(p->count == 1);
		model_push(which, p);
	}
	CHECK(list_empty(&batch));
}

static void compare_list(enum lru_list which, struct list *head, uint32_t counted)
{
	unsigned i = lists[which].count;
	struct page *p;

	CHECK(counted == i);
	list_for_each(p, head, lru)
		CHECK(i > 0 && lists[which].page[--i] == p);
	CHECK(i == 0);
}

static void test_random(uint32_t seed)
{
	struct zone *z = &zones[ZONE_DMA];

	shim_seed(seed);
	shim_machine(8 << 20);
	while (out_count < PAGES)
		out[out_count++] = page_alloc(GFP_KERNEL, 0);
	for (unsigned i = 0; i < STEPS; i++) {
		enum lru_list which = shim_random(2) ? LRU_ACTIVE : LRU_INACTIVE;

		switch (shim_random(6)) {
		case 0: case 1: step_insert(); break;
		case 2: step_remove(which); break;
		case 3: step_activate(which); break;
		case 4: step_rotate(); break;
		default: step_isolate(which);
		}
		if (i % 100 == 0) {
			compare_list(LRU_ACTIVE, &z->active, z->active_count);
			compare_list(LRU_INACTIVE, &z->inactive, z->inactive_count);
			CHECK(lru_check() == 0);
		}
	}
	tap_checks("host-lru-01", "100000 random steps agree with lists in order of age");
}

static void test_drop(void)
{
	unsigned on_lists = lists[0].count + lists[1].count;
	uint32_t before = frames_free();

	for (unsigned which = 0; which < 2; which++)
		for (unsigned i = 0; i < lists[which].count; i++)
			page_drop(lists[which].page[i]);
	CHECK(frames_free() == before + on_lists);
	CHECK(zones[ZONE_DMA].active_count == 0 && zones[ZONE_DMA].inactive_count == 0);
	CHECK(lru_check() == 0 && frame_check() == 0);
	tap_checks("host-lru-02", "the last reference takes a page off its list");
}

static void test_accessed(void)
{
	struct page *p = page_alloc(GFP_KERNEL, 0);

	lru_insert_inactive(p);
	lru_mark_accessed(p);
	CHECK(page_is(p, PG_REFERENCED) && !page_is(p, PG_ACTIVE));
	lru_mark_accessed(p);
	CHECK(!page_is(p, PG_REFERENCED) && page_is(p, PG_ACTIVE));
	lru_mark_accessed(p);
	CHECK(page_is(p, PG_REFERENCED) && page_is(p, PG_ACTIVE));
	page_drop(p);
	tap_checks("host-lru-03", "used once is remembered, used twice activates");
}

int main(void)
{
	test_random(shim_run_seed());
	test_drop();
	test_accessed();
	return tap_done();
}

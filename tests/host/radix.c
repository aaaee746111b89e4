/*
 * Radix trees against a list of pairs.
 * links: mm/radix.c mm/slab.c mm/frame.c mm/page.c
 */
#include <stdlib.h>
#include <string.h>

#include "kernel/abi/errno.h"
#include "mm/object.h"
#include "mm/slab.h"
#include "shim.h"

enum { PAIRS = 1500, STEPS = 30000 };

static struct pair { uint32_t index; void *item; } pairs[PAIRS];
static unsigned pair_count;
static struct radix radix;

static struct pair *find(uint32_t index)
{
	for (unsigned i = 0; i < pair_count; i++) {
		if (pairs[i].index == index)
			return &pairs[i];
	}
	return NULL;
}

/* Mostly small and clustered, sometimes anywhere. */
static uint32_t any_index(void)
{
	switch (shim_random(4)) {
	case 0:	 return shim_random(64);
	case 1:	 return shim_random(5000);
	case 2:	 return 0xffffffff - shim_random(200);
	default: return random_u32();
	}
}

static int by_index(const void *a, const void *b)
{
	uint32_t x = ((const struct pair *)a)->index, y = ((const struct pair *)b)->index;

	return x < y ? -1 : x > y;
}

/* radix_next() walks all pairs in order. */
static void check_walk(void)
{
	uint32_t index = 0;
	unsigned n = 0;
	void *item;

	qsort(pairs, pair_count, sizeof(pairs[0]), by_index);
	while ((item = radix_next(&radix, &index)) != NULL) {
		if (!CHECK(n < pair_count && pairs[n].index == index && pairs[n].item == item))
			break;
		n++;
		if (index == UINT32_MAX)
			break;
		index++;
	}
	CHECK(n == pair_count);
}

static void step_once(void)
{
	uint32_t index = pair_count && shim_random(3) == 0 ?
			 pairs[shim_random(pair_count)].index : any_index();
	struct pair *p = find(index);

	CHECK(radix_find(&radix, index) == (p ? p->item : NULL));
	if (p && shim_random(4) == 0) {
		void *item = (void *)(uintptr_t)(random_u32() | 1);

		CHECK(radix_replace(&radix, index, item) == p->item);
		p->item = item;
	} else if (p) {
		CHECK(radix_remove(&radix, index) == p->item);
		*p = pairs[--pair_count];
	} else if (pair_count < PAIRS && shim_random(3)) {
		pairs[pair_count] = (struct pair){ index, (void *)(uintptr_t)(random_u32() | 1) };
		CHECK(radix_insert(&radix, index, pairs[pair_count].item) == OK);
		pair_count++;
	} else {
		CHECK(radix_remove(&radix, index) == NULL);
	}
}

static void test_random(uint32_t seed)
{
	shim_seed(seed);
	shim_machine(24 << 20);
	for (unsigned step = 0; step < STEPS; step++) {
		step_once();
		if (step % 500 == 0)
			check_walk();
	}
	while (pair_count) {
		pair_count--;
		CHECK(radix_remove(&radix, pairs[pair_count].index) == pairs[pair_count].item);
	}
	CHECK(!radix.root && radix.height == 0);
	radix_destroy(&radix);
	CHECK(slab_check() == 0);
	slab_shrink();
	CHECK(slab_frames() == 0);
	tap_checks("host-radix-01", "insert, find, replace, remove and walk agree with a list");
}

static void test_no_memory(void)
{
	struct page *p, *first = NULL;
	uint32_t index = 0;
	int error;

	while ((p = page_alloc(GFP_KERNEL, 0)) != NULL) {
		p->mapping = first;
		first = p;
	}
	CHECK(radix_insert(&radix, 1u << 30, &radix) == -ENOMEM);
	CHECK(!radix.root && radix_next(&radix, &index) == NULL);
	CHECK(radix_reserve() == -ENOMEM);
	for (unsigned i = 0; i < 2; i++) {
		p = first;
		first = p->mapping;
		p->mapping = NULL;
		page_drop(p);
	}
	CHECK(radix_reserve() == OK);
	error = radix_insert(&radix, 1u << 30, &radix);
	CHECK(error == OK && radix_remove(&radix, 1u << 30) == &radix);
	tap_checks("host-radix-02", "an insertion without memory changes nothing");
}

int main(void)
{
	test_random(shim_run_seed());
	test_no_memory();
	return tap_done();
}

/*
 * Slab caches and kmalloc against a list of what was given out.
 * links: mm/slab.c mm/frame.c mm/frame_check.c mm/page.c
 */
#include <string.h>

#include "mm/slab.h"
#include "shim.h"

enum { OBJECTS = 400, STEPS = 20000 };

struct thing { uint32_t number[9]; };
SLAB_CACHE(things, "thing", struct thing);

static struct held { uint8_t *at; uint32_t bytes; uint8_t fill; bool slab; } held[OBJECTS];
static unsigned held_count;

static bool contents_ok(const struct held *h)
{
	for (uint32_t i = 0; i < h->bytes; i++) {
		if (h->at[i] != h->fill)
			return false;
	}
	return true;
}

static void take(void)
{
	struct held h = { .slab = shim_random(2), .fill = (uint8_t)shim_random(256) };

	h.bytes = h.slab ? sizeof(struct thing) :
		  shim_random(20) ? 1 + shim_random(2048) : 2049 + shim_random(20000);
	h.at = h.slab ? slab_alloc(&things, GFP_KERNEL) : kmalloc(h.bytes, GFP_KERNEL);
	if (!CHECK(h.at != NULL))
		return;
	CHECK((uintptr_t)h.at % 8 == 0);
	memset(h.at, h.fill, h.bytes);
	held[held_count++] = h;
}

static void give(unsigned i)
{
	struct held h = held[i];

	CHECK(contents_ok(&h));
	held[i] = held[--held_count];
	if (h.slab)
		slab_free(&things, h.at);
	else
		kfree(h.at);
}

static void test_random(uint32_t seed)
{
	uint32_t free;

	shim_seed(seed);
	shim_machine(24 << 20);
	free = frames_free();
	for (unsigned step = 0; step < STEPS; step++) {
		if (held_count < OBJECTS && shim_random(2))
			take();
		else if (held_count)
			give(shim_random(held_count));
		if (step % 1000 == 0)
			CHECK(slab_check() == 0 && frame_check() == 0);
	}
	while (held_count)
		give(0);
	CHECK(slab_check() == 0);
	CHECK(slab_shrink() > 0 && slab_frames() == 0);
	CHECK(frames_free() == free && frame_check() == 0);
	tap_checks("host-slab-01", "objects keep their contents apart, and all frames come back");
}

static void test_zero(void)
{
	struct thing *t = slab_alloc(&things, GFP_KERNEL | GFP_ZERO);
	static const struct thing zeros;

	CHECK(memcmp(t, &zeros, sizeof(zeros)) == 0);
	slab_free(&things, t);
	kfree(NULL);
	CHECK(kmalloc((size_t)PAGE_SIZE << FRAME_ORDERS, GFP_KERNEL) == NULL);
	tap_checks("host-slab-02", "GFP_ZERO gives zeros, NULL can be freed, too much is refused");
}

static void test_use_after_free(void)
{
	struct thing *t = slab_alloc(&things, GFP_KERNEL);
	uint32_t old;

	slab_free(&things, t);
	CHECK(slab_check() == 0);
	old = t->number[5];
	t->number[5] = 1;
	CHECK(slab_check() > 0);
	t->number[5] = old;
	CHECK(slab_check() == 0);
	tap_checks("host-slab-03", "a write to a freed object is found (slab.1)");
}

static void test_exhausted(void)
{
	void *first = NULL, *at;
	uint32_t got = 0;

	while ((at = kmalloc(2048, GFP_KERNEL)) != NULL) {
		*(void **)at = first;
		first = at;
		got++;
	}
	CHECK(frames_free() == 0 && got > 0);
	while ((at = first) != NULL) {
		first = *(void **)at;
		kfree(at);
		got--;
	}
	CHECK(got == 0 && slab_check() == 0 && slab_shrink() > 0);
	tap_checks("host-slab-04", "without memory NULL comes back, and nothing breaks");
}

int main(void)
{
	test_random(shim_run_seed());
	test_zero();
	test_use_after_free();
	test_exhausted();
	return tap_done();
}

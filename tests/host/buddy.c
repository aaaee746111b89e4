/*
 * The buddy allocator against a bitmap of frames.
 * links: mm/frame.c mm/frame_check.c mm/page.c
 */
#include <stdlib.h>
#include <string.h>

#include "kernel/thread.h"
#include "mm/frame.h"
#include "shim.h"

enum { RAM_BYTES = 24 << 20, FRAMES = RAM_BYTES / PAGE_SIZE, BLOCKS = 600, STEPS = 20000 };

static uint8_t taken[FRAMES];		/* the model: whose is each frame */
static struct block { struct page *page; unsigned order; } blocks[BLOCKS];
static unsigned block_count;

static void start(uint32_t seed)
{
	shim_seed(seed);
	shim_machine(RAM_BYTES);
	memset(taken, 0, sizeof(taken));
	block_count = 0;
}

/* Take a block and enter it into the model. */
static bool take(enum gfp flags, unsigned order)
{
	struct page *p = page_alloc(flags, order);

	if (!p)
		return false;
	CHECK(page_pfn(p) % (1u << order) == 0);
	CHECK(p->count == 1);
	for (unsigned i = 0; i < 1u << order; i++) {
		CHECK(!taken[page_pfn(p) + i]);
		taken[page_pfn(p) + i] = 1;
		if (flags & GFP_DMA)
			CHECK(page_pfn(p) + i < ZONE_DMA_END_PFN);
	}
	blocks[block_count++] = (struct block){ p, order };
	return true;
}

static void give(unsigned i)
{
	struct block b = blocks[i];

	memset(&taken[page_pfn(b.page)], 0, 1u << b.order);
	blocks[i] = blocks[--block_count];
	page_free(b.page, b.order);
}

static uint32_t model_taken(void)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < FRAMES; i++)
		n += taken[i];
	return n;
}

static void test_boot(void)
{
	uint32_t counted = 0;

	start(1);
	for (pfn_t pfn = 0; pfn < page_count; pfn++)
		counted += !page_is(pfn_page(pfn), PG_RESERVED);
	CHECK(counted == frames_free() && counted == frames_total());
	CHECK(page_is(pfn_page(0), PG_RESERVED));
	CHECK(frames_total() + frames_reserved() == FRAMES);
	CHECK(frame_check() == 0);
	tap_checks("host-buddy-01", "after boot all RAM is free but page 0 and the kernel's part");
}

static void test_random(uint32_t seed)
{
	start(seed);
	uint32_t total = frames_free();

	for (unsigned step = 0; step < STEPS; step++) {
		unsigned order = shim_random(8) ? shim_random(3) : shim_random(FRAME_ORDERS);

		if (block_count < BLOCKS && shim_random(5) < 3)
			take(shim_random(4) ? GFP_KERNEL : GFP_DMA, order);
		else if (block_count)
			give(shim_random(block_count));
		if (step % 500 == 0) {
			CHECK(frames_free() == total - model_taken());
			CHECK(frame_check() == 0);
		}
	}
	while (block_count)
		give(0);
	CHECK(frames_free() == total);
	CHECK(frame_check() == 0);
	tap_checks("host-buddy-02", "random blocks never overlap, and all merge again");
}

static void test_last_frame(void)
{
	struct page *p, *first = NULL;
	uint32_t total, got = 0;

	start(3);
	total = frames_free();
	while ((p = page_alloc(GFP_KERNEL, 0)) != NULL) {
		p->mapping = first;	/* a chain of all pages */
		first = p;
		got++;
	}
	CHECK(got == total && frames_free() == 0);
	while ((p = first) != NULL) {
		first = p->mapping;
		p->mapping = NULL;
		page_drop(p);
	}
	CHECK(frames_free() == total && frame_check() == 0);
	tap_checks("host-buddy-03", "every frame can be had, one by one");
}

static void test_zero(void)
{
	struct page *p;
	const char *bytes;
	unsigned wrong = 0;

	start(4);
	p = page_alloc(GFP_KERNEL | GFP_ZERO, 2);
	bytes = page_address(p);
	for (unsigned i = 0; i < 4 * PAGE_SIZE; i++)
		wrong += bytes[i] != 0;
	CHECK(wrong == 0);
	page_free(p, 2);
	tap_checks("host-buddy-04", "GFP_ZERO zeroes the whole block");
}

static void test_seeded_order(void)
{
	pfn_t first[2];

	for (unsigned i = 0; i < 2; i++) {
		start(5);
		first[i] = page_pfn(page_alloc(GFP_KERNEL, 0));
	}
	CHECK(first[0] == first[1]);
	tap_checks("host-buddy-05", "one seed gives one order of frames");
}

static void test_references(void)
{
	struct page *p;
	uint32_t free;

	start(6);
	p = page_alloc(GFP_KERNEL, 0);
	free = frames_free();
	page_hold(p);
	page_drop(p);
	CHECK(frames_free() == free);
	CHECK(page_trylock(p) && !page_trylock(p));
	page_unlock(p);
	page_lock(p);
	page_unlock(p);
	page_drop(p);
	CHECK(frames_free() == free + 1);
	tap_checks("host-buddy-06", "the last reference frees the frame; the page lock excludes");
}

static struct page *sleeper_page;

static void end_transfer(const char *what)
{
	(void)what;
	if (page_is(sleeper_page, PG_WRITEBACK))
		page_end_writeback(sleeper_page);
	else
		page_unlock(sleeper_page);
}

static void test_waits(void)
{
	start(7);
	sleeper_page = page_alloc(GFP_KERNEL, 0);
	shim_sleep = end_transfer;
	page_set(sleeper_page, PG_WRITEBACK);
	page_wait_writeback(sleeper_page);
	CHECK(!page_is(sleeper_page, PG_WRITEBACK));
	CHECK(page_trylock(sleeper_page));
	page_lock(sleeper_page);
	CHECK(page_is(sleeper_page, PG_LOCKED));
	page_unlock(sleeper_page);
	shim_sleep = NULL;
	page_drop(sleeper_page);
	tap_checks("host-buddy-07", "who waits for a page sleeps until its transfer ends");
}

static void test_holes(void)
{
	struct ram_range ram[] = { { 0, 0x9f000 }, { 0x100000, 0x500000 },
				   { 0x500000, 0x700000 }, { 0x800000, RAM_BYTES } };
	uint32_t bytes = 0;

	shim_seed(8);
	shim_ram(RAM_BYTES);
	frame_init(ram, ARRAY_LEN(ram), 0x180000);
	for (unsigned i = 0; i < ARRAY_LEN(ram); i++)
		bytes += ram[i].end - ram[i].start;
	CHECK(frames_total() + frames_reserved() == bytes >> PAGE_SHIFT);
	for (pfn_t pfn = 0x700; pfn < 0x800; pfn++)
		CHECK(page_is(pfn_page(pfn), PG_RESERVED));
	for (pfn_t pfn = 0x9f; pfn < 0x180; pfn++)
		CHECK(page_is(pfn_page(pfn), PG_RESERVED));
	CHECK(frame_check() == 0);
	tap_checks("host-buddy-08", "holes in RAM and what lies below first_free are never given out");
}

static void test_check_finds(void)
{
	struct page *p;

	start(9);
	p = list_last(&zones[ZONE_DMA].free_list[FRAME_ORDERS - 1], struct page, lru);
	p->count = 1;
	CHECK(frame_check() > 0);
	p->count = 0;
	zones[ZONE_DMA].free++;
	CHECK(frame_check() > 0);
	zones[ZONE_DMA].free--;
	p = page_alloc(GFP_KERNEL, 0);
	p->count = 0;
	CHECK(frame_check() > 0);
	p->count = 1;
	CHECK(frame_check() == 0);
	tap_checks("host-buddy-09", "frame_check() tells what breaks frame.1, frame.8, frame.11");
}

int main(void)
{
	test_boot();
	test_random(shim_run_seed());
	test_last_frame();
	test_zero();
	test_seeded_order();
	test_references();
	test_waits();
	test_holes();
	test_check_finds();
	return tap_done();
}

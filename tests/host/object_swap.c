/*
 * Objects, swap, reclaim and the block layer together, on a disk in memory: pages are asked for
 * directly and through two address spaces, at random, beyond what the RAM holds, against a
 * model of their contents. Whenever somebody sleeps, others may act before the disk does:
 * ask for the same pages, reclaim, destroy an object. Sectors fail for a while; areas are
 * taken out of service and back.
 * rmap: kept
 * links: SPACES BLOCK mm/lru.c mm/audit.c mm/swap/?*.c mm/reclaim/?*.c mm/reclaim/POLICIES/?*.c
 */
#include "kernel/counters.h"
#include "mm/audit.h"
#include "mm/fault.h"
#include "mm/lru.h"
#include "mm/object_tree.h"
#include "mm/reclaim.h"
#include "mm/rmap.h"
#include "mm/slab.h"
#include "mm/swap/area.h"
#include "shim.h"
#include "swap_disk.h"

/* ---- Objects and their model ---- */

enum {
	OBJECTS = 3, LOOSE = OBJECTS - 1,	/* the last one is never mapped */
	PAGES = 250, SPACES = 2, STEPS = 10000, DEPTH_MAX = 2,
};
#define BASE 0x40000000u
#define STRIDE 0x00800000u		/* between the objects in an address space */

static struct object *objects[OBJECTS];
static uint32_t model[OBJECTS][PAGES];	/* what each page is filled with */
static struct mm *mms[SPACES];
static bool busy[SPACES];		/* its mmap_lock is taken */
static unsigned depth;			/* of sleepers who let others act */
static unsigned lost, refused;		/* pages not read, and not had for want of memory */
static bool disk_fails;
static unsigned wanted_object;		/* what was asked for last, so that others want it too */
static uint32_t wanted_page;

static void map_objects(struct mm *mm)
{
	for (unsigned n = 0; n < LOOSE; n++) {
		struct map_request r = {
			.addr = BASE + n * STRIDE, .bytes = PAGES * PAGE_SIZE, .object = objects[n],
			.prot = PROT_READ | PROT_WRITE, .flags = MAP_SHARED | MAP_FIXED,
		};

		CHECK(mm_map(mm, &r) == (int64_t)r.addr);
	}
}

static void make_object(unsigned n)
{
	objects[n] = object_create_noreserve(PAGES);
	memset(model[n], 0, sizeof(model[n]));
}

/* ---- What is in a page ---- */

static void use_page(struct page *p, uint32_t *value, bool write)
{
	uint32_t *words = page_address(p);

	CHECK(words[0] == *value && words[*value % 1022 + 1] == *value && words[1023] == *value);
	if (!write)
		return;
	words[*value % 1022 + 1] = 0;
	*value = random_u32();
	words[0] = words[*value % 1022 + 1] = words[1023] = *value;
}

static void fail(int error)
{
	CHECK(error == -ENOMEM || (error == -EIO && disk_fails));
	if (error == -EIO)
		lost++;
	else
		refused++;
}

/* Is the page held locked by a sleeper below us? Who waits for it would wait for himself; a page
 * that is being read is the disk's. */
static bool held_below(struct object *o, uint32_t index)
{
	void *word = radix_find(&o->tree, index);
	struct page *p = word && word_is_entry(word) ? swap_cache_find(word_entry(word)) : NULL;
	bool held = p && page_is(p, PG_LOCKED) && page_is(p, PG_UPTODATE);

	if (p)
		page_drop(p);
	return held;
}

/* ---- Steps ---- */

static void let_others_act(void);

/* Which page? In a nested step often the one that a sleeper waits for. */
static uint32_t choose_page(unsigned *n)
{
	if (depth == 0 || random_u32() % 4) {
		*n = shim_random(OBJECTS);
		return shim_random(PAGES);
	}
	*n = wanted_object;
	return wanted_page;
}

static void step_ask(void)
{
	unsigned n;
	uint32_t i = choose_page(&n);
	struct object *o = objects[n];
	struct page *p;
	int error;

	if (!o || held_below(o, i))
		return;
	wanted_object = n;
	wanted_page = i;
	kobject_hold(&o->kobject);
	p = object_get_page(o, i, &error);
	if (p && random_u32() % 8 == 0)
		let_others_act();	/* as a copy does that faults at its other end */
	if (!p)
		fail(error);
	else if (objects[n] == o)	/* else it was replaced meanwhile */
		use_page(p, &model[n][i], random_u32() & 1);
	if (p)
		page_drop(p);
	kobject_drop(&o->kobject);
}

static void step_fault(void)
{
	unsigned s = shim_random(SPACES), n = shim_random(LOOSE);
	uint32_t i = shim_random(PAGES);
	vaddr_t addr = BASE + n * STRIDE + i * PAGE_SIZE;
	bool write = random_u32() & 1;
	pte_t *pte;
	int error;

	if (busy[s] || held_below(objects[n], i))
		return;
	busy[s] = true;
	error = mm_fault(mms[s], addr, write ? FAULT_WRITE : FAULT_READ);
	busy[s] = false;
	pte = pte_find(mms[s], addr);
	if (error)
		fail(error);
	if (error || !pte || !pte_present(*pte) || (write && !(*pte & PTE_WRITE)))
		return;
	*pte |= PTE_ACCESSED | (write ? PTE_DIRTY : 0);
	use_page(pfn_page(pte_pfn(*pte)), &model[n][i], write);
}

/* Somebody else needs memory: pages for a while, which he gives back. */
static void step_pressure(void)
{
	struct page *p[24];
	unsigned got = 0;

	while (got < ARRAY_LEN(p) && (p[got] = page_alloc(GFP_USER, 0)) != NULL)
		got++;
	while (got > 0)
		page_drop(p[--got]);
}

/* The object that nobody maps goes, wherever its pages are, and another one takes its place. */
static void step_replace(void)
{
	struct object *old = objects[LOOSE];

	if (!old || random_u32() % 64)
		return;
	objects[LOOSE] = NULL;
	kobject_drop(&old->kobject);
	make_object(LOOSE);
}

static void step_fail(void)
{
	bad_sector = ~0ull;
	if (disk_fails && random_u32() % 4 == 0)
		bad_sector = area_first[random_u32() & 1] + 8 + shim_random(AREA_SECTORS - 8);
}

static void (*const steps[])(void) = {
	step_ask, step_fault, step_ask, step_fault, step_pressure, step_replace, step_ask
};

static void step(void)
{
	steps[shim_random(ARRAY_LEN(steps))]();
}

/* A few steps of other threads; now and then so many that the page at hand would be reclaimed. */
static void let_others_act(void)
{
	unsigned count = depth > 0 || random_u32() % 16 ? 3 : PAGES * OBJECTS * 2;

	if (depth == DEPTH_MAX)
		return;
	depth++;
	while (count-- > 0)
		step();
	depth--;
}

/* Somebody sleeps: perhaps others act, then the disk does something. */
static void sleeping(const char *what)
{
	bool others = random_u32() % 8 == 0;

	if (others)
		let_others_act();
	if (!work() && !fire_timer() && !others)
		panic("a sleeper that nothing will wake: %s", what);
}

/* ---- Tests ---- */

/* Every page is what the model says, once the disk works again. */
static void compare_all(void)
{
	int error;

	bad_sector = ~0ull;
	depth = DEPTH_MAX;		/* nobody else acts */
	for (unsigned n = 0; n < OBJECTS; n++) {
		for (uint32_t i = 0; i < PAGES; i++) {
			struct page *p = object_get_page(objects[n], i, &error);

			if (!p && error == -EIO) {	/* a failed page is still in the cache */
				reclaim_drop_caches();
				p = object_get_page(objects[n], i, &error);
			}
			if (!CHECK(p)) {
				printf("# object %u page %u: error %d\n", n, i, error);
				continue;
			}
			use_page(p, &model[n][i], false);
			page_drop(p);
		}
	}
	depth = 0;
}

static void run_steps(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		step();
		if (i % 500 == 0) {
			step_fail();
			CHECK(audit() == 0);
		}
	}
}

static void test_random(void)
{
	uint64_t out = counters[COUNT_pswpout], ahead = counters[COUNT_swap_readahead];

	run_steps(STEPS);
	compare_all();
	CHECK(audit() == 0 && lost == 0);
	CHECK(counters[COUNT_pswpout] > out + 5000 && counters[COUNT_swap_readahead] > ahead + 1000);
	tap_checks("host-object-01", "random steps, with others while one sleeps: contents as in the model, audit silent");
}

static void test_errors(void)
{
	uint64_t bad = counters[COUNT_swap_bad_slots];

	disk_fails = true;
	run_steps(STEPS);
	compare_all();
	CHECK(audit() == 0 && lost > 0 && counters[COUNT_swap_bad_slots] > bad);
	disk_fails = false;
	tap_checks("host-object-02", "with sectors that fail: EIO for some, slots retired, nothing lost for good");
}

static uint32_t slots_used(void)
{
	return swap_areas[0].used + swap_areas[1].used;
}

static void test_swapoff(void)
{
	unsigned done = 0;

	for (unsigned i = 0; i < 40; i++) {
		const char *name = i & 1 ? "hda1" : "hda2";
		int error;

		run_steps(300);
		if (i % 4 == 0) {		/* make room for all of it */
			kobject_drop(&objects[LOOSE]->kobject);
			make_object(LOOSE);
		}
		error = swap_off(name);
		CHECK(error == OK || error == -ENOMEM);
		CHECK(audit() == 0);
		done += error == OK;
		if (error == OK)
			CHECK(swap_on(name, 5) == OK);
	}
	compare_all();
	CHECK(done > 5);
	tap_checks("host-object-03", "areas leave and return under load: swapoff ends, nothing is lost");
}

/* Of equal areas each gets half of the pages. */
static void test_turns(void)
{
	uint32_t a, b;

	run_steps(2000);
	a = swap_areas[0].used;
	b = swap_areas[1].used;
	CHECK(a + b > 100 && a < 2 * b && b < 2 * a);
	tap_checks("host-object-04", "areas of equal priority hold about as many pages");
}

static void test_drop(void)
{
	kobject_drop(&objects[LOOSE]->kobject);
	make_object(LOOSE);
	run_steps(200);
	reclaim_drop_caches();
	work_all();
	reclaim_drop_caches();
	for (unsigned i = 0; i < page_count; i++) {	/* what is left has its contents nowhere else */
		struct page *p = pfn_page(i);

		CHECK(!page_is(p, PG_SWAPCACHE) || (page_is(p, PG_DIRTY) && p->mapcount == 0));
	}
	CHECK(audit() == 0);
	compare_all();
	tap_checks("host-object-05", "dropping caches leaves no page whose contents are elsewhere, and loses none");
}

static void test_end(uint32_t free_before)
{
	uint32_t reads = (uint32_t)counters[COUNT_pswpin];

	for (unsigned s = 0; s < SPACES; s++)
		mm_destroy(mms[s]);
	for (unsigned n = 0; n < OBJECTS; n++)
		kobject_drop(&objects[n]->kobject);
	work_all();
	reclaim_drop_caches();
	slab_shrink();
	CHECK(slots_used() == 0 && objects_memory_frames() == 0 && objects_swapped() == 0);
	CHECK(counters[COUNT_pswpin] == reads && swap_cached_pages() == 0);
	CHECK(frames_free() == free_before && commit_total() == 0 && audit() == 0);
	tap_checks("host-object-06", "with the objects go frames and slots, without reading");
}

/* Every slot belongs to a page that is in memory: one of them gives its own to an object's page. */
static void test_steal(void)
{
	struct object *o = object_create(1);
	struct page *p[AREA_PAGES], *page;
	uint64_t stolen = counters[COUNT_swap_steal];
	unsigned n = 0;
	int error;

	CHECK(swap_off("hda2") == OK);
	while (n < AREA_PAGES && swap_slots_free() > 0) {
		p[n] = page_alloc(GFP_KERNEL, 0);
		CHECK(page_trylock(p[n]) && swap_cache_add_new(p[n]));
		page_unlock(p[n++]);
	}
	page = object_get_page(o, 0, &error);
	memset(page_address(page), 0x5a, PAGE_SIZE);
	CHECK(page_trylock(page));
	lru_remove(page);
	page_drop(page);		/* the tree's is left; ours below */
	page_hold(page);
	CHECK(object_swap_out(page) && counters[COUNT_swap_steal] == stolen + 1);
	CHECK(objects_swapped() == 1 && object_swapped_within(o, 0, 1) == 1 && swap_slots_free() == 0);
	page_unlock(page);
	lru_putback(page);
	page = object_get_page(o, 0, &error);
	CHECK(page && *(uint8_t *)page_address(page) == 0x5a && swap_slots_free() == 1);
	page_drop(page);
	kobject_drop(&o->kobject);
	while (n-- > 0)
		page_drop(p[n]);
	reclaim_drop_caches();
	CHECK(audit() == 0 && slots_used() == 0);
	tap_checks("host-object-07", "with no slot free an object's page takes that of a page in memory");
}

static struct page *never_read;

static void write_it(void)
{
	swap_write(never_read);
}

/* swap.6 is asserted: a frame that was never filled isn't written. */
static void test_unfilled(void)
{
	const char *words;

	never_read = page_alloc(GFP_USER, 0);
	CHECK(page_trylock(never_read) && swap_cache_add_new(never_read));
	page_clear(never_read, PG_UPTODATE);
	words = shim_panic_of(write_it);
	CHECK(words && strstr(words, "INV swap.6:"));
	swap_cache_delete(never_read);
	page_unlock(never_read);
	page_drop(never_read);
	CHECK(audit() == 0 && slots_used() == 0);
	tap_checks("host-object-08", "what a read that failed has left in a frame is never written");
}

int main(void)
{
	uint32_t free_before;

	boot_machine();
	slab_shrink();
	free_before = frames_free();
	for (unsigned n = 0; n < OBJECTS; n++)
		make_object(n);
	for (unsigned s = 0; s < SPACES; s++) {
		mms[s] = mm_create();
		map_objects(mms[s]);
	}
	shim_sleep = sleeping;
	test_random();
	test_turns();
	test_drop();
	test_errors();
	test_swapoff();
	test_end(free_before);
	test_steal();
	test_unfilled();
	return tap_done();
}

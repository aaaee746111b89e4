/*
 * The reverse map against brute force: address spaces are mapped, written, forked, split,
 * merged, unmapped, destroyed and swapped out at random; each time the set of PTEs that the
 * map finds for a page is compared with what a search of all page tables finds. Contents
 * must survive, shared pages must come back shared.
 * links: mm/vma.c mm/mmap.c mm/brk.c mm/advise.c mm/pageout.c mm/zap.c mm/mm.c mm/fork.c mm/commit.c
 * links: mm/pgtable.c mm/tree.c mm/object.c mm/radix.c mm/slab.c mm/frame.c mm/page.c
 * links: mm/fault.c mm/cow.c mm/swapin.c mm/mm_check.c mm/frame_check.c mm/lru.c
 * links: mm/rmap/common.c mm/rmap/object.c mm/rmap/RMAP/*.c mm/pte_walk.c
 * links: mm/swap/slots.c mm/swap/count.c mm/swap/cache.c mm/swap/steal.c mm/swap/check.c
 */
#include <stdlib.h>
#include <string.h>

#include "kernel/abi/errno.h"
#include "kernel/boot.h"
#include "kernel/panic.h"
#include "kernel/task.h"
#include "kernel/thread.h"
#include "kernel/trap.h"
#include "mm/fault.h"
#include "mm/lru.h"
#include "mm/object.h"
#include "mm/reclaim.h"
#include "mm/rmap.h"
#include "mm/slab.h"
#include "mm/swap/area.h"
#include "mm/vma.h"
#include "kernel_parts.h"
#include "shim.h"

/* ---- The parts of the kernel that these files call and this test does without ---- */

struct swap_area swap_areas[SWAP_AREAS_MAX];

/* Nothing is ever written out here: the swap cache keeps every page. */
struct page *swap_read(swap_entry e, struct vma *v, vaddr_t addr, bool *major)
{
	struct page *p = swap_cache_find(e);

	(void)v; (void)addr; (void)major;
	CHECK(p);
	return p;
}

/* ---- Set-up ---- */

enum { SPACES = 6, WINDOW_PAGES = 128, STEPS = 10000, SLOTS = 2000 };
#define WINDOW 0x40000000u

struct model_page { bool mapped, touched; uint32_t value; };
static struct space {
	struct mm *mm;
	struct model_page page[WINDOW_PAGES];
} spaces[SPACES];
static struct block_dev device = { .name = "hdx1", .sectors = SLOTS * SECTORS_PER_PAGE };
static uint32_t next_value = 1;
static unsigned swapped_out, shared_out, came_back_shared;

static bool never_free_slots(void) { return false; }
static struct page *alloc_plain(enum gfp flags, unsigned order)
{
	struct page *p = flags & GFP_DMA ? NULL : frame_take(&zones[ZONE_NORMAL], order);

	return p ? p : frame_take(&zones[ZONE_DMA], order);
}
static const struct reclaim_policy plain = {
	.name = "plain", .alloc = alloc_plain,
	.free_slot_on_read = never_free_slots, .free_slot_on_write = never_free_slots,
};

static void start(uint32_t seed)
{
	struct swap_area *a = &swap_areas[0];

	shim_seed(seed);
	shim_machine(24 << 20);
	reclaim = &plain;
	zero_page = page_alloc(GFP_ZERO, 0);
	frame_reserve(zero_page);
	CHECK(slots_create(a, SLOTS) == OK);
	a->dev = &device;
	a->header = HEADER_GOOD;
	a->state = AREA_ON;
	spaces[0].mm = mm_create();
}

static vaddr_t page_addr(unsigned i) { return WINDOW + i * PAGE_SIZE; }

/* ---- Brute force ---- */

enum { PTES_MAX = 64 };
struct where { struct mm *mm; vaddr_t addr; };
struct found {
	pfn_t	     pfn;
	unsigned     count;
	struct where at[PTES_MAX];
};

static void note_pte(struct mm *mm, vaddr_t addr, pte_t *pte, void *arg)
{
	struct found *f = arg;

	if (pte_present(*pte) && pte_pfn(*pte) == f->pfn && CHECK(f->count < PTES_MAX))
		f->at[f->count++] = (struct where){ mm, addr };
}

static void search(struct found *f)
{
	struct mm *mm;

	f->count = 0;
	list_for_each(mm, &mm_all, all_link)
		pte_for_each(mm, note_pte, f);
}

static void note_rmap(struct vma *v, vaddr_t addr, void *arg)
{
	note_pte(v->mm, addr, pte_find(v->mm, addr), arg);
}

static void compare_page(struct page *p)
{
	struct found brute = { .pfn = page_pfn(p) }, rmap = { .pfn = page_pfn(p) };

	search(&brute);
	rmap_for_each(p, note_rmap, &rmap);
	CHECK(brute.count == p->mapcount && rmap.count == brute.count);
	for (unsigned i = 0; i < brute.count; i++) {
		unsigned j = 0;

		while (j < rmap.count && (rmap.at[j].mm != brute.at[i].mm ||
					  rmap.at[j].addr != brute.at[i].addr))
			j++;
		CHECK(j < rmap.count);
	}
}

static void compare_all(void)
{
	for (pfn_t pfn = 0; pfn < page_count; pfn++)
		if (page_is(pfn_page(pfn), PG_ANON))
			compare_page(pfn_page(pfn));
	CHECK(rmap_check() == 0 && swap_check() == 0 && lru_check() == 0 && frame_check() == 0);
	for (unsigned i = 0; i < SPACES; i++)
		if (spaces[i].mm)
			CHECK(mm_check(spaces[i].mm) == 0);
}

/* ---- Operations ---- */

static void op_map(struct space *s)
{
	unsigned first = shim_random(WINDOW_PAGES);
	unsigned n = 1 + shim_random(MIN(24u, WINDOW_PAGES - first));
	struct map_request r = {
		.addr = page_addr(first), .bytes = n * PAGE_SIZE, .prot = PROT_READ | PROT_WRITE,
		.flags = MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS,
	};

	CHECK(mm_map(s->mm, &r) == r.addr);
	for (unsigned i = 0; i < n; i++)
		s->page[first + i] = (struct model_page){ .mapped = true };
}

static void op_unmap(struct space *s)
{
	unsigned first = shim_random(WINDOW_PAGES);
	unsigned n = 1 + shim_random(MIN(12u, WINDOW_PAGES - first));

	CHECK(mm_unmap(s->mm, page_addr(first), n * PAGE_SIZE) == OK);
	memset(&s->page[first], 0, n * sizeof(s->page[0]));
}

static uint32_t *word_of(struct space *s, unsigned i, enum fault_access access)
{
	for (unsigned tries = 0; tries < 3; tries++) {
		pte_t *pte;

		CHECK(mm_fault(s->mm, page_addr(i), access) == OK);
		pte = pte_find(s->mm, page_addr(i));
		if (pte_present(*pte) && (access == FAULT_READ || (*pte & PTE_WRITE)))
			return page_address(pfn_page(pte_pfn(*pte)));
	}
	CHECK(!"the fault doesn't settle");
	return NULL;
}

static void op_access(struct space *s, enum fault_access access)
{
	unsigned i = shim_random(WINDOW_PAGES);
	struct model_page *m = &s->page[i];
	uint32_t *word;

	if (!m->mapped)
		return;
	word = word_of(s, i, access);
	if (!word)
		return;
	CHECK(*word == (m->touched ? m->value : 0));
	if (access == FAULT_READ)
		return;
	*word = m->value = next_value++;
	m->touched = true;
}

static void op_fork(struct space *s)
{
	struct space *child = &spaces[shim_random(SPACES)];
	int error;

	if (child->mm)
		return;
	child->mm = mm_fork(s->mm, &error);
	CHECK(child->mm && error == OK);
	memcpy(child->page, s->page, sizeof(s->page));
}

static void op_destroy(struct space *s)
{
	if (s == &spaces[0])
		return;
	mm_destroy(s->mm);
	s->mm = NULL;
}

static struct page *random_anon(void)
{
	pfn_t at = shim_random(page_count);

	for (pfn_t i = 0; i < page_count; i++) {
		struct page *p = pfn_page((at + i) % page_count);

		if (page_is(p, PG_ANON) && page_is(p, PG_LRU))
			return p;
	}
	return NULL;
}

/* Swap one page out as reclaim does, but for the disk: every PTE must become its entry. */
static void op_swap_out(void)
{
	struct page *p = random_anon();
	struct found after;
	unsigned ptes;

	if (!p)
		return;
	ptes = p->mapcount;
	after.pfn = page_pfn(p);
	page_hold(p);
	CHECK(page_trylock(p));
	if (page_is(p, PG_SWAPCACHE) || swap_cache_add_new(p)) {
		swap_entry e = { p->private };
		unsigned entries = swap_count(e) - 1;

		rmap_referenced(p);
		CHECK(rmap_referenced(p) == 0);
		CHECK(rmap_try_to_unmap(p) == RMAP_UNMAPPED);
		search(&after);
		CHECK(after.count == 0 && p->mapcount == 0 && !page_is(p, PG_ANON));
		CHECK(swap_count(e) == entries + ptes + 1);
		swapped_out++;
		shared_out += ptes > 1;
	}
	page_unlock(p);
	page_drop(p);
}

/* Pages of the swap cache that several PTEs map again. */
static void note_shared(void)
{
	for (pfn_t pfn = 0; pfn < page_count; pfn++)
		came_back_shared += page_is(pfn_page(pfn), PG_SWAPCACHE) &&
				    pfn_page(pfn)->mapcount > 1;
}

static void step(void)
{
	struct space *s = &spaces[shim_random(SPACES)];

	if (!s->mm)
		return;
	switch (shim_random(16)) {
	case 0: op_map(s); break;
	case 1: op_unmap(s); break;
	case 2: op_fork(s); break;
	case 3: op_destroy(s); break;
	case 4: case 5: case 6: case 7: op_swap_out(); break;
	case 8: case 9: case 10: op_access(s, FAULT_READ); break;
	default: op_access(s, FAULT_WRITE);
	}
}

/* A young PTE, a pinned page and a locked vma each keep the page where it is. */
static void test_refusals(void)
{
	struct space *s = &spaces[0];
	struct page *p;
	uint32_t *word;

	op_map(s);
	for (unsigned i = 0; i < WINDOW_PAGES; i++) {
		if (!s->page[i].mapped)
			continue;
		word = word_of(s, i, FAULT_WRITE);
		s->page[i].touched = true;
		s->page[i].value = *word = next_value++;
		p = address_page(word);
		page_hold(p);
		CHECK(page_trylock(p) && (page_is(p, PG_SWAPCACHE) || swap_cache_add_new(p)));
		CHECK(rmap_try_to_unmap(p) == RMAP_FAIL && p->mapcount == 1);
		rmap_referenced(p);
		page_hold(p);
		CHECK(rmap_try_to_unmap(p) == RMAP_FAIL && p->mapcount == 1);
		page_drop(p);
		vma_at(s->mm, page_addr(i))->flags |= VMA_LOCKED;
		CHECK(rmap_try_to_unmap(p) == RMAP_FAIL && p->mapcount == 1);
		vma_at(s->mm, page_addr(i))->flags &= ~(uint32_t)VMA_LOCKED;
		spin_lock(&s->mm->page_table_lock);
		CHECK(rmap_try_to_unmap(p) == RMAP_AGAIN && p->mapcount == 1);
		spin_unlock(&s->mm->page_table_lock);
		CHECK(rmap_try_to_unmap(p) == RMAP_UNMAPPED && p->mapcount == 0);
		page_unlock(p);
		page_drop(p);
		break;
	}
	tap_checks("host-anonvma-03", "young, pinned, locked and busy PTEs are refused, then it works");
}

static void finish(void)
{
	for (unsigned i = 0; i < SPACES; i++)
		if (spaces[i].mm)
			mm_destroy(spaces[i].mm);
	CHECK(swap_slots_free() == SLOTS - 1 && swap_cached_pages() == 0);
	CHECK(rmap_mapped_pages() == 0 && rmap_bytes() == 0 && swap_check() == 0 && lru_check() == 0);
	tap_checks("host-anonvma-04", "with the last mm every page, slot and anon_vma is gone");
}

int main(void)
{
	start(shim_run_seed());
	for (unsigned i = 0; i < STEPS; i++) {
		step();
		if (i % 200 == 0)
			compare_all();
		if (i % 50 == 0)
			note_shared();
	}
	compare_all();
	tap_checks("host-anonvma-01", "10000 random steps: the map finds what a search of all PTEs finds");
	CHECK(swapped_out > 400 && shared_out > 30 && came_back_shared > 0);
	tap_checks("host-anonvma-02", "shared pages went out and came back shared");
	test_refusals();
	finish();
	return tap_done();
}

/*
 * For host tests of the reverse map: a machine with one swap area whose pages are never
 * written out, so that the swap cache keeps each of them, and a policy that keeps slots.
 * Included by one program once.
 */
#ifndef SWAP_MACHINE_H
#define SWAP_MACHINE_H

#include <stdlib.h>
#include <string.h>

#include "kernel/abi/errno.h"
#include "kernel/counters.h"
#include "kernel/panic.h"
#include "kernel/thread.h"
#include "mm/fault.h"
#include "mm/lru.h"
#include "mm/object.h"
#include "mm/rmap.h"
#include "mm/slab.h"
#include "mm/swap/area.h"
#include "kernel_parts.h"
#include "plain_policy.h"
#include "shim.h"

enum { SLOTS = 2000 };
#define WINDOW 0x40000000u

struct swap_area swap_areas[SWAP_AREAS_MAX];
static struct block_dev device = { .name = "hdx1", .sectors = SLOTS * SECTORS_PER_PAGE };

struct page *swap_read(swap_entry e, struct vma *v, vaddr_t addr, bool *major)
{
	struct page *p = swap_cache_find(e);

	(void)v; (void)addr; (void)major;
	CHECK(p);
	return p;
}

static void swap_machine_start(uint32_t seed)
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
}

/* Page `i` of the window that tests map. */
static vaddr_t page_addr(unsigned i) { return WINDOW + i * PAGE_SIZE; }

/* The first word of page `i` of the window, after a fault that allows `access`. */
static uint32_t *word_of(struct mm *mm, unsigned i, enum fault_access access)
{
	for (unsigned tries = 0; tries < 3; tries++) {
		pte_t *pte;

		CHECK(mm_fault(mm, page_addr(i), access) == OK);
		pte = pte_find(mm, page_addr(i));
		if (pte_present(*pte) && (access == FAULT_READ || (*pte & PTE_WRITE)))
			return page_address(pfn_page(pte_pfn(*pte)));
	}
	CHECK(!"the fault doesn't settle");
	return NULL;
}

static void map_pages(struct mm *mm, unsigned first, unsigned count)
{
	struct map_request r = {
		.addr = page_addr(first), .bytes = count * PAGE_SIZE,
		.prot = PROT_READ | PROT_WRITE,
		.flags = MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS,
	};

	CHECK(mm_map(mm, &r) == r.addr);
}

/* Swap `p`, which the caller holds, out as reclaim does, but for the disk: no PTE may be left. */
static void swap_out(struct page *p)
{
	CHECK(page_trylock(p));
	if (page_is(p, PG_SWAPCACHE) || swap_cache_add_new(p)) {
		rmap_referenced(p);
		CHECK(rmap_referenced(p) == 0);
		CHECK(rmap_try_to_unmap(p) == RMAP_UNMAPPED);
		CHECK(p->mapcount == 0 && !page_is(p, PG_ANON));
	}
	page_unlock(p);
}

#endif

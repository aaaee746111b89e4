/*
 * For host tests of address spaces: what of the kernel mm/ calls and they do without (swap is
 * empty, the TLB is nobody's), a plain policy, and one machine per test whose frames must
 * all come back. Included by one program once.
 */
#ifndef SPACES_H
#define SPACES_H

#include <stdlib.h>
#include <string.h>

#include "kernel/abi/errno.h"
#include "kernel/boot.h"
#include "kernel/panic.h"
#include "kernel/task.h"
#include "kernel/thread.h"
#include "kernel/trap.h"
#include "mm/fault.h"
#include "mm/object.h"
#include "mm/reclaim.h"
#include "mm/rmap.h"
#include "mm/slab.h"
#include "mm/swap.h"
#include "mm/swap/rules.h"
#include "mm/vma.h"
#include "kernel_parts.h"
#include "plain_policy.h"
#include "shim.h"

/* ---- The parts of the kernel that these files call and this test does without ---- */

static uint32_t no_swap_slots;

struct lru_rules lru_rules;
void lru_insert_active(struct page *p) { (void)p; }
void lru_insert_inactive(struct page *p) { (void)p; }
struct swap_rules swap_rules;
bool swap_rule_frees(enum slot_use use) { (void)use; return false; }
void lru_mark_accessed(struct page *p) { (void)p; }
bool lru_isolate_page(struct page *p, struct list *batch) { (void)p; (void)batch; return false; }
int  swap_dup(swap_entry e) { (void)e; return -EINVAL; }
void swap_free(swap_entry e) { (void)e; }
unsigned swap_count(swap_entry e) { (void)e; return 0; }
uint32_t swap_slots_total(void) { return no_swap_slots; }
bool swap_cache_try_free(struct page *p) { (void)p; return false; }
bool swap_cache_add_new(struct page *p) { (void)p; return false; }
void swap_cache_delete(struct page *p) { (void)p; }
struct page *swap_cache_find(swap_entry e) { (void)e; return NULL; }
struct page *swap_read(swap_entry e, struct vma *v, vaddr_t addr, bool *major)
{ (void)e; (void)v; (void)addr; (void)major; return NULL; }

/* ---- The machine of one test ---- */

enum { SPACES = 4, OBJECT_PAGES = 64 };
static struct mm *mms[SPACES];		/* NULL: none */
static struct object *object;
static uint32_t free_before;

static void start(uint32_t seed)
{
	shim_seed(seed);
	shim_machine(24 << 20);
	reclaim = &plain;
	zero_page = page_alloc(GFP_ZERO, 0);
	frame_reserve(zero_page);
	free_before = frames_free();
	object = object_create(OBJECT_PAGES);
	mms[0] = mm_create();
}

/* Everything goes; every frame must come back. */
static void finish(void)
{
	for (unsigned i = 0; i < SPACES; i++) {
		if (mms[i])
			mm_destroy(mms[i]);
		mms[i] = NULL;
	}
	kobject_drop(&object->kobject);
	slab_shrink();
	CHECK(frames_free() == free_before);
	CHECK(commit_total() == 0 && rmap_mapped_pages() == 0 && frame_check() == 0);
	CHECK(slab_frames() == 0);
}

/* The first word of the page at `addr`, as a program would see it; NULL if not mapped. */
static uint32_t *mapped_word(struct mm *mm, vaddr_t addr)
{
	pte_t *pte = pte_find(mm, addr);

	if (!CHECK(pte && pte_present(*pte)))
		return NULL;
	return page_address(pfn_page(pte_pfn(*pte)));
}

/* frame.2: PTEs of all spaces, counted frame by frame. */
static void check_mapcounts(void)
{
	uint32_t *ptes = calloc(page_count, sizeof(*ptes));

	for (unsigned s = 0; s < SPACES; s++) {
		for (vaddr_t a = 0; mms[s] && a < USER_END;) {
			pte_t *pte = pte_find(mms[s], a);

			if (pte && pte_present(*pte))
				ptes[pte_pfn(*pte)]++;
			a = pte ? a + PAGE_SIZE : pgtable_next(a);
		}
	}
	for (pfn_t i = 0; i < page_count; i++) {
		struct page *p = pfn_page(i);

		if (!page_is(p, PG_RESERVED) && !page_is(p, PG_BUDDY))
			CHECK(p->mapcount == ptes[i] && p->count >= p->mapcount);
	}
	free(ptes);
}

#endif

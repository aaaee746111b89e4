/*
 * Copy on write: a write to a page that the PTE maps read-only, in a vma that allows
 * writing. A page that nobody else can come to is made writable as it is.
 */
#include "kernel/abi/errno.h"
#include "kernel/counters.h"
#include "kernel/task.h"
#include "kernel/trace.h"
#include "mm/fault_steps.h"
#include "mm/lru.h"
#include "mm/rmap.h"
#include "mm/swap.h"
#include "mm/swap/rules.h"

/*
 * Is the page `p`, mapped by the PTE at hand, nobody else's, so that a write may have it as it
 * is? Returns true if it is anonymous, this is its only PTE, and, where the swap cache has it,
 * no other PTE's swap entry leads to it. Then the policy may let the slot go. The page
 * lock keeps the cache as it is; if that is taken, false: a copy is always right. Under the
 * page_table_lock; never sleeps. (Always inline: it has a budget.)
 */
ALWAYS_INLINE bool cow_page_exclusive(struct page *p)
{
	bool exclusive;

	if (!page_is(p, PG_ANON) || p->mapcount != 1)
		return false;
	if (!page_is(p, PG_SWAPCACHE))
		return true;
	if (!page_trylock(p))
		return false;
	exclusive = !page_is(p, PG_SWAPCACHE) ||
		    swap_count((swap_entry){ p->private }) == 1;
	if (exclusive && swap_rule_frees(SLOT_LATER_WRITE))
		swap_cache_try_free(p);
	page_unlock(p);
	return exclusive;
}

/* The page that takes the place of `old` in the PTE: its copy, or zeros. NULL: no memory. */
static struct page *make_copy(struct fault *f, struct page *old)
{
	struct page *p;

	if (rmap_vma_prepare(f->vma) < 0)
		return NULL;
	p = page_alloc(old == zero_page ? GFP_USER | GFP_ZERO : GFP_USER, 0);
	if (!p)
		return NULL;
	page_set(p, PG_UPTODATE);
	if (old == zero_page) {
		TRACE(ZERO_FILL, page_pfn(p), f->mm->task ? f->mm->task->pid : 0, f->addr);
		COUNT(zero_fill);
		return p;
	}
	page_copy(page_address(p), page_address(old));
	TRACE(COW, page_pfn(old), page_pfn(p), f->addr);
	COUNT(cow_copy);
	return p;
}

/* Put `p` in the place of `old`, which loses the PTE's reference; it may be written to if the
 * vma allows that. PTE locked. */
static void replace_page(struct fault *f, pte_t *pte, struct page *old, struct page *p)
{
	bool dirty = *pte & PTE_DIRTY;

	*pte = 0;
	tlb_flush_page(f->mm, f->addr);
	if (old != zero_page) {
		if (dirty)
			page_set(old, PG_DIRTY);
		page_unmap(old, f->mm, f->addr);
		page_drop(old);
	}
	fault_map_anon(f, pte, p, PTE_DIRTY | (f->vma->flags & VMA_WRITE ? PTE_WRITE : 0));
}

/*
 * A copy takes the place of `old`, which the PTE maps (f->seen). The caller's reference to
 * `old` keeps it while the copy is made, and is dropped: reclaim may take the page out of the
 * PTE meanwhile, which fault_lock_pte() then sees. Sleeps. Returns as every step.
 */
static int copy_page(struct fault *f, struct page *old)
{
	struct page *p = make_copy(f, old);
	pte_t *pte = p ? fault_lock_pte(f) : NULL;

	if (pte) {
		replace_page(f, pte, old, p);
		fault_unlock_pte(f);
		lru_insert(p, lru_rules.fresh);
		fault_done(f, p);
	} else if (p) {
		page_drop(p);
	}
	page_drop(old);
	return p ? OK : fault_no_memory();
}

/*
 * A write fault on a present read-only PTE (f->seen), in a vma that allows writing. Makes the
 * PTE writable and dirty if the memory is shared or cow_page_exclusive(); else holds the page
 * and lets copy_page() put a copy in its place. Returns as every step (fault_steps.h).
 * mmap_lock held, no spinlock; sleeps.
 */
int fault_write_protected(struct fault *f)
{
	struct page *old = pfn_page(pte_pfn(f->seen));
	pte_t *pte = fault_lock_pte(f);

	if (!pte)
		return OK;
	if ((f->vma->flags & VMA_SHARED) || cow_page_exclusive(old)) {
		*pte |= PTE_WRITE | PTE_DIRTY | PTE_ACCESSED;
		tlb_flush_page(f->mm, f->addr);
		fault_unlock_pte(f);
		COUNT(cow_reuse);
		fault_done(f, old);
		return OK;
	}
	page_hold(old);
	fault_unlock_pte(f);
	return copy_page(f, old);
}

/* A copy on write before anybody writes, whatever the vma allows: the anonymous page of a PTE
 * (f->seen) must be nobody else's. Returns as every step. */
int fault_copy_early(struct fault *f)
{
	struct page *old = pfn_page(pte_pfn(f->seen));

	if (!fault_lock_pte(f))
		return OK;
	page_hold(old);
	fault_unlock_pte(f);
	return copy_page(f, old);
}

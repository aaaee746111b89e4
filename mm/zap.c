/*
 * Taking pages away from address spaces: what munmap, madvise and exit come down to.
 */
#include "kernel/panic.h"
#include "mm/rmap.h"
#include "mm/swap.h"
#include "mm/vma.h"

/* One PTE that isn't 0 goes, with what it held. page_table_lock held. */
static void zap_pte(struct mm *mm, vaddr_t addr, pte_t *pte, void *arg)
{
	pte_t old = *pte;
	struct page *p;

	(void)arg;
	*pte = 0;
	if (pte_is_swap(old)) {
		mm->swap_ptes--;
		swap_free(pte_swap_entry(old));
		return;
	}
	KASSERT2(pte_present(old), "pt.2", addr, old);
	tlb_flush_page(mm, addr);
	p = pfn_page(pte_pfn(old));
	if (page_is(p, PG_RESERVED))
		return;			/* the zero page: not counted */
	if (old & PTE_DIRTY)
		page_set(p, PG_DIRTY);
	page_unmap(p, mm, addr);
	page_drop(p);
}

/*
 * Unmap all pages in [start, end), page aligned and inside `v` (else a fault, vma.1): frames
 * lose the PTEs' references, slots their counts. The vma stays, and so do its page tables.
 * mmap_lock held, no spinlock; the page_table_lock is taken for at most ZAP_BATCH_BYTES at
 * a time, others may run in between.
 */
void vma_zap(struct vma *v, vaddr_t start, vaddr_t end)
{
	KASSERT2(start >= v->start && end <= v->end, "vma.1", start, end);
	pte_for_range(v->mm, start, end, zap_pte, NULL);
}

/*
 * Taking pages away from address spaces: what munmap, madvise and exit come down to.
 */
#include "kernel/panic.h"
#include "kernel/thread.h"
#include "mm/rmap.h"
#include "mm/swap.h"
#include "mm/vma.h"

/* So many PTEs are looked at before others may run. */
enum { ZAP_BATCH_BYTES = 256 * PAGE_SIZE };

/* One PTE that isn't 0 goes, with what it held. page_table_lock held. */
static void zap_pte(struct mm *mm, vaddr_t addr, pte_t *pte)
{
	pte_t old = *pte;
	struct page *p;

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

/* The PTEs of [start, end), all in one page table. */
static void zap_in_table(struct mm *mm, vaddr_t start, vaddr_t end)
{
	pte_t *pte;

	spin_lock(&mm->page_table_lock);
	pte = pte_find(mm, start);
	for (vaddr_t addr = start; pte && addr < end; addr += PAGE_SIZE, pte++) {
		if (*pte)
			zap_pte(mm, addr, pte);
	}
	spin_unlock(&mm->page_table_lock);
}

/*
 * Unmap all pages in [start, end), page aligned and inside `v` (else a fault, vma.1): frames
 * lose the PTEs' references, slots their counts. The vma stays, and so do its page tables.
 * mmap_lock held, no spinlock; the page_table_lock is taken for at most ZAP_BATCH_BYTES at
 * a time, others may run in between.
 */
void vma_zap(struct vma *v, vaddr_t start, vaddr_t end)
{
	struct mm *mm = v->mm;
	vaddr_t addr = start;

	KASSERT2(start >= v->start && end <= v->end, "vma.1", start, end);
	while (addr < end) {
		vaddr_t stop = MIN(end, pgtable_next(addr));

		if (!pte_find(mm, addr)) {
			addr = stop;
			continue;
		}
		stop = MIN(stop, addr + ZAP_BATCH_BYTES);
		zap_in_table(mm, addr, stop);
		addr = stop;
		if (addr < end)
			cond_resched();
	}
}

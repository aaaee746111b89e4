/*
 * madvise(MADV_PAGEOUT): the caller says which pages it won't need soon, and reclaim takes
 * them at once, in the way that it takes pages it has chosen itself.
 */
#include "kernel/thread.h"
#include "mm/lru.h"
#include "mm/reclaim.h"
#include "mm/vma.h"

/*
 * Isolate up to RECLAIM_BATCH pages that PTEs of [start, end) map, all in one page table,
 * and forget that they were used here. Returns where to go on. Never sleeps.
 */
static vaddr_t isolate_mapped(struct mm *mm, vaddr_t start, vaddr_t end, struct list *batch)
{
	unsigned taken = 0;
	vaddr_t addr = start;
	pte_t *pte;

	spin_lock(&mm->page_table_lock);
	pte = pte_find(mm, addr);
	for (; pte && addr < end && taken < RECLAIM_BATCH; addr += PAGE_SIZE, pte++) {
		if (!pte_present(*pte) || !lru_isolate_page(pfn_page(pte_pfn(*pte)), batch))
			continue;
		*pte &= ~(pte_t)PTE_ACCESSED;
		tlb_flush_page(mm, addr);
		taken++;
	}
	spin_unlock(&mm->page_table_lock);
	return pte ? addr : end;
}

/*
 * Reclaim the pages that [start, end), inside `v`, maps. Those that others used meanwhile
 * stay; those that must be written are on their way to the disk when this returns. mmap_lock
 * held, no spinlock. Sleeps.
 */
void vma_pageout(struct vma *v, vaddr_t start, vaddr_t end)
{
	while (start < end) {
		struct list batch = LIST_INIT(batch);

		start = isolate_mapped(v->mm, start, MIN(end, pgtable_next(start)), &batch);
		reclaim_isolated(&batch);
		cond_resched();
	}
}

/*
 * Walks over PTEs: all of an address space, by its page directory and not by its vmas, for
 * the audit and for the rare cases that must find an entry nobody keeps a map of; and those
 * of a range, for calls about a part of memory.
 */
#include "kernel/thread.h"
#include "kernel/usercopy.h"
#include "mm/pgtable.h"
#include "mm/vma.h"

enum { PTES_PER_TABLE = PAGE_SIZE / sizeof(pte_t), BATCH_BYTES = 256 * PAGE_SIZE };

/*
 * Call fn for each PTE of `mm` below USER_END that isn't 0, in rising order. fn may
 * change the PTE. Nobody else changes page tables meanwhile: page_table_lock held, or a
 * caller that doesn't sleep. Never sleeps itself.
 */
void pte_for_each(struct mm *mm, void (*fn)(struct mm *mm, vaddr_t addr, pte_t *pte, void *arg),
		  void *arg)
{
	for (uint32_t i = 0; i < USER_END >> TABLE_SHIFT; i++) {
		pte_t *table;

		if (!pte_present(mm->pgdir[i]))
			continue;
		table = page_address(pfn_page(pte_pfn(mm->pgdir[i])));
		for (uint32_t j = 0; j < PTES_PER_TABLE; j++)
			if (table[j])
				fn(mm, i << TABLE_SHIFT | j << PAGE_SHIFT, &table[j], arg);
	}
}

/* The PTEs of [start, end), all in one page table. */
static void walk_in_table(struct mm *mm, vaddr_t start, vaddr_t end,
			  void (*fn)(struct mm *mm, vaddr_t addr, pte_t *pte, void *arg), void *arg)
{
	pte_t *pte;

	spin_lock(&mm->page_table_lock);
	pte = pte_find(mm, start);
	for (vaddr_t addr = start; pte && addr < end; addr += PAGE_SIZE, pte++) {
		if (*pte)
			fn(mm, addr, pte, arg);
	}
	spin_unlock(&mm->page_table_lock);
}

/*
 * Call fn for each PTE of [start, end), page aligned and in user space, that isn't 0, in
 * rising order, with the page_table_lock held: fn may change the PTE, and must not sleep.
 * mmap_lock held, no spinlock. Others may run in between.
 */
void pte_for_range(struct mm *mm, vaddr_t start, vaddr_t end,
		   void (*fn)(struct mm *mm, vaddr_t addr, pte_t *pte, void *arg), void *arg)
{
	vaddr_t addr = start;

	while (addr < end) {
		vaddr_t stop = MIN(end, pgtable_next(addr));

		if (!pte_find(mm, addr)) {
			addr = stop;
			continue;
		}
		stop = MIN(stop, addr + BATCH_BYTES);
		walk_in_table(mm, addr, stop, fn, arg);
		addr = stop;
		if (addr < end)
			cond_resched();
	}
}

/* Page tables below USER_END, the directory not counted. */
uint32_t pte_table_count(const struct mm *mm)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < USER_END >> TABLE_SHIFT; i++)
		n += pte_present(mm->pgdir[i]);
	return n;
}

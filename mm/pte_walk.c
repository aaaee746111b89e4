/*
 * Every PTE of an address space, by its page directory and not by its vmas: for the
 * audit and for the rare cases that must find an entry nobody keeps a map of.
 */
#include "kernel/usercopy.h"
#include "mm/pgtable.h"
#include "mm/vma.h"

enum { PTES_PER_TABLE = PAGE_SIZE / sizeof(pte_t) };

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

/* Page tables below USER_END, the directory not counted. */
uint32_t pte_table_count(const struct mm *mm)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < USER_END >> TABLE_SHIFT; i++)
		n += pte_present(mm->pgdir[i]);
	return n;
}

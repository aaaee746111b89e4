/*
 * The CPU's view of page tables: which directory is loaded, and what it must forget.
 *
 * A thread of the kernel runs on whatever mm was loaded before it; so the loaded one is
 * not always the running thread's, and pgtable_leave() comes before an mm is freed.
 */
#include "kernel/panic.h"
#include "mm/pgtable.h"
#include "mm/vma.h"

struct mm *pgtable_loaded;		/* NULL: the kernel's own directory */

static void load_directory(const pte_t *pgdir)
{
	paddr_t pa = address_paddr(pgdir);

	__asm__ volatile("movl %0, %%cr3" : : "r"(pa) : "memory");
}

/* The PTE of `addr` in `mm` has changed. */
void tlb_flush_page(struct mm *mm, vaddr_t addr)
{
	if (mm == pgtable_loaded)
		__asm__ volatile("invlpg %0" : : "m"(*(char *)(uintptr_t)addr) : "memory");
}

/* Many PTEs of `mm`, or its directory, have changed. */
void tlb_flush_mm(struct mm *mm)
{
	if (mm == pgtable_loaded)
		load_directory(mm->pgdir);
}

/* `mm` is going away: if it is loaded, load the kernel's own directory. */
void pgtable_leave(struct mm *mm)
{
	if (mm != pgtable_loaded)
		return;
	pgtable_loaded = NULL;
	load_directory(kernel_pgdir);
}

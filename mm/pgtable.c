/*
 * Page directories and page tables of address spaces. The kernel half is the same in all
 * of them, entry by entry, from boot on; what an mm owns are its directory and the tables
 * of the user half (PG_TABLE).
 *
 * Tables come and go under mmap_lock and the page_table_lock, so either suffices to look
 * one up. A table is freed when no vma is left in its 4 MiB, or with the mm.
 */
#include "kernel/abi/errno.h"
#include "kernel/panic.h"
#include "kernel/string.h"
#include "kernel/usercopy.h"
#include "mm/frame.h"
#include "mm/pgtable.h"
#include "mm/vma.h"

#define TABLE_BYTES	(1u << TABLE_SHIFT)
#define USER_TABLES	(USER_END >> TABLE_SHIFT)
#define TABLE_BITS	(PTE_PRESENT | PTE_WRITE | PTE_USER)

/* A zeroed frame marked PG_TABLE. NULL without memory. Sleeps. */
static struct page *table_alloc(void)
{
	struct page *p = page_alloc(GFP_KERNEL | GFP_ZERO | GFP_NOFAIL_SMALL, 0);

	if (p)
		page_set(p, PG_TABLE);
	return p;
}

static void table_free(struct page *p)
{
	page_clear(p, PG_TABLE);
	page_drop(p);
}

/* Give `mm` a page directory with the kernel's half and nothing else. -ENOMEM. Sleeps. */
int pgtable_create(struct mm *mm)
{
	struct page *p = table_alloc();

	if (!p)
		return -ENOMEM;
	mm->pgdir = page_address(p);
	memcpy(mm->pgdir + USER_TABLES, kernel_pgdir + USER_TABLES,
	       (TABLE_ENTRIES - USER_TABLES) * sizeof(pte_t));
	return OK;
}

/* Free the directory and all user tables, which map nothing any more (mm.2: rss is 0).
 * Nobody uses the mm. */
void pgtable_destroy(struct mm *mm)
{
	KASSERT2(mm->rss == 0 && mm->swap_ptes == 0, "mm.2", mm->rss, mm->swap_ptes);
	for (unsigned i = 0; i < USER_TABLES; i++) {
		if (pte_present(mm->pgdir[i]))
			table_free(pfn_page(pte_pfn(mm->pgdir[i])));
	}
	table_free(address_page(mm->pgdir));
	mm->pgdir = NULL;
}

/* The PTE of `addr`, or NULL if there is no page table for it. Never sleeps. */
pte_t *pte_find(struct mm *mm, vaddr_t addr)
{
	return pte_look_up(mm->pgdir, addr);
}

/* Give `addr` a page table, all zeros. -ENOMEM. Sleeps. */
static int table_insert(struct mm *mm, vaddr_t addr)
{
	struct page *p = table_alloc();

	if (!p)
		return -ENOMEM;
	spin_lock(&mm->page_table_lock);
	mm->pgdir[addr >> TABLE_SHIFT] = page_paddr(p) | TABLE_BITS;
	spin_unlock(&mm->page_table_lock);
	return OK;
}

/*
 * The PTE of `addr`, which lies in user space (else a fault, pt.1); in a new, empty page table
 * if there was none. Returns NULL without memory. mmap_lock held (or the mm is nobody else's
 * yet), no spinlock. Sleeps.
 */
pte_t *pte_prepare(struct mm *mm, vaddr_t addr)
{
	pte_t *pte = pte_look_up(mm->pgdir, addr);

	KASSERT2(addr < USER_END, "pt.1", addr, 0);
	if (!pte && table_insert(mm, addr) == OK)
		pte = pte_look_up(mm->pgdir, addr);
	return pte;
}

/* Where the next page table after the one of `addr` begins; USER_END at most. */
vaddr_t pgtable_next(vaddr_t addr)
{
	return (addr & ~(TABLE_BYTES - 1)) + TABLE_BYTES;
}

/*
 * Free the page tables that lie wholly in [start, end): the caller knows that no vma is
 * there any more, so they map nothing. The directory's entries go first, under the
 * page_table_lock; the TLB is flushed once if any went. mmap_lock held; doesn't sleep.
 */
void pgtable_trim(struct mm *mm, vaddr_t start, vaddr_t end)
{
	unsigned first = (start + TABLE_BYTES - 1) >> TABLE_SHIFT;
	unsigned last = end >> TABLE_SHIFT;
	bool freed = false;

	for (unsigned i = first; i < last; i++) {
		pte_t entry = mm->pgdir[i];

		if (!pte_present(entry))
			continue;
		spin_lock(&mm->page_table_lock);
		mm->pgdir[i] = 0;
		spin_unlock(&mm->page_table_lock);
		table_free(pfn_page(pte_pfn(entry)));
		freed = true;
	}
	if (freed)
		tlb_flush_mm(mm);	/* the CPU may have cached the directory's entry */
}

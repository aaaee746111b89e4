/*
 * i386 page tables, two levels. All PTE changes: RANK_PAGE_TABLE of the mm held.
 *
 * pt.1  a present user PTE points to a frame that is in RAM and not free
 * pt.2  a PTE that isn't present is 0 or a swap entry of a slot in use
 * pt.3  a PTE that maps a page is pte_is_none() exactly if its vma has no VMA_PROT
 */
#ifndef MM_PGTABLE_H
#define MM_PGTABLE_H

#include "kernel/types.h"
#include "mm/page.h"

struct mm;

enum pte_bit {
	PTE_PRESENT = 0x001, PTE_WRITE = 0x002, PTE_USER = 0x004,
	PTE_ACCESSED = 0x020, PTE_DIRTY = 0x040, PTE_LARGE = 0x080, PTE_GLOBAL = 0x100,
};
/* A PTE maps a page if it is present, or if its vma allows no access at all (PROT_NONE): then
 * PTE_PRESENT and PTE_WRITE are clear, PTE_USER is set, and all else is as it was. */
static inline bool  pte_is_none(pte_t e) { return e && !(e & (PTE_PRESENT | PTE_WRITE)); }
static inline bool  pte_present(pte_t e) { return (e & PTE_PRESENT) || pte_is_none(e); }
static inline pfn_t pte_pfn(pte_t e) { return e >> PAGE_SHIFT; }
static inline pte_t pte_make(pfn_t pfn, uint32_t bits) { return pfn << PAGE_SHIFT | bits; }

/* A swap entry names a slot of an area; it is never 0 and never looks present. */
typedef struct { uint32_t v; } swap_entry;
enum { SWAP_AREAS_MAX = 8 };
static inline swap_entry swap_entry_make(unsigned area, uint32_t slot)
{
	return (swap_entry){ slot << 8 | area << 2 | 2 };
}
static inline unsigned swap_entry_area(swap_entry e) { return e.v >> 2 & 31; }
static inline uint32_t swap_entry_slot(swap_entry e) { return e.v >> 8; }
static inline bool pte_is_swap(pte_t e) { return (e & 3) == 2; }
static inline swap_entry pte_swap_entry(pte_t e) { return (swap_entry){ e }; }
static inline pte_t pte_from_swap(swap_entry e) { return e.v; }

int  pgtable_create(struct mm *mm);		/* kernel half shared. -ENOMEM. Sleeps */
void pgtable_destroy(struct mm *mm);		/* user PTEs are all gone already */
enum { TABLE_SHIFT = 22, TABLE_ENTRIES = 1024 };
/* The PTE of `addr` in the tables of `pgdir`, or NULL if there is no page table for it. */
static inline pte_t *pte_look_up(const pte_t *pgdir, vaddr_t addr)
{
	pte_t entry = pgdir[addr >> TABLE_SHIFT];

	if (!pte_present(entry))
		return NULL;
	return (pte_t *)paddr_address(entry & PAGE_MASK) +
	       (addr >> PAGE_SHIFT & (TABLE_ENTRIES - 1));
}
/* The same of `mm`. RANK_PAGE_TABLE. */
pte_t *pte_find(struct mm *mm, vaddr_t addr);
/* The same, and make the table if there is none. NULL without memory. Sleeps; call it
 * before taking the lock. */
pte_t *pte_prepare(struct mm *mm, vaddr_t addr);
/* Free the page tables that lie wholly in [start, end): no vma is there any more, so they
 * map nothing. mmap_lock held. */
void pgtable_trim(struct mm *mm, vaddr_t start, vaddr_t end);
/* Every PTE that isn't 0 (mm/pte_walk.c); and how many page tables there are. */
void pte_for_each(struct mm *mm, void (*fn)(struct mm *mm, vaddr_t addr, pte_t *pte, void *arg),
		  void *arg);
uint32_t pte_table_count(const struct mm *mm);
/* Each PTE of [start, end) that isn't 0; takes the page_table_lock. Sleeps in between. */
void pte_for_range(struct mm *mm, vaddr_t start, vaddr_t end,
		   void (*fn)(struct mm *mm, vaddr_t addr, pte_t *pte, void *arg), void *arg);
/* Where the next page table after the one of `addr` begins; USER_END at most. */
vaddr_t pgtable_next(vaddr_t addr);
void tlb_flush_page(struct mm *mm, vaddr_t addr);
/* Was the page that the PTE of `addr` maps used since it was last asked? The PTE is made old.
 * page_table_lock held. */
static inline bool pte_test_and_clear_young(struct mm *mm, vaddr_t addr, pte_t *pte)
{
	if (!(*pte & PTE_ACCESSED))
		return false;
	*pte &= ~(pte_t)PTE_ACCESSED;
	tlb_flush_page(mm, addr);
	return true;
}
void tlb_flush_mm(struct mm *mm);
/* The mm that user addresses mean; NULL: the kernel's own directory is loaded. Set by the thread
 * switch, with interrupts off (kernel/switch.h). */
extern struct mm *pgtable_loaded;
/* `mm` is going away: if its page directory is loaded, load the kernel's own. */
void pgtable_leave(struct mm *mm);

/* Kernel stacks, with a hole below each. Returns the top; NULL without memory. Sleeps. */
void *kstack_alloc(void);
void  kstack_free(void *top);
/* Frame number n of the stack, from the top; 0 is none (the boot thread's). */
pfn_t kstack_frame(const void *top, unsigned n);
/* If `addr` lies in a guard hole: the stack's name for the panic; else NULL. */
const char *kstack_guard_hit(vaddr_t addr);
/* True if the kernel stack, boot stack or fault stack that holds `addr` is mapped. */
bool kstack_contains(uint32_t addr);
/* The linear map, the kernel's text read-only, the stacks' page tables: before
 * frame_init(), from frames behind the kernel (boot_frame_alloc). */
void linear_map_init(void);
extern pte_t *kernel_pgdir;		/* entries from KERNEL_BASE up never change again */

#endif

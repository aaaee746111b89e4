/* Inside mm/: what the steps of one page fault share (fault.c, cow.c, swapin.c). */
#ifndef MM_FAULT_STEPS_H
#define MM_FAULT_STEPS_H

#include "kernel/task.h"
#include "kernel/trace.h"
#include "mm/fault.h"
#include "mm/rmap.h"
#include "mm/vma.h"

/*
 * One fault. Every step is entered with mmap_lock held and no spinlock, may sleep, and
 * returns OK or why the access can't be. OK also means "the PTE isn't what was seen any
 * more": the access is tried again, and faults again if need be.
 */
struct fault {
	struct mm	 *mm;
	struct vma	 *vma;		/* holds addr and allows the access */
	vaddr_t		  addr;		/* of the page */
	pte_t		 *pte;		/* its PTE; the table stays while mmap_lock is held */
	enum fault_access access;
	pte_t		  seen;		/* what the PTE was */
};

static inline int32_t fault_pid(const struct fault *f)
{
	return f->mm->task ? f->mm->task->pid : 0;
}

static inline void fault_unlock_pte(const struct fault *f)
{
	spin_unlock(&f->mm->page_table_lock);
}

/* Take the page_table_lock and return the PTE if it is as seen (but for accessed and dirty
 * bits); else NULL, without the lock. After every sleep. */
static inline pte_t *fault_lock_pte(const struct fault *f)
{
	uint32_t ignore = pte_present(f->seen) ? PTE_ACCESSED | PTE_DIRTY : 0;

	spin_lock(&f->mm->page_table_lock);
	if (((*f->pte ^ f->seen) & ~ignore) == 0)
		return f->pte;
	fault_unlock_pte(f);
	return NULL;
}

/* Trace the end of the fault. */
static inline void fault_done(const struct fault *f, const struct page *p)
{
	TRACE(FAULT_DONE, fault_pid(f), f->addr, page_pfn(p));
}

/* Set the PTE, locked, to map the anonymous `p`, whose reference it takes over. */
static inline void fault_map_anon(const struct fault *f, pte_t *pte, struct page *p,
				  uint32_t bits)
{
	*pte = vma_pte(f->vma, pte_make(page_pfn(p),
					PTE_PRESENT | PTE_USER | PTE_ACCESSED | bits));
	page_map_anon(p, f->vma, f->addr);
}

/* No memory: -EINTR if that is because the caller was killed. */
int fault_no_memory(void);
int fault_fill_zero(struct fault *f);		/* fault.c: a write where nothing is */
/* The fault had to ask a disk. */
void fault_count_major(void);
int fault_write_protected(struct fault *f);	/* cow.c: a write to a read-only PTE */
int fault_copy_early(struct fault *f);		/* cow.c: f->seen's page, whatever is allowed */
int fault_swapped(struct fault *f);		/* swapin.c: the PTE is a swap entry */

/* Parts of them: whether a write may have the page as it is (cow.c); what a page that came
 * back may do and whether its slot goes (swapin.c). */
bool cow_page_exclusive(struct page *p);
uint32_t swapin_settle_slot(const struct fault *f, struct page *p, swap_entry e);

#endif

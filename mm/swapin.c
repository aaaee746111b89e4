/*
 * Swap entries become pages again: on a fault, and for swapoff.
 *
 * The page is looked up or read (swap_read), locked, and looked at again: while we slept
 * it may have left the cache. Its lock then keeps slot and page together until the PTE is
 * set. The slot's rules (free it now, or keep it for the next swap-out) are the policy's.
 */
#include "kernel/abi/errno.h"
#include "kernel/counters.h"
#include "kernel/panic.h"
#include "kernel/printk.h"
#include "kernel/task.h"
#include "kernel/thread.h"
#include "mm/fault_steps.h"
#include "mm/lru.h"
#include "mm/rmap.h"
#include "mm/swap.h"
#include "mm/swap/rules.h"

/* So often swapoff tries one entry whose page is taken away again and again. */
enum { UNUSE_TRIES = 100 };

/* Did the PTE change since it was seen? */
static bool entry_gone(const struct fault *f)
{
	pte_t *pte = fault_lock_pte(f);

	if (pte)
		fault_unlock_pte(f);
	return !pte;
}

/* Does the locked page still hold the contents of `e`? */
static bool holds_entry(const struct page *p, swap_entry e)
{
	return page_is(p, PG_SWAPCACHE) && p->private == e.v;
}

/* The contents of `e` couldn't be read. Those who need them are told, nobody else. */
static int read_failed(const struct fault *f, swap_entry e)
{
	if (entry_gone(f))
		return OK;
	printk("swap: slot %u of area %u can't be read: pid %d loses page %#x\n",
	       swap_entry_slot(e), swap_entry_area(e), f->mm->task ? f->mm->task->pid : 0,
	       f->addr);
	return -EIO;
}

/*
 * The PTE's count of slot `e` was given back and `p`, locked, is mapped: may this PTE write at
 * once, and does the slot go? Returns the bits PTE_WRITE | PTE_DIRTY if the fault is a write
 * and no other PTE leads to page or slot, else 0; the slot goes if that holds and the policy
 * says so for reads or writes. Page and page_table_lock held; never sleeps. (Always inline.)
 */
ALWAYS_INLINE uint32_t swapin_settle_slot(const struct fault *f, struct page *p, swap_entry e)
{
	bool write = f->access == FAULT_WRITE;

	if (p->mapcount != 1 || (holds_entry(p, e) && swap_count(e) != 1))
		return 0;
	if (swap_rule_frees(write ? SLOT_WRITE : SLOT_READ))
		swap_cache_try_free(p);
	return write ? PTE_WRITE | PTE_DIRTY : 0;
}

/* Map the locked page `p` of `e`, or `copy` of it if there is one. Their references stay
 * the caller's. */
static int map_swapped(struct fault *f, struct page *p, swap_entry e, struct page *copy)
{
	struct page *target = copy ? copy : p;
	pte_t *pte = fault_lock_pte(f);

	if (!pte)
		return OK;
	if (copy) {
		page_copy(page_address(copy), page_address(p));
		page_set(copy, PG_UPTODATE | PG_DIRTY);
	}
	page_hold(target);
	fault_map_anon(f, pte, target, 0);
	f->mm->swap_ptes--;
	swap_free(e);
	*pte |= swapin_settle_slot(f, target, e);
	fault_unlock_pte(f);
	if (copy)
		lru_insert(copy, lru_rules.fresh);
	else if (!lru_rules.returns_unused)
		lru_mark_accessed(p);
	fault_done(f, target);
	return OK;
}

/* `p`, referenced, was found for `e`: lock it, look again, map it. Sleeps. */
static int use_page(struct fault *f, struct page *p, swap_entry e)
{
	struct page *copy = NULL;
	int error = OK;

	page_lock(p);
	if (swap_rules.write_ends_first)
		page_wait_writeback(p);
	if (holds_entry(p, e) && !rmap_page_fits(p, f->vma, f->addr)) {
		page_unlock(p);		/* no allocation under a page lock */
		copy = page_alloc(GFP_USER, 0);
		if (!copy)
			return fault_no_memory();
		page_lock(p);
	}
	if (holds_entry(p, e)) {
		if (!page_is(p, PG_UPTODATE))
			error = read_failed(f, e);
		else if (copy || rmap_page_fits(p, f->vma, f->addr))
			error = map_swapped(f, p, e, copy);
	}
	page_unlock(p);
	if (copy)
		page_drop(copy);
	return error;
}

/* Replace the swap entry f->seen by its page. *major is set if the disk was asked. */
static int swap_in(struct fault *f, bool *major)
{
	swap_entry e = pte_swap_entry(f->seen);
	struct page *p;
	int error;

	if (rmap_vma_prepare(f->vma) < 0)
		return fault_no_memory();
	p = swap_read(e, f->vma, f->addr, major);
	if (!p)
		return entry_gone(f) ? OK : fault_no_memory();
	error = use_page(f, p, e);
	page_drop(p);
	return error;
}

/* A fault on a swap entry. Returns as every step (fault_steps.h); -EIO: the contents are
 * lost. A write to a shared page maps it read-only first, and the next fault copies. */
int fault_swapped(struct fault *f)
{
	bool major = false;
	int error = swap_in(f, &major);

	if (major)
		fault_count_major();
	return error;
}

/* ---- swapoff ---- */

/* The first swap entry of `area` at or above *addr in `v`: *addr is set to its place, `f` to
 * its PTE. */
static bool find_entry(struct vma *v, unsigned area, vaddr_t *addr, struct fault *f)
{
	struct mm *mm = v->mm;
	bool found = false;

	spin_lock(&mm->page_table_lock);
	while (*addr < v->end) {
		pte_t *pte = pte_find(mm, *addr);

		if (!pte) {
			*addr = pgtable_next(*addr);
			continue;
		}
		if (pte_is_swap(*pte) && swap_entry_area(pte_swap_entry(*pte)) == area) {
			f->pte = pte;
			f->seen = *pte;
			found = true;
			break;
		}
		*addr += PAGE_SIZE;
	}
	spin_unlock(&mm->page_table_lock);
	return found;
}

/* All entries of `area` in one vma. */
static int unuse_vma(struct vma *v, unsigned area)
{
	struct fault f = { .mm = v->mm, .vma = v, .access = FAULT_READ };
	vaddr_t addr = v->start;
	unsigned tries = 0;
	bool major = false;
	int error;

	while (v->mm->swap_ptes > 0 && find_entry(v, area, &addr, &f)) {
		tries = f.addr == addr ? tries + 1 : 0;
		f.addr = addr;
		if (current->killed || v->mm->dying || tries > UNUSE_TRIES)
			return -EINTR;
		if (swap_off_called_off(area))
			return -ENOMEM;
		error = swap_in(&f, &major);
		if (error)
			return error;
		cond_resched();
	}
	return OK;
}

/*
 * Replace all swap entries of `area` in `mm` by pages, for swapoff. 0, -ENOMEM, -EIO, or
 * -EINTR: the caller was killed, or the mm is going away: then it has no entries soon. The
 * mm isn't freed before this returns, but perhaps right after. Takes mmap_lock; sleeps.
 */
int mm_unuse(struct mm *mm, unsigned area)
{
	int error = OK;
	struct vma *v;

	mm_pin(mm);
	mutex_lock(&mm->mmap_lock);
	list_for_each(v, &mm->vmas, link) {
		error = unuse_vma(v, area);
		if (error)
			break;
	}
	if (error == -EINTR && !current->killed)
		error = OK;
	mutex_unlock(&mm->mmap_lock);
	mm_unpin(mm);
	return error;
}

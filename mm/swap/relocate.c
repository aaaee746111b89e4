/*
 * After a write error, and from an area that swapoff empties: move a page to another slot.
 * Its PTEs are swap entries by then, or an object's tree has one, and no reverse map finds
 * those; so all page tables and all objects are searched. That is slow and rare, and nothing
 * is lost by it.
 */
#include "kernel/panic.h"
#include "kernel/printk.h"
#include "mm/object.h"
#include "mm/swap/area.h"
#include "mm/vma.h"

struct replacement {
	swap_entry from, to;
	unsigned   found;
};

static void count_entry(struct mm *mm, vaddr_t addr, pte_t *pte, void *arg)
{
	struct replacement *r = arg;

	(void)mm;
	(void)addr;
	r->found += *pte == pte_from_swap(r->from);
}

static void replace_entry(struct mm *mm, vaddr_t addr, pte_t *pte, void *arg)
{
	struct replacement *r = arg;

	(void)mm;
	(void)addr;
	if (*pte == pte_from_swap(r->from))
		*pte = pte_from_swap(r->to);
}

static swap_entry count_word(swap_entry e, void *arg)
{
	struct replacement *r = arg;

	r->found += e.v == r->from.v;
	return e;
}

static swap_entry replace_word(swap_entry e, void *arg)
{
	const struct replacement *r = arg;

	return e.v == r->from.v ? r->to : e;
}

/* All mms and objects, each under its lock. The kernel doesn't switch threads meanwhile. */
static void search(struct replacement *r,
		   void (*fn)(struct mm *mm, vaddr_t addr, pte_t *pte, void *arg),
		   swap_entry (*word_fn)(swap_entry e, void *arg))
{
	struct mm *mm;

	objects_for_each_entry(word_fn, r);

	list_for_each(mm, &mm_all, all_link) {
		spin_lock(&mm->page_table_lock);
		pte_for_each(mm, fn, r);
		spin_unlock(&mm->page_table_lock);
	}
}

/* The page and all `holders` entries go over; a slot that failed is bad from now on. */
static void commit(struct page *p, const struct replacement *r, unsigned holders)
{
	uint32_t from = swap_entry_slot(r->from), to = swap_entry_slot(r->to);

	spin_lock(&swap_lock);
	slot_set(swap_entry_to_area(r->to), to, (uint16_t)(holders + 1), p);
	slot_set(swap_entry_to_area(r->from), from, 0, NULL);
	if (page_is(p, PG_ERROR))
		slots_mark_bad(swap_entry_to_area(r->from), from);
	p->private = r->to.v;
	page_clear(p, PG_ERROR);
	page_set(p, PG_DIRTY);
	spin_unlock(&swap_lock);
}

/*
 * Move `p`, whose slot can't be written or leaves, to another slot, in all PTEs and object entries
 * too. It is locked, in the swap cache, mapped nowhere, and not under write-back. Returns true,
 * or false if there is no slot, or if not every holder of the slot is found: then the page stays
 * where it is. Takes page_table_locks and swap_lock; never sleeps.
 */
bool swap_relocate(struct page *p)
{
	struct replacement r = { .from = { p->private } };
	unsigned holders = swap_count(r.from) - 1;

	KASSERT2(page_is(p, PG_LOCKED) && p->mapcount == 0, "swap.4", page_pfn(p), p->private);
	if (swap_slots_free() == 0)
		return false;		/* before all page tables are searched in vain */
	search(&r, count_entry, count_word);
	if (r.found != holders || !swap_slot_alloc(&r.to))
		return false;
	search(&r, replace_entry, replace_word);
	if (page_is(p, PG_ERROR))
		printk("swap: slot %u of %s is bad; its page goes to slot %u of %s\n",
		       swap_entry_slot(r.from), swap_entry_to_area(r.from)->dev->name,
		       swap_entry_slot(r.to), swap_entry_to_area(r.to)->dev->name);
	commit(p, &r, holders);
	return true;
}

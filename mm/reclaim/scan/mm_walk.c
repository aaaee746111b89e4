/*
 * The way through an address space for policies that have no reverse map: Linux 2.2 and 2.4
 * looked for victims PTE by PTE (docs/history.md 6.8). Which mm is next, and what is done with a
 * PTE, is the policy's.
 */
#include "mm/reclaim/policies.h"

/* Visit the PTEs of `v` from *addr on, which then says where to go on. False: visit() said so.
 * page_table_lock held. */
static bool walk_vma(struct vma *v, vaddr_t *addr, mm_visit visit, void *arg)
{
	while (*addr < v->end) {
		vaddr_t here = *addr;
		pte_t *pte = pte_find(v->mm, here);
		struct page *p;

		*addr = pte ? here + PAGE_SIZE : MIN(pgtable_next(here), v->end);
		if (!pte || !pte_present(*pte))
			continue;
		p = pfn_page(pte_pfn(*pte));
		if (!page_is(p, PG_RESERVED) && !visit(p, v, here, pte, arg))
			return false;
	}
	return true;
}

/*
 * Visit each PTE of `mm` that maps a counted page, in order of addresses from mm->swap_address
 * on, vmas that are locked in memory passed over, until `visit` returns false: it may have
 * changed the PTE, must not sleep, and the walk goes on behind it next time. Returns true if
 * the end of the address space was reached; the next walk then begins at its start. Takes the
 * page_table_lock; no spinlock held; never sleeps.
 */
bool mm_walk(struct mm *mm, mm_visit visit, void *arg)
{
	vaddr_t addr = mm->swap_address;
	bool on = true;
	struct vma *v;

	spin_lock(&mm->page_table_lock);
	for (v = vma_find(mm, addr); v && on; v = vma_find(mm, addr)) {
		addr = MAX(addr, v->start);
		if (v->flags & VMA_LOCKED)
			addr = v->end;
		else
			on = walk_vma(v, &addr, visit, arg);
	}
	mm->swap_address = on ? 0 : addr;
	spin_unlock(&mm->page_table_lock);
	return on;
}

uint32_t mm_count(void)
{
	uint32_t count = 0;
	struct mm *mm;

	list_for_each(mm, &mm_all, all_link)
		count++;
	return count;
}

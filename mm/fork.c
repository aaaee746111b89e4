/*
 * fork: an address space becomes two that share all pages, copy on write.
 *
 * The child's vmas are entered, also into the reverse map, before any PTE of theirs is
 * set: reclaim may run while fork sleeps, and must find every PTE.
 */
#include "kernel/abi/errno.h"
#include "kernel/panic.h"
#include "kernel/thread.h"
#include "mm/rmap.h"
#include "mm/swap.h"
#include "mm/vma.h"

/*
 * fork: one PTE of the parent that isn't 0 becomes one of `child` at `addr`. A swap entry gains
 * a count of its slot. A page gains a reference and a PTE (mapcount, rss, the reverse
 * map), unless it is reserved; the child's PTE starts unaccessed, and both lose the right to
 * write if the memory is private. Returns OK, or -EAGAIN: the slot's count is at its limit.
 * Both page_table_locks held; never sleeps. (Always inline: it has a budget.)
 */
ALWAYS_INLINE int fork_copy_pte(struct vma *child, vaddr_t addr, pte_t *from, pte_t *to)
{
	struct page *p;

	if (pte_is_swap(*from)) {
		int error = swap_dup(pte_swap_entry(*from));

		if (error)
			return error;
		child->mm->swap_ptes++;
		*to = *from;
		return OK;
	}
	if (!(child->flags & VMA_SHARED))
		*from &= ~(pte_t)PTE_WRITE;
	*to = *from & ~(pte_t)PTE_ACCESSED;
	p = pfn_page(pte_pfn(*from));
	if (page_is(p, PG_RESERVED))
		return OK;
	page_hold(p);
	p->mapcount++;
	child->mm->rss++;
	if (page_is(p, PG_ANON))
		rmap_page_dup(p, child, addr);
	return OK;
}

/* The PTEs of [start, end), all in one page table. Sleeps before it locks. */
static int copy_table(struct vma *child, struct vma *parent, vaddr_t start, vaddr_t end)
{
	pte_t *from, *to = pte_prepare(child->mm, start);
	int error = OK;

	if (!to)
		return -ENOMEM;
	spin_lock(&parent->mm->page_table_lock);
	spin_lock_nested(&child->mm->page_table_lock);
	from = pte_find(parent->mm, start);
	for (vaddr_t addr = start; addr < end && !error; addr += PAGE_SIZE, from++, to++) {
		if (*from)
			error = fork_copy_pte(child, addr, from, to);
	}
	spin_unlock(&child->mm->page_table_lock);
	spin_unlock(&parent->mm->page_table_lock);
	return error;
}

/* All PTEs of a vma; page tables are made only where the parent has them. */
static int copy_pages(struct vma *child, struct vma *parent)
{
	vaddr_t addr = parent->start;

	while (addr < parent->end) {
		vaddr_t stop = MIN(parent->end, pgtable_next(addr));

		if (pte_find(parent->mm, addr)) {
			int error = copy_table(child, parent, addr, stop);

			if (error)
				return error;
			if (stop < parent->end)
				cond_resched();
		}
		addr = stop;
	}
	return OK;
}

/* One vma of the parent, with its promise and its pages, but not its lock: what was apart for
 * that alone becomes one. */
static int fork_vma(struct mm *mm, struct vma *parent)
{
	struct vma *child;
	int error;

	if ((parent->flags & VMA_ACCOUNT) && commit_ask(mm, vma_pages(parent)))
		return -ENOMEM;
	child = vma_create(mm, parent->start, parent->end,
			   parent->flags & ~(uint32_t)VMA_LOCKED);
	if (!child) {
		if (parent->flags & VMA_ACCOUNT)
			commit_release(mm, vma_pages(parent));
		return -ENOMEM;
	}
	child->pgoff = parent->pgoff;
	if (parent->object)
		vma_set_object(child, parent->object, parent->object_page);
	error = rmap_vma_fork(child, parent);
	vma_insert(child);
	child = vma_merge_around(child);	/* before anybody else runs: vma.3 */
	return error ? error : copy_pages(child, parent);
}

/*
 * A copy on write of `from`, whose mmap_lock is taken: vmas, PTEs, counts of slots, and the
 * bounds of the heap. Returns it, or NULL and *error: -ENOMEM, or -EAGAIN when the count
 * of a slot would overflow; nothing is left then but PTEs of the parent that will fault
 * once more. The parent's TLB entries are flushed, since they may allow writing. Sleeps.
 */
struct mm *mm_fork(struct mm *from, int *error)
{
	struct mm *mm = mm_create_empty(from);
	struct vma *v;

	*error = -ENOMEM;
	if (!mm)
		return NULL;
	mutex_lock(&from->mmap_lock);
	mm->heap_start = from->heap_start;
	mm->heap_end = from->heap_end;
	*error = OK;
	list_for_each(v, &from->vmas, link) {
		*error = fork_vma(mm, v);
		if (*error)
			break;
	}
	tlb_flush_mm(from);
	mutex_unlock(&from->mmap_lock);
	mm->max_rss = mm->rss;
	if (!*error)
		return mm;
	mm_destroy(mm);
	return NULL;
}

/*
 * Address spaces as a whole: made, filled by exec, destroyed.
 */
#include "kernel/abi/errno.h"
#include "kernel/panic.h"
#include "kernel/string.h"
#include "kernel/task.h"
#include "kernel/thread.h"
#include "mm/fault.h"
#include "mm/object.h"
#include "mm/rmap.h"
#include "mm/slab.h"
#include "mm/vma.h"

/* So often mm_write() looks for a page that reclaim takes away under its hands. */
enum { WRITE_TRIES = 16 };

SLAB_CACHE(mm_cache, "mm", struct mm);

struct list mm_all = LIST_INIT(mm_all);
static struct waitq unpinned = WAITQ_INIT(unpinned);

/* Keep `mm` from being freed while the caller sleeps. */
void mm_pin(struct mm *mm)
{
	mm->pins++;
}

void mm_unpin(struct mm *mm)
{
	KASSERT2(mm->pins > 0, "mm: pinned", mm->pins, 0);
	if (--mm->pins == 0)
		waitq_wake_all(&unpinned);
}

/* An address space without vmas; `parent` is whose copy it will be, or NULL. NULL without
 * memory. Sleeps. */
struct mm *mm_create_empty(struct mm *parent)
{
	struct mm *mm = slab_alloc(&mm_cache, GFP_KERNEL | GFP_NOFAIL_SMALL | GFP_ZERO);

	if (!mm)
		return NULL;
	mutex_init(&mm->mmap_lock, RANK_MMAP);
	spin_init(&mm->page_table_lock, RANK_PAGE_TABLE);
	list_init(&mm->vmas);
	limits_init(mm, parent);
	if (pgtable_create(mm) < 0)
		goto free_mm;
	if (rmap_mm_create(mm, parent) < 0)
		goto free_pgtable;
	list_insert_tail(&mm_all, &mm->all_link);
	return mm;
free_pgtable:
	pgtable_destroy(mm);
free_mm:
	slab_free(&mm_cache, mm);
	return NULL;
}

/* An address space for exec. NULL without memory. Sleeps. */
struct mm *mm_create(void)
{
	return mm_create_empty(NULL);
}

/*
 * Unmap everything and free `mm`, which no thread uses any more. A swapoff that works on
 * it gives up first. Its task, if it has one, forgets it when nothing is left of it but
 * its page tables. Sleeps (resched).
 */
void mm_destroy(struct mm *mm)
{
	mm->dying = true;
	wait_event(&unpinned, mm->pins == 0, SLEEP_UNKILLABLE, 0, "swapoff");
	mutex_lock(&mm->mmap_lock);
	while (!list_empty(&mm->vmas)) {
		struct vma *v = list_first(&mm->vmas, struct vma, link);

		vma_zap(v, v->start, v->end);
		if (v->flags & VMA_ACCOUNT)
			commit_release(mm, vma_pages(v));
		vma_destroy(v);
		cond_resched();
	}
	mutex_unlock(&mm->mmap_lock);
	KASSERT2(mm->total_pages == 0 && mm->committed == 0, "mm.1", mm->total_pages,
		 mm->committed);
	list_remove(&mm->all_link);	/* not before: the audit sweeps all PTEs */
	if (mm->task && mm->task->mm == mm)
		mm->task->mm = NULL;	/* an interrupt may look (mm/swap_map.c): not at freed tables */
	rmap_mm_destroy(mm);
	pgtable_leave(mm);
	pgtable_destroy(mm);
	slab_free(&mm_cache, mm);
}

/*
 * The page at `addr`, writable and with a reference. It is made so by a fault; reclaim could
 * take it away again before it is held, so this is tried a few times. NULL and *error.
 */
static struct page *writable_page(struct mm *mm, vaddr_t addr, int *error)
{
	for (unsigned i = 0; i < WRITE_TRIES; i++) {
		struct page *p = NULL;
		pte_t *pte;

		*error = mm_fault(mm, addr, FAULT_WRITE);
		if (*error)
			return NULL;
		spin_lock(&mm->page_table_lock);
		pte = pte_find(mm, addr);
		if (pte && pte_present(*pte) && (*pte & PTE_WRITE)) {
			*pte |= PTE_DIRTY;
			p = pfn_page(pte_pfn(*pte));
			page_hold(p);
		}
		spin_unlock(&mm->page_table_lock);
		if (p)
			return p;
	}
	*error = -ENOMEM;
	return NULL;
}

/*
 * Copy `bytes` from byte `offset` of `from` to `to` in `mm`, which is under construction.
 * 0, -EFAULT (not mapped, not writable, or beyond the object), -ENOMEM, -EIO: a part may
 * have been copied. Sleeps.
 */
int mm_write(struct mm *mm, vaddr_t to, struct object *from, uint32_t offset, uint32_t bytes)
{
	int error;

	if (!user_range_ok(to, bytes) || offset > from->bytes || bytes > from->bytes - offset)
		return -EFAULT;
	while (bytes > 0) {
		uint32_t in_source = offset & ~PAGE_MASK, in_target = to & ~PAGE_MASK;
		uint32_t n = MIN(bytes, PAGE_SIZE - MAX(in_source, in_target));
		struct page *source = object_get_page(from, offset >> PAGE_SHIFT, &error);
		struct page *target;

		if (!source)
			return error;
		target = writable_page(mm, to, &error);
		if (target) {
			memcpy((char *)page_address(target) + in_target,
			       (char *)page_address(source) + in_source, n);
			page_drop(target);
		}
		page_drop(source);
		if (!target)
			return error;
		to += n;
		offset += n;
		bytes -= n;
	}
	return OK;
}

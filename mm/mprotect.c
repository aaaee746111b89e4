/*
 * mprotect: other rights for memory that is mapped already.
 *
 * A vma's protection and its PTEs change together, and pages stay what they are: a page out of
 * reach (PROT_NONE, pt.3) is reclaimed, swapped, forked and unmapped as any other. Rights are
 * taken from PTEs at once; the right to write to private memory comes back by a fault, which
 * must see anyway whether the page is shared; but if the memory is locked, at once.
 */
#include "kernel/abi/errno.h"
#include "mm/vma.h"

enum { PROT_ALL = PROT_READ | PROT_WRITE | PROT_EXEC };

/* One PTE of the vma `arg` that isn't 0: as the vma's protection wants it. */
static void protect_pte(struct mm *mm, vaddr_t addr, pte_t *pte, void *arg)
{
	const struct vma *v = arg;
	pte_t old = *pte, e = old;

	if (pte_is_swap(old))
		return;
	if (!(v->flags & VMA_WRITE))
		e &= ~(pte_t)PTE_WRITE;
	else if (v->flags & VMA_SHARED)
		e |= PTE_WRITE;
	e = vma_pte(v, e | PTE_PRESENT);
	if (e == old)
		return;
	*pte = e;
	tlb_flush_page(mm, addr);
}

/* Must v's pages be promised once it has `prot`? They weren't as long as nobody could write. */
static bool needs_promise(const struct vma *v, uint32_t prot)
{
	if (!(prot & PROT_WRITE) || (v->flags & (VMA_ACCOUNT | VMA_SHARED)))
		return false;
	return !((v->flags & VMA_NORESERVE) && commit_may_skip());
}

/* [start, end) of `v` gets `prot`. -EACCES, -ENOMEM: nothing has changed. */
static int protect_part(struct vma *v, vaddr_t start, vaddr_t end, uint32_t prot)
{
	uint32_t flags = (v->flags & ~(uint32_t)VMA_PROT) | prot;
	uint32_t promise = needs_promise(v, prot) ? (end - start) >> PAGE_SHIFT : 0;
	struct mm *mm = v->mm;

	if ((prot & PROT_WRITE) && !(v->flags & VMA_MAY_WRITE))
		return -EACCES;
	if (flags == v->flags)
		return OK;
	if (commit_ask(mm, promise))
		return -ENOMEM;
	v = vma_isolate(v, start, end);
	if (!v) {
		commit_release(mm, promise);
		return -ENOMEM;
	}
	vma_set_flags(v, flags | (promise ? VMA_ACCOUNT : 0));
	pte_for_range(mm, start, end, protect_pte, v);
	vma_merge_around(v);
	return OK;
}

/* All of [start, end), vma by vma, up to the first that can't be changed. */
static int protect_range(struct mm *mm, vaddr_t start, vaddr_t end, uint32_t prot)
{
	while (start < end) {
		struct vma *v = vma_at(mm, start);
		vaddr_t stop;
		int error;

		if (!v)
			return -ENOMEM;
		stop = MIN(end, v->end);
		error = protect_part(v, start, stop, prot);
		if (error)
			return error;
		start = stop;
	}
	return OK;
}

/*
 * mprotect: 0, or -EINVAL (not aligned, no such protection), -ENOMEM (a hole; wraps; too many
 * vmas; refused by overcommit), -EACCES (a shared mapping whose handle didn't allow writing).
 * What lies before the page that fails has been changed, as POSIX allows and Linux does.
 * PROT_GROWSDOWN and PROT_GROWSUP of Linux are -EINVAL. Takes mmap_lock; sleeps.
 */
int mm_protect(struct mm *mm, vaddr_t start, uint32_t bytes, uint32_t prot)
{
	vaddr_t end = start + PAGE_UP(bytes);
	int error;

	if ((start & ~PAGE_MASK) || (prot & ~(uint32_t)PROT_ALL))
		return -EINVAL;
	if (bytes == 0)
		return OK;
	if (PAGE_UP(bytes) < bytes || end < start)
		return -ENOMEM;
	mutex_lock(&mm->mmap_lock);
	error = protect_range(mm, start, end, prot);
	mutex_unlock(&mm->mmap_lock);
	if (mm->locked_pages > 0 && prot != PROT_NONE)
		(void)mm_fill(mm, start, end);
	return error;
}

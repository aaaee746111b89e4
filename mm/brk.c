/*
 * The two areas that grow: the heap, by brk(), and stacks, by being touched.
 */
#include "kernel/abi/errno.h"
#include "mm/vma.h"

/* A touch this far below esp is still the stack's: ENTER with 65535 bytes of locals and 32
 * nested levels is the largest step of one instruction (as Linux allows). */
enum { STACK_STEP_BYTES = 65536 + 32 * 4 };

/* Grow the heap from `old` to `end`, both page aligned: room up to the next vma's claim is
 * asked for, then promised, then mapped. */
static int heap_grow(struct mm *mm, vaddr_t old, vaddr_t end)
{
	uint32_t count = (end - old) >> PAGE_SHIFT;
	struct vma *next = vma_find(mm, old), *v;

	if (end > USER_END || (next && vma_claim(next) < end))
		return -ENOMEM;
	if (limit_ask(mm, count) || commit_ask(mm, count))
		return -ENOMEM;
	v = vma_create(mm, old, end, VMA_READ | VMA_WRITE | VMA_HEAP | VMA_ACCOUNT | VMA_MAY_WRITE);
	if (!v) {
		commit_release(mm, count);
		return -ENOMEM;
	}
	vma_insert(v);
	vma_merge_around(v);
	return OK;
}

/* Set the end of the heap; returns the end as it is afterwards: `end`, or the old one if
 * that can't be. Takes mmap_lock; sleeps. */
vaddr_t mm_brk(struct mm *mm, vaddr_t end)
{
	vaddr_t old_page, new_page, result;
	int error = OK;

	mutex_lock(&mm->mmap_lock);
	if (end >= mm->heap_start && end < USER_END) {
		old_page = PAGE_UP(mm->heap_end);
		new_page = PAGE_UP(end);
		if (new_page > old_page)
			error = heap_grow(mm, old_page, new_page);
		else if (new_page < old_page)
			error = mm_unmap_locked(mm, new_page, old_page);
		if (!error)
			mm->heap_end = end;
	}
	result = mm->heap_end;
	mutex_unlock(&mm->mmap_lock);
	return result;
}

/*
 * `addr` lies below the stack `v`: make `v` reach down to it. esp bounds how far a touch
 * may go (0: no bound). -EFAULT: too far, beyond a limit, or something is in the way; -ENOMEM:
 * refused by overcommit. mmap_lock held. Never sleeps.
 */
int stack_grow(struct vma *v, vaddr_t addr, uint32_t esp)
{
	vaddr_t start = PAGE_DOWN(addr);
	uint32_t count = (v->start - start) >> PAGE_SHIFT;
	struct vma *below = vma_prev(v);

	if (!(v->flags & VMA_GROWSDOWN) || start < USER_START ||
	    v->end - start > limit_stack_bytes(v))
		return -EFAULT;
	if (esp && (uint64_t)addr + STACK_STEP_BYTES < esp)
		return -EFAULT;
	if (below && below->end + PAGE_SIZE > start)
		return -EFAULT;		/* a page stays free: overflow must be noticed */
	if (limit_ask(v->mm, count) || ((v->flags & VMA_LOCKED) && limit_ask_lock(v->mm, count)))
		return -EFAULT;
	if ((v->flags & VMA_ACCOUNT) && commit_ask(v->mm, count))
		return -ENOMEM;
	vma_grow_down(v, start);
	return OK;
}

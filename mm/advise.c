/* madvise: the only advice that changes anything so far is that pages aren't needed. */
#include "kernel/abi/errno.h"
#include "mm/vma.h"

/* Is [start, end) covered by vmas without a hole? `locked` is set if one is mlocked. */
static bool range_covered(struct mm *mm, vaddr_t start, vaddr_t end, bool *locked)
{
	struct vma *v = vma_find(mm, start);

	*locked = false;
	while (start < end) {
		if (!v || v->start > start)
			return false;
		*locked |= (v->flags & VMA_LOCKED) != 0;
		start = v->end;
		v = vma_next(v);
	}
	return true;
}

/* Drop the pages in [start, end): the next touch finds zeros, or the object's page. */
static void drop_pages(struct mm *mm, vaddr_t start, vaddr_t end)
{
	struct vma *v = vma_find(mm, start);

	for (; v && v->start < end; v = vma_next(v))
		vma_zap(v, MAX(start, v->start), MIN(end, v->end));
}

/*
 * 0; -EINVAL for nonsense, an unknown advice, or MADV_DONTNEED of locked memory; -ENOMEM
 * if there are holes: the advice is then followed all the same where there is memory, as
 * on Linux. Takes mmap_lock; sleeps.
 */
int mm_advise(struct mm *mm, vaddr_t start, uint32_t bytes, int advice)
{
	vaddr_t end = start + PAGE_UP(bytes);
	bool locked, covered;

	if ((start & ~PAGE_MASK) || advice < MADV_NORMAL || advice > MADV_DONTNEED ||
	    PAGE_UP(bytes) < bytes)
		return -EINVAL;
	if (bytes == 0)
		return OK;
	if (!user_range_ok(start, PAGE_UP(bytes)))
		return end < start ? -EINVAL : -ENOMEM;
	mutex_lock(&mm->mmap_lock);
	covered = range_covered(mm, start, end, &locked);
	if (advice == MADV_DONTNEED && !locked)
		drop_pages(mm, start, end);
	mutex_unlock(&mm->mmap_lock);
	if (advice == MADV_DONTNEED && locked)
		return -EINVAL;
	return covered ? OK : -ENOMEM;
}

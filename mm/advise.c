/* madvise: what is followed is that pages aren't needed, or not soon, or will be. */
#include "kernel/abi/errno.h"
#include "mm/vma.h"

/* Is something of [start, end) mlocked? */
static bool any_locked(struct mm *mm, vaddr_t start, vaddr_t end)
{
	struct vma *v = vma_find(mm, start);

	for (; v && v->start < end; v = vma_next(v)) {
		if (v->flags & VMA_LOCKED)
			return true;
	}
	return false;
}

/* Call `fn` for the part of each vma that lies in [start, end). */
static void for_each_part(struct mm *mm, vaddr_t start, vaddr_t end,
			  void (*fn)(struct vma *v, vaddr_t start, vaddr_t end))
{
	struct vma *v = vma_find(mm, start);

	for (; v && v->start < end; v = vma_next(v))
		fn(v, MAX(start, v->start), MIN(end, v->end));
}

static bool advice_known(int advice)
{
	return (advice >= MADV_NORMAL && advice <= MADV_DONTNEED) || advice == MADV_PAGEOUT;
}

/*
 * 0; -EINVAL for nonsense, an unknown advice, or MADV_DONTNEED or _PAGEOUT of locked memory; -ENOMEM
 * if there are holes: the advice is then followed all the same where there is memory, as
 * on Linux. Takes mmap_lock; sleeps.
 */
int mm_advise(struct mm *mm, vaddr_t start, uint32_t bytes, int advice)
{
	vaddr_t end = start + PAGE_UP(bytes);
	bool locked, covered;

	if ((start & ~PAGE_MASK) || !advice_known(advice) || PAGE_UP(bytes) < bytes)
		return -EINVAL;
	if (bytes == 0)
		return OK;
	if (!user_range_ok(start, PAGE_UP(bytes)))
		return end < start ? -EINVAL : -ENOMEM;
	mutex_lock(&mm->mmap_lock);
	covered = mm_covered(mm, start, end);
	locked = any_locked(mm, start, end);
	if (advice == MADV_DONTNEED && !locked)
		for_each_part(mm, start, end, vma_zap);	/* the next touch finds zeros */
	if (advice == MADV_WILLNEED)
		for_each_part(mm, start, end, vma_willneed);
	if (advice == MADV_PAGEOUT && !locked)
		for_each_part(mm, start, end, vma_pageout);
	mutex_unlock(&mm->mmap_lock);
	if (advice >= MADV_DONTNEED && locked)
		return -EINVAL;
	return covered ? OK : -ENOMEM;
}

/*
 * mlock and munlock: memory that is never out of reach.
 *
 * A vma with VMA_LOCKED keeps its pages: reclaim takes them for used (rmap_one_referenced()) and
 * can't unmap them (rmap_one_unmap()). mlock sets the flag, then brings every page in and, where
 * the program may write to it, makes it its own, so that no later access waits for memory or
 * disk. What comes later to a locked vma is filled as well: by growth (mremap, a stack) or by
 * mprotect. fork's child has no locks.
 */
#include "kernel/abi/errno.h"
#include "kernel/thread.h"
#include "mm/fault.h"
#include "mm/vma.h"

/* The access that will never fault again once it was made: a write where a private page may be
 * written to, else a read. */
static enum fault_access filling_access(const struct vma *v)
{
	return (v->flags & (VMA_WRITE | VMA_SHARED)) == VMA_WRITE ? FAULT_WRITE : FAULT_READ;
}

/* Will the access at `addr` fault? mmap_lock held. */
static bool would_fault(struct mm *mm, vaddr_t addr, enum fault_access access)
{
	const pte_t *pte = pte_find(mm, addr);

	return !pte || !(*pte & PTE_PRESENT) || (access == FAULT_WRITE && !(*pte & PTE_WRITE));
}

/*
 * The first page from *addr on, below `end`, that is in a locked vma and not ready: *addr and
 * *access are set for it. False: there is none. Takes mmap_lock.
 */
static bool find_unready(struct mm *mm, vaddr_t *addr, vaddr_t end, enum fault_access *access)
{
	bool found = false;
	struct vma *v;

	mutex_lock(&mm->mmap_lock);
	for (v = vma_find(mm, *addr); v && v->start < end && !found; v = vma_next(v)) {
		if (!(v->flags & VMA_LOCKED))
			continue;
		*access = filling_access(v);
		*addr = MAX(*addr, v->start);
		for (; *addr < MIN(end, v->end) && !found; *addr += found ? 0 : PAGE_SIZE)
			found = would_fault(mm, *addr, *access);
	}
	mutex_unlock(&mm->mmap_lock);
	return found;
}

/*
 * Make every page of [start, end), page aligned, ready as far as it is locked; what isn't, or
 * isn't mapped, is left alone. 0 or as mm_fault(): a page out of reach is -EFAULT. A page that is
 * ready stays so, since its vma is locked. No lock held. Sleeps.
 */
int mm_fill(struct mm *mm, vaddr_t start, vaddr_t end)
{
	enum fault_access access;
	vaddr_t addr = start;

	while (find_unready(mm, &addr, end, &access)) {
		int error = mm_fault(mm, addr, access);

		if (error)
			return error;
		if (current->killed)
			return -EINTR;
		cond_resched();
	}
	return OK;
}

/* How many pages of [start, end) aren't locked. */
static uint32_t count_unlocked(struct mm *mm, vaddr_t start, vaddr_t end)
{
	struct vma *v = vma_find(mm, start);
	uint32_t count = 0;

	for (; v && v->start < end; v = vma_next(v)) {
		if (!(v->flags & VMA_LOCKED))
			count += (MIN(end, v->end) - MAX(start, v->start)) >> PAGE_SHIFT;
	}
	return count;
}

/* Every vma in [start, end), which is covered, gets `flag` (VMA_LOCKED or 0) in the place of
 * VMA_LOCKED. -ENOMEM changes nothing. mmap_lock held. */
static int set_locked(struct mm *mm, vaddr_t start, vaddr_t end, uint32_t flag)
{
	if (vma_split_borders(mm, start, end))
		return -ENOMEM;
	while (start < end) {
		struct vma *v = vma_at(mm, start);

		start = v->end;
		vma_set_flags(v, (v->flags & ~(uint32_t)VMA_LOCKED) | flag);
		vma_merge_around(v);
	}
	return OK;
}

/* The pages that hold [start, start + bytes): *end is where they end. -ENOMEM: it isn't in user
 * space; -EINVAL: it wraps, as Linux has it. */
static int page_range(vaddr_t *start, uint32_t bytes, vaddr_t *end)
{
	uint32_t whole = PAGE_UP(bytes + (*start & ~PAGE_MASK));

	if (bytes > UINT32_MAX - (*start & ~PAGE_MASK) || (bytes > 0 && whole < bytes))
		return -EINVAL;
	*start = PAGE_DOWN(*start);
	*end = *start + whole;
	if (*end < *start)
		return -EINVAL;
	return whole == 0 || user_range_ok(*start, whole) ? OK : -ENOMEM;
}

/* mm_lock() up to the filling. mmap_lock held. */
static int lock_range(struct mm *mm, vaddr_t start, vaddr_t end)
{
	int error;

	if (!mm_covered(mm, start, end))
		return -ENOMEM;
	error = limit_ask_lock(mm, count_unlocked(mm, start, end));
	return error ? -ENOMEM : set_locked(mm, start, end, VMA_LOCKED);
}

/*
 * mlock: all pages that [start, start + bytes) touches. 0, or
 *   -EINVAL  the range wraps
 *   -ENOMEM  a hole, too many vmas, LIMIT_MEMLOCK or too much of RAM: nothing has changed, as
 *            POSIX has it (Linux locks what lies before the hole); or there is PROT_NONE memory
 *   -EPERM   LIMIT_MEMLOCK is 0
 *   -EAGAIN  not all pages could be brought in
 *   -EINTR   the caller was killed
 * After -EAGAIN, and -ENOMEM for PROT_NONE memory, the range is locked, as on Linux: pages will
 * stay as they come. Takes mmap_lock; sleeps.
 */
int mm_lock(struct mm *mm, vaddr_t start, uint32_t bytes)
{
	vaddr_t end;
	int error;

	if (mm->limits[LIMIT_MEMLOCK].soft == 0)
		return -EPERM;
	error = page_range(&start, bytes, &end);
	if (error || start == end)
		return error;
	mutex_lock(&mm->mmap_lock);
	error = lock_range(mm, start, end);
	mutex_unlock(&mm->mmap_lock);
	if (error)
		return error;
	error = mm_fill(mm, start, end);
	if (error == -ENOMEM || error == -EIO)
		return -EAGAIN;
	return error == -EFAULT ? -ENOMEM : error;
}

/* munlock: 0; -EINVAL (wraps), -ENOMEM (a hole, too many vmas): nothing has changed, as POSIX has
 * it; Linux unlocks what lies before the hole. Takes mmap_lock; sleeps. */
int mm_unlock(struct mm *mm, vaddr_t start, uint32_t bytes)
{
	vaddr_t end;
	int error = page_range(&start, bytes, &end);

	if (error || start == end)
		return error;
	mutex_lock(&mm->mmap_lock);
	error = mm_covered(mm, start, end) ? set_locked(mm, start, end, 0) : -ENOMEM;
	mutex_unlock(&mm->mmap_lock);
	return error;
}

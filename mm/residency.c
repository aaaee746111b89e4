/*
 * What is in memory: mincore asks, madvise(MADV_WILLNEED) asks for it, msync has it written.
 */
#include "kernel/abi/errno.h"
#include "kernel/thread.h"
#include "kernel/usercopy.h"
#include "mm/object.h"
#include "mm/swap.h"
#include "mm/vma.h"

/* ---- mincore ---- */

enum { INCORE_CHUNK = 256 };		/* pages that are looked at before the answer is copied */

/* Is the page of `e` in memory, and its contents too? */
static bool entry_incore(swap_entry e)
{
	struct page *p = swap_cache_find(e);
	bool incore = p && page_is(p, PG_UPTODATE);

	if (p)
		page_drop(p);
	return incore;
}

static uint32_t object_index(const struct vma *v, vaddr_t addr)
{
	return v->object_page + ((addr - v->start) >> PAGE_SHIFT);
}

/* Are the contents of `addr` of `v` in swap? *e is the slot then. mmap_lock held. */
static bool page_swapped(const struct vma *v, vaddr_t addr, swap_entry *e)
{
	const pte_t *pte = pte_find(v->mm, addr);

	if (pte && *pte) {
		*e = pte_swap_entry(*pte);
		return pte_is_swap(*pte);
	}
	return v->object && object_page_swapped(v->object, object_index(v, addr), e);
}

/* Would an access at `addr` of `v`, if it is allowed, find a page without asking a disk? An
 * untouched page of private memory isn't there. mmap_lock held. */
static bool page_incore(const struct vma *v, vaddr_t addr)
{
	const pte_t *pte = pte_find(v->mm, addr);
	swap_entry e;

	if (page_swapped(v, addr, &e))
		return entry_incore(e);
	if (pte && *pte)
		return true;
	return v->object && object_page_resident(v->object, object_index(v, addr));
}

/* Fill vec[] for the pages of [start, end). -ENOMEM: a hole. mmap_lock held. */
static int look(struct mm *mm, vaddr_t start, vaddr_t end, unsigned char *vec)
{
	for (; start < end; start += PAGE_SIZE) {
		const struct vma *v = vma_at(mm, start);

		if (!v)
			return -ENOMEM;
		*vec++ = page_incore(v, start);
	}
	return OK;
}

/*
 * mincore: a byte for each page of [start, start + bytes), 1 if it is in memory. 0; -EINVAL (not
 * aligned), -ENOMEM (wraps, or a hole: the bytes before it have been written), -EFAULT (vec).
 * POSIX hasn't got it; Linux does the same. Takes mmap_lock; sleeps.
 */
int mm_incore(struct mm *mm, vaddr_t start, uint32_t bytes, vaddr_t vec)
{
	unsigned char chunk[INCORE_CHUNK];
	uint32_t left = PAGE_UP(bytes) >> PAGE_SHIFT;
	int error = OK;

	if (start & ~PAGE_MASK)
		return -EINVAL;
	if (PAGE_UP(bytes) < bytes || (bytes > 0 && !user_range_ok(start, PAGE_UP(bytes))))
		return -ENOMEM;
	while (left > 0 && !error) {
		uint32_t n = MIN(left, (uint32_t)INCORE_CHUNK);

		mutex_lock(&mm->mmap_lock);
		error = look(mm, start, start + n * PAGE_SIZE, chunk);
		mutex_unlock(&mm->mmap_lock);
		if (!error)
			error = copy_to_user(vec, chunk, n);
		start += n * PAGE_SIZE;
		vec += n;
		left -= n;
		cond_resched();
	}
	return error;
}

/* ---- WILLNEED ---- */

/* The first swap entry in [*addr, end) of `mm`, and where it is. False: there is none. */
static bool next_entry(struct mm *mm, vaddr_t *addr, vaddr_t end, swap_entry *e)
{
	while (*addr < end) {
		const pte_t *pte = pte_find(mm, *addr);

		if (!pte) {
			*addr = pgtable_next(*addr);
			continue;
		}
		if (pte_is_swap(*pte)) {
			*e = pte_swap_entry(*pte);
			return true;
		}
		*addr += PAGE_SIZE;
	}
	return false;
}

/* The same of the object that `v` shows: the pages that its tree has in swap. */
static bool next_object_entry(const struct vma *v, vaddr_t *addr, vaddr_t end, swap_entry *e)
{
	uint32_t index = v->object_page + ((*addr - v->start) >> PAGE_SHIFT);
	uint32_t offset;

	*e = object_next_entry(v->object, SWAP_AREAS_MAX, &index);
	offset = index - v->object_page;
	if (e->v == 0 || offset >= (end - v->start) >> PAGE_SHIFT)
		return false;
	*addr = v->start + (offset << PAGE_SHIFT);
	return true;
}

/*
 * Begin to read what of [start, end), inside `v`, is in swap, with its neighbours, as long as
 * memory is free: advice pushes nothing out. Waits for no read. mmap_lock held. Sleeps.
 */
void vma_willneed(struct vma *v, vaddr_t start, vaddr_t end)
{
	swap_entry e;

	for (vaddr_t at = start; next_entry(v->mm, &at, end, &e); at += PAGE_SIZE) {
		if (!swap_read_ahead(e))
			return;
		cond_resched();
	}
	for (; v->object && next_object_entry(v, &start, end, &e); start += PAGE_SIZE) {
		if (!swap_read_ahead(e))
			return;
		cond_resched();
	}
}

/* ---- msync ---- */

/*
 * msync: 0; -EINVAL (not aligned, unknown flags, MS_ASYNC with MS_SYNC), -EBUSY (MS_INVALIDATE of
 * locked memory), -ENOMEM (wraps, or a hole; what is mapped was dealt with). No flag at all is
 * allowed, as on Linux; POSIX wants one of the two. Memory that no file stands behind has nowhere
 * to be written to, so there is nothing to wait for. Takes mmap_lock; sleeps.
 */
int mm_sync(struct mm *mm, vaddr_t start, uint32_t bytes, uint32_t flags)
{
	vaddr_t end = start + PAGE_UP(bytes);
	int error = OK;
	struct vma *v;

	if ((start & ~PAGE_MASK) || (flags & ~(uint32_t)(MS_ASYNC | MS_SYNC | MS_INVALIDATE)) ||
	    ((flags & MS_ASYNC) && (flags & MS_SYNC)))
		return -EINVAL;
	if (PAGE_UP(bytes) < bytes || end < start)
		return -ENOMEM;
	mutex_lock(&mm->mmap_lock);
	for (v = vma_find(mm, start); v && v->start < end && !error; v = vma_next(v)) {
		if ((flags & MS_INVALIDATE) && (v->flags & VMA_LOCKED))
			error = -EBUSY;
	}
	if (!error && !mm_covered(mm, start, end))
		error = -ENOMEM;
	mutex_unlock(&mm->mmap_lock);
	return error;
}

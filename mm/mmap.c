/*
 * mmap and munmap: checks first, then memory is taken, then the address space changes.
 * A call that fails leaves it as it was.
 */
#include "kernel/abi/errno.h"
#include "kernel/panic.h"
#include "mm/object.h"
#include "mm/rmap.h"
#include "mm/vma.h"

enum {
	PROT_ALL = PROT_READ | PROT_WRITE | PROT_EXEC,
	MAP_ALL = MAP_SHARED | MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS | MAP_GROWSDOWN |
		  MAP_NORESERVE,
};
_Static_assert((int)VMA_READ == PROT_READ && (int)VMA_WRITE == PROT_WRITE &&
	       (int)VMA_EXEC == PROT_EXEC, "protections need no translation");

/* ---- Unmap ---- */

/* Free the page tables that [start, end), empty by now, no longer needs: those of the gap it
 * lies in. mmap_lock held. */
void mm_trim_tables(struct mm *mm, vaddr_t start, vaddr_t end)
{
	struct vma *after = vma_find(mm, start), *before;

	before = after ? vma_prev(after) :
		 list_empty(&mm->vmas) ? NULL : list_last(&mm->vmas, struct vma, link);
	start = PAGE_DOWN(start) & ~(pgtable_next(0) - 1);
	end = end > USER_END - pgtable_next(0) ? USER_END : pgtable_next(end - 1);
	if (before)
		start = MAX(start, before->end);
	if (after)
		end = MIN(end, after->start);
	if (start < end)
		pgtable_trim(mm, start, end);
}

/*
 * Unmap [start, end), page aligned, in user space and not empty: vmas that lie inside go,
 * those that reach over a border are split; page tables stay. -ENOMEM changes nothing.
 * mmap_lock held. Sleeps.
 */
int mm_clear_range(struct mm *mm, vaddr_t start, vaddr_t end)
{
	struct vma *v = vma_find(mm, start), *next;
	int error;

	if (!v || v->start >= end)
		return OK;
	error = vma_split_borders(mm, start, end);
	if (error)
		return error;
	for (v = vma_find(mm, start); v && v->start < end; v = next) {
		next = vma_next(v);
		vma_zap(v, v->start, v->end);
		if (v->flags & VMA_ACCOUNT)
			commit_release(mm, vma_pages(v));
		vma_destroy(v);
	}
	return OK;
}

/* The same, and page tables that are no longer needed go. */
int mm_unmap_locked(struct mm *mm, vaddr_t start, vaddr_t end)
{
	int error = mm_clear_range(mm, start, end);

	if (!error)
		mm_trim_tables(mm, start, end);
	return error;
}

/* munmap: see vma.h. Holes in the range are no error. */
int mm_unmap(struct mm *mm, vaddr_t start, uint32_t bytes)
{
	int error;

	if ((start & ~PAGE_MASK) || bytes == 0 || PAGE_UP(bytes) < bytes ||
	    !user_range_ok(start, PAGE_UP(bytes)))
		return -EINVAL;
	mutex_lock(&mm->mmap_lock);
	error = mm_unmap_locked(mm, start, start + PAGE_UP(bytes));
	mutex_unlock(&mm->mmap_lock);
	return error;
}

/* ---- Where to map ---- */

/* The place for a request of `bytes` (whole pages): an address or -ENOMEM. */
static int64_t choose_address(struct mm *mm, const struct map_request *r, uint32_t bytes)
{
	vaddr_t wish = PAGE_DOWN(r->addr), found;

	if (r->flags & MAP_FIXED)
		return r->addr;
	if (wish && user_range_ok(wish, bytes) && mm_range_free(mm, wish, bytes))
		return wish;
	found = mm_find_room(mm, bytes);
	return found ? (int64_t)found : -ENOMEM;
}

/* ---- Map ---- */

/* Refuse what can't be meant. `bytes` is set to whole pages. */
static int check_request(const struct map_request *r, uint32_t *bytes)
{
	uint32_t kind = r->flags & (MAP_SHARED | MAP_PRIVATE);

	*bytes = PAGE_UP(r->bytes);
	if (r->bytes == 0 || (kind != MAP_SHARED && kind != MAP_PRIVATE) ||
	    (r->flags & ~(uint32_t)MAP_ALL) || (r->prot & ~(uint32_t)PROT_ALL))
		return -EINVAL;
	if (*bytes < r->bytes || *bytes > USER_END - USER_START)
		return -ENOMEM;
	if ((r->flags & MAP_FIXED) &&
	    ((r->addr & ~PAGE_MASK) || !user_range_ok(r->addr, *bytes)))
		return -EINVAL;
	if (!r->object)
		return r->flags & MAP_ANONYMOUS || r->object_page == 0 ? OK : -EINVAL;
	if ((r->flags & (MAP_ANONYMOUS | MAP_GROWSDOWN)) ||
	    r->object_page >= r->object->page_count ||
	    *bytes >> PAGE_SHIFT > r->object->page_count - r->object_page)
		return -EINVAL;
	if (kind == MAP_SHARED && (r->prot & PROT_WRITE) && r->object->kind == OBJECT_BOOT)
		return -EACCES;
	return OK;
}

/* The vma_flags of a request that check_request() allowed. */
static uint32_t request_vma_flags(const struct map_request *r)
{
	uint32_t flags = r->prot;

	if (r->flags & MAP_SHARED)
		return flags | VMA_SHARED |
		       (r->may_write && r->object->kind != OBJECT_BOOT ? VMA_MAY_WRITE : 0);
	flags |= VMA_MAY_WRITE;
	if (r->flags & MAP_GROWSDOWN)
		flags |= VMA_GROWSDOWN;
	if (r->flags & MAP_NORESERVE)
		flags |= VMA_NORESERVE;
	if ((r->prot & PROT_WRITE) && !((r->flags & MAP_NORESERVE) && commit_may_skip()))
		flags |= VMA_ACCOUNT;
	return flags;
}

/* How many pages of [start, end) are mapped, and how many of them were promised. */
static void count_range(struct mm *mm, vaddr_t start, vaddr_t end, uint32_t *mapped,
			uint32_t *promised)
{
	struct vma *v = vma_find(mm, start);

	*mapped = *promised = 0;
	for (; v && v->start < end; v = vma_next(v)) {
		uint32_t count = (MIN(end, v->end) - MAX(start, v->start)) >> PAGE_SHIFT;

		*mapped += count;
		if (v->flags & VMA_ACCOUNT)
			*promised += count;
	}
}

/*
 * May `count` more pages be mapped, `promise` of them accounted, if all that [start, end) holds
 * goes in exchange? 0: they are promised (what goes still is, too); or -ENOMEM. mmap_lock held.
 */
int map_ask(struct mm *mm, vaddr_t start, vaddr_t end, uint32_t count, uint32_t promise)
{
	uint32_t replaced, released;

	count_range(mm, start, end, &replaced, &released);
	released = MIN(released, promise);
	if (limit_ask(mm, count - MIN(count, replaced)) || commit_ask(mm, promise - released))
		return -ENOMEM;
	commit_take(mm, released);
	return OK;
}

/* The checked request, in `bytes` of whole pages at `at`. mmap_lock held. Sleeps. */
static int64_t map_at(struct mm *mm, const struct map_request *r, vaddr_t at, uint32_t bytes)
{
	uint32_t flags = request_vma_flags(r);
	uint32_t promise = flags & VMA_ACCOUNT ? bytes >> PAGE_SHIFT : 0;
	struct vma *v;
	int error;

	error = map_ask(mm, at, at + bytes, bytes >> PAGE_SHIFT, promise);
	if (error)
		return error;
	v = vma_create(mm, at, at + bytes, flags);
	if (!v) {
		commit_release(mm, promise);
		return -ENOMEM;
	}
	if (r->object)
		vma_set_object(v, r->object, r->object_page);
	error = mm_clear_range(mm, at, at + bytes);
	if (error) {
		vma_free(v);
		commit_release(mm, promise);
		return error;
	}
	vma_insert(v);
	vma_merge_around(v);
	return at;
}

/* Shared memory without an object gets one of its own, which lives as its mappings do. The
 * promise is the object's: it holds as long as the pages do, and fork needs no new one. */
static int64_t map_shared_memory(struct mm *mm, const struct map_request *r)
{
	struct map_request with = *r;
	uint32_t total = PAGE_UP(r->bytes) >> PAGE_SHIFT;
	int64_t at;

	with.object = r->flags & MAP_NORESERVE ? object_create_noreserve(total) :
		      object_create(total);
	if (!with.object)
		return -ENOMEM;
	with.object_page = 0;
	with.may_write = true;
	with.flags &= ~(uint32_t)MAP_ANONYMOUS;
	at = mm_map(mm, &with);
	kobject_drop(&with.object->kobject);
	return at;
}

/*
 * mmap: the address, or -EINVAL (nonsense, or beyond the object), -EACCES (boot modules
 * can't be written to), -ENOMEM (no room, no memory, or refused by overcommit). Failing
 * changes nothing. Takes mmap_lock; sleeps.
 */
int64_t mm_map(struct mm *mm, const struct map_request *r)
{
	uint32_t bytes;
	int64_t at;
	int error = check_request(r, &bytes);

	if (error)
		return error;
	if (!r->object && (r->flags & MAP_SHARED))
		return map_shared_memory(mm, r);
	mutex_lock(&mm->mmap_lock);
	at = choose_address(mm, r, bytes);
	if (at > 0)
		at = map_at(mm, r, (vaddr_t)at, bytes);
	mutex_unlock(&mm->mmap_lock);
	return at;
}

/*
 * mremap: a mapping grows, shrinks or moves, and keeps its pages.
 *
 * A mapping that moves gets a new vma, `to`, beside the old one, `from`; then PTE after PTE
 * goes over, so that at any time each page is mapped by one of the two, where reclaim finds
 * it. A reverse map that can't follow a page that others map too (rmap_page_move()) gets a copy
 * of it first. Everything that can fail is tried before what lies at the new place is unmapped:
 * page tables are there, and pages that others map are copied. What fails later, because
 * somebody came to share a page in between and there is no memory for its copy, makes all PTEs
 * go back.
 */
#include "kernel/abi/errno.h"
#include "kernel/counters.h"
#include "kernel/printk.h"
#include "kernel/task.h"
#include "kernel/thread.h"
#include "mm/fault_steps.h"
#include "mm/object.h"
#include "mm/rmap.h"
#include "mm/vma.h"

enum { MOVE_BATCH_BYTES = 256 * PAGE_SIZE };

/* What was asked, in whole pages, and how far it has come. */
struct remap {
	struct mm  *mm;
	vaddr_t	    start, target;
	uint32_t    old_bytes, new_bytes, flags;
	struct vma *from, *to;		/* while it moves: just the old range, and the new one */
	uint32_t    copied;		/* pages that couldn't move as they were */
	bool	    locked;		/* what is new must be filled */
};

/* ---- One PTE ---- */

/* The PTE at `from_addr` goes to `to_addr` of `to`, where nothing is. -EAGAIN: its page must be
 * copied first. page_table_lock held. */
static int move_pte(struct vma *to, vaddr_t from_addr, pte_t *from, vaddr_t to_addr)
{
	pte_t *place = pte_find(to->mm, to_addr);
	struct page *p = pfn_page(pte_pfn(*from));

	if (pte_present(*from) && page_is(p, PG_ANON) &&
	    rmap_page_move(p, to, from_addr, to_addr) == -EAGAIN)
		return -EAGAIN;
	*place = *from;
	*from = 0;
	if (pte_present(*place))
		tlb_flush_page(to->mm, from_addr);
	return OK;
}

/* Copy the anonymous page at `addr` of `v`, if it is still there. 0, -ENOMEM or -EINTR. */
static int copy_at(struct remap *r, struct vma *v, vaddr_t addr)
{
	struct fault f = { .mm = r->mm, .vma = v, .addr = addr, .access = FAULT_WRITE };
	int error;

	f.pte = pte_find(r->mm, addr);
	f.seen = *f.pte;
	if (!pte_present(f.seen) || !page_is(pfn_page(pte_pfn(f.seen)), PG_ANON))
		return OK;
	error = fault_copy_early(&f);
	if (!error && pte_present(*f.pte) && pte_pfn(*f.pte) != pte_pfn(f.seen)) {
		r->copied++;
		COUNT(mremap_cows);
	}
	return error;
}

/* ---- All PTEs ---- */

/* How much of the `bytes` from `addr` on lies in the page table of `addr`. */
static uint32_t in_one_table(vaddr_t addr, uint32_t bytes)
{
	return MIN(bytes, pgtable_next(addr) - addr);
}

/*
 * Move the PTEs of [start, start + bytes), which lies in one page table, to `at` in `to`. Ends at
 * the first page that must be copied: returns how many bytes were done.
 */
static uint32_t move_batch(struct vma *to, vaddr_t start, vaddr_t at, uint32_t bytes)
{
	pte_t *pte;
	uint32_t done;

	spin_lock(&to->mm->page_table_lock);
	pte = pte_find(to->mm, start);
	for (done = 0; done < bytes; done += PAGE_SIZE, pte++) {
		if (*pte && move_pte(to, start + done, pte, at + done) == -EAGAIN)
			break;
	}
	spin_unlock(&to->mm->page_table_lock);
	return done;
}

/* Move the PTEs of `v` from `start` on to `at` in `to`, copying what can't move. *done is how many
 * of the bytes were done. 0, -ENOMEM or -EINTR. Sleeps. */
static int move_range(struct remap *r, struct vma *v, vaddr_t start, struct vma *to, vaddr_t at,
		      uint32_t bytes, uint32_t *done)
{
	int error = OK;

	*done = 0;
	while (*done < bytes && !error) {
		vaddr_t addr = start + *done;
		uint32_t n = in_one_table(addr, bytes - *done), moved;

		if (!pte_find(r->mm, addr)) {
			*done += n;
			continue;
		}
		n = MIN(n, (uint32_t)MOVE_BATCH_BYTES);
		moved = move_batch(to, addr, at + *done, n);
		*done += moved;
		if (moved < n)
			error = copy_at(r, v, start + *done);
		cond_resched();
	}
	return error;
}

/* ---- Preparations, which may fail ---- */

/* Give `r->to` page tables where the old range has them, so that no PTE lacks its place: what is
 * in one table there may lie in two here. */
static int prepare_tables(struct remap *r, uint32_t bytes)
{
	uint32_t n;

	for (uint32_t i = 0; i < bytes; i += n) {
		n = in_one_table(r->start + i, bytes - i);
		if (pte_find(r->mm, r->start + i) &&
		    (!pte_prepare(r->mm, r->target + i) ||
		     !pte_prepare(r->mm, r->target + i + n - PAGE_SIZE)))
			return fault_no_memory();
	}
	return OK;
}

/* Copy the page at `addr` if others map it too and the reverse map wouldn't find it at `to`. */
static int prepare_page(struct remap *r, vaddr_t addr, vaddr_t to)
{
	pte_t e = *pte_find(r->mm, addr);
	struct page *p = pte_present(e) ? pfn_page(pte_pfn(e)) : NULL;

	if (!p || !page_is(p, PG_ANON) || p->mapcount < 2 || rmap_page_fits(p, r->to, to))
		return OK;
	return copy_at(r, r->from, addr);
}

/* The same for all pages, at their old place. */
static int prepare_pages(struct remap *r, uint32_t bytes)
{
	int error = OK;
	uint32_t n;

	for (uint32_t i = 0; i < bytes && !error; i += n) {
		n = in_one_table(r->start + i, bytes - i);
		if (!pte_find(r->mm, r->start + i))
			continue;
		for (uint32_t j = i; j < i + n && !error; j += PAGE_SIZE)
			error = prepare_page(r, r->start + j, r->target + j);
		cond_resched();
	}
	return error;
}

/* The vma at the new place, known to the reverse map but on no list yet. -ENOMEM. */
static int prepare_vma(struct remap *r)
{
	struct vma *v = r->from;
	int error;

	r->to = vma_create(r->mm, r->target, r->target + r->new_bytes,
			   v->flags & ~(uint32_t)VMA_HEAP);
	if (!r->to)
		return -ENOMEM;
	if (v->object)
		vma_set_object(r->to, v->object, v->object_page);
	error = rmap_vma_move(r->to, v, v->start);
	if (error) {
		vma_free(r->to);
		r->to = NULL;
	}
	return error;
}

/* ---- Move ---- */

/* Nothing was moved: forget r->to; the old range becomes what it was. */
static void undo_prepare(struct remap *r)
{
	if (r->to) {
		rmap_vma_unlink(r->to);
		vma_free(r->to);
	}
	mm_trim_tables(r->mm, r->target, r->target + r->new_bytes);
	vma_merge_around(r->from);
}

/*
 * `done` bytes were moved: they go back, and r->to goes. A page that another mm has found at its
 * new address must be copied to go back; without memory for that the task is killed, as by a
 * fault without memory.
 */
static void undo_move(struct remap *r, uint32_t done)
{
	struct task *t = r->mm->task;
	uint32_t back;

	if (move_range(r, r->to, r->target, r->from, r->start, done, &back)) {
		vma_zap(r->to, r->target, r->target + r->new_bytes);
		if (t) {
			printk("%s (%d): no memory to undo mremap, killed\n", t->name, t->pid);
			task_kill(t, TASK_STATUS_SIGNAL(ABI_SIGKILL));
		}
	}
	vma_destroy(r->to);
	mm_trim_tables(r->mm, r->target, r->target + r->new_bytes);
	vma_merge_around(r->from);
}

/* All went over: the old range goes, with what a smaller mapping loses. The promise for
 * what is kept belongs to r->to now. */
static void finish_move(struct remap *r)
{
	struct vma *v = r->from;

	if (v->flags & VMA_ACCOUNT)
		commit_release(r->mm, (r->old_bytes - MIN(r->old_bytes, r->new_bytes)) >> PAGE_SHIFT);
	vma_set_flags(v, v->flags & ~(uint32_t)VMA_ACCOUNT);
	vma_zap(v, v->start, v->end);
	vma_destroy(v);
	mm_trim_tables(r->mm, r->start, r->start + r->old_bytes);
	vma_merge_around(r->to);
}

/* Move the old range to r->target, which may hold vmas. 0, -ENOMEM or -EINTR. Sleeps. */
static int move(struct remap *r)
{
	uint32_t kept = MIN(r->old_bytes, r->new_bytes), done;
	int error;

	r->from = vma_isolate(vma_at(r->mm, r->start), r->start, r->start + r->old_bytes);
	if (!r->from)
		return -ENOMEM;
	error = prepare_vma(r);
	if (!error)
		error = prepare_tables(r, kept);
	if (!error)
		error = prepare_pages(r, kept);
	if (!error)
		error = mm_clear_range(r->mm, r->target, r->target + r->new_bytes);
	if (error) {
		undo_prepare(r);
		return error;
	}
	vma_insert(r->to);
	error = move_range(r, r->from, r->start, r->to, r->target, kept, &done);
	if (error)
		undo_move(r, done);
	else
		finish_move(r);
	return error;
}

/* ---- The call ---- */

/* Refuse what can't be meant, whatever is mapped. */
static int check_arguments(const struct remap *r)
{
	const uint32_t known = MREMAP_MAYMOVE | MREMAP_FIXED;

	if ((r->flags & ~known) || (r->flags & known) == MREMAP_FIXED ||
	    (r->start & ~PAGE_MASK) || r->old_bytes == 0 || r->new_bytes == 0)
		return -EINVAL;
	if (!(r->flags & MREMAP_FIXED))
		return OK;
	if ((r->target & ~PAGE_MASK) || !user_range_ok(r->target, r->new_bytes))
		return -EINVAL;
	return r->target < r->start + r->old_bytes && r->start < r->target + r->new_bytes ?
	       -EINVAL : OK;
}

/* Is the old range one vma's, and an object large enough? `v` holds its start, or is NULL. */
static int check_vma(const struct remap *r, const struct vma *v)
{
	if (!v || r->old_bytes > v->end - r->start)
		return -EFAULT;
	if (v->object && r->new_bytes > r->old_bytes) {
		uint32_t first = v->object_page + ((r->start - v->start) >> PAGE_SHIFT);

		if (r->new_bytes >> PAGE_SHIFT > v->object->page_count - first)
			return -EINVAL;
	}
	return OK;
}

/* Does nothing lie where `v` would grow to, nor is it a stack's? */
static bool can_grow(const struct remap *r, const struct vma *v)
{
	const struct vma *next = vma_next(v);

	return r->start + r->old_bytes == v->end && user_range_ok(r->start, r->new_bytes) &&
	       (!next || vma_claim(next) >= r->start + r->new_bytes);
}

/* Where the mapping will be: where it is if it can grow there and needn't go, else r->target. */
static int choose_place(struct remap *r, const struct vma *v)
{
	if (r->flags & MREMAP_FIXED)
		return OK;
	r->target = r->start;
	if (can_grow(r, v))
		return OK;
	if (r->flags & MREMAP_MAYMOVE)
		r->target = mm_find_room(r->mm, r->new_bytes);
	return r->target != r->start && r->target ? OK : -ENOMEM;
}

/* The mapping becomes smaller where it is, or stays: its tail is unmapped, whatever that holds. */
static int shrink(struct remap *r)
{
	r->target = r->start;
	if (!vma_at(r->mm, r->start))
		return -EFAULT;
	if (r->new_bytes == r->old_bytes)
		return OK;
	if (!user_range_ok(r->start, r->old_bytes))
		return -EINVAL;
	return mm_unmap_locked(r->mm, r->start + r->new_bytes, r->start + r->old_bytes);
}

/* mm_remap() with mmap_lock held and the arguments checked. */
static int remap_locked(struct remap *r)
{
	struct vma *v = vma_at(r->mm, r->start);
	uint32_t more = (r->new_bytes - MIN(r->old_bytes, r->new_bytes)) >> PAGE_SHIFT;
	uint32_t promise;
	int error;

	if (!(r->flags & MREMAP_FIXED) && more == 0)
		return shrink(r);
	error = check_vma(r, v);
	if (!error)
		error = choose_place(r, v);
	if (error)
		return error;
	r->locked = v->flags & VMA_LOCKED;
	error = r->locked ? limit_ask_lock(r->mm, more) : OK;
	if (error)
		return error;
	promise = v->flags & VMA_ACCOUNT ? more : 0;
	if (r->target == r->start) {
		error = map_ask(r->mm, v->end, v->end, more, promise);
		if (error)
			return error;
		vma_grow_up(v, r->start + r->new_bytes);
		vma_merge_around(v);
		return OK;
	}
	error = map_ask(r->mm, r->target, r->target + r->new_bytes, more, promise);
	if (error)
		return error;
	error = move(r);
	if (error)
		commit_release(r->mm, promise);
	return error;
}

/*
 * mremap, as Linux has it (POSIX doesn't): the address, or
 *   -EINVAL  not aligned, a length of 0, unknown flags, the two ranges overlap, or an object
 *            isn't that large. Linux lets a mapping grow beyond its object, and makes a second
 *            mapping of shared memory if the old length is 0.
 *   -EAGAIN  the memory is locked, and more would be beyond LIMIT_MEMLOCK
 *   -EFAULT  nothing is mapped at `start`; or, unless the range only shrinks or stays where it
 *            is, it has holes or is several vmas'
 *   -ENOMEM  no room and not allowed to move, LIMIT_AS, overcommit, too many vmas, no memory,
 *            or more of RAM would be locked than may be
 *   -EINTR   the caller was killed
 * Failing changes nothing that a program could see, but for what lay at the place of
 * MREMAP_FIXED if memory fails at the very end (see above). Takes mmap_lock; sleeps.
 */
int64_t mm_remap(struct mm *mm, vaddr_t start, uint32_t old_bytes, uint32_t new_bytes,
		 uint32_t flags, vaddr_t to)
{
	struct remap r = { .mm = mm, .start = start, .target = to, .flags = flags,
			   .old_bytes = PAGE_UP(old_bytes), .new_bytes = PAGE_UP(new_bytes) };
	int error = check_arguments(&r);

	if (error)
		return error;
	mutex_lock(&mm->mmap_lock);
	error = remap_locked(&r);
	mutex_unlock(&mm->mmap_lock);
	if (!error && r.locked)
		(void)mm_fill(mm, r.target, r.target + r.new_bytes);
	if (r.copied > 0 && mm->task)
		printk("%s (%d): mremap moved %u cows\n", mm->task->name, mm->task->pid, r.copied);
	return error ? error : (int64_t)r.target;
}

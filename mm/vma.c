/*
 * The vmas of an mm: a list by address, and a red-black tree by the same order.
 *
 * Whoever changes a vma's bounds holds, in this order, its object's lock (walks of object
 * pages use the bounds), the reverse map's lock (walks of anonymous pages do) and the
 * page_table_lock: bounds_lock(). mmap_lock is held all along.
 *
 * Entry points: vma_find(), vma_at(); vma_create(), vma_insert(), vma_destroy();
 * vma_split(), vma_split_borders(), vma_isolate(), vma_merge_around(), vma_grow_down(),
 * vma_grow_up(), vma_set_flags().
 */
#include "kernel/abi/errno.h"
#include "kernel/panic.h"
#include "kernel/string.h"
#include "mm/object.h"
#include "mm/rmap.h"
#include "mm/slab.h"
#include "mm/vma.h"

SLAB_CACHE(vma_cache, "vma", struct vma);

/* The next vma by address, or NULL. */
struct vma *vma_next(const struct vma *v)
{
	return v->link.next == &v->mm->vmas ? NULL : list_entry(v->link.next, struct vma, link);
}

/* The vma before `v` by address, or NULL. */
struct vma *vma_prev(const struct vma *v)
{
	return v->link.prev == &v->mm->vmas ? NULL : list_entry(v->link.prev, struct vma, link);
}

/*
 * vma_find() by the tree: the first vma of `mm` that ends above `addr`, whether it holds
 * `addr` or not, or NULL. Remembers what it found in mm->last_found. mmap_lock or the
 * page_table_lock held; never sleeps.
 */
struct vma *vma_search(struct mm *mm, vaddr_t addr)
{
	struct tree_node *n = mm->vma_tree.root;
	struct vma *v, *best = NULL;

	while (n) {
		v = container_of(n, struct vma, node);
		if (addr >= v->end) {
			n = n->right;
			continue;
		}
		best = v;
		if (addr >= v->start)
			break;
		n = n->left;
	}
	if (best)
		mm->last_found = best;
	return best;
}

/* The vma that holds `addr`, or NULL. Locks as vma_find(). */
struct vma *vma_at(struct mm *mm, vaddr_t addr)
{
	struct vma *v = vma_find(mm, addr);

	return v && v->start <= addr ? v : NULL;
}

/* Is [start, end) mapped without a hole? Locks as vma_find(). */
bool mm_covered(struct mm *mm, vaddr_t start, vaddr_t end)
{
	struct vma *v = vma_find(mm, start);

	while (start < end) {
		if (!v || v->start > start)
			return false;
		start = v->end;
		v = vma_next(v);
	}
	return true;
}

/*
 * A vma for [start, end) of `mm`, anonymous, on no list yet. NULL without memory, or when
 * the mm has VMA_COUNT_MAX already. mmap_lock held. Sleeps.
 */
struct vma *vma_create(struct mm *mm, vaddr_t start, vaddr_t end, uint32_t flags)
{
	struct vma *v;

	if (mm->vma_count >= VMA_COUNT_MAX)
		return NULL;
	v = slab_alloc(&vma_cache, GFP_KERNEL | GFP_NOFAIL_SMALL | GFP_ZERO);
	if (!v)
		return NULL;
	v->start = start;
	v->end = end;
	v->flags = flags;
	v->pgoff = start >> PAGE_SHIFT;
	v->mm = mm;
	list_init(&v->object_link);
	list_init(&v->link);
	return v;
}

/* `v`, not inserted yet, will map `o` from page `object_page` on; takes a reference. */
void vma_set_object(struct vma *v, struct object *o, uint32_t object_page)
{
	kobject_hold(&o->kobject);
	v->object = o;
	v->object_page = object_page;
}

/* Free a vma that is on no list; its object loses a reference. */
void vma_free(struct vma *v)
{
	struct object *o = v->object;

	slab_free(&vma_cache, v);
	if (o)
		kobject_drop(&o->kobject);
}

/* ---- Lists ---- */

/* All that a walk may look at while `v` changes; see the head of the file. */
static void bounds_lock(struct vma *v)
{
	if (v->object)
		spin_lock(&v->object->lock);
	rmap_vma_lock(v);
	spin_lock(&v->mm->page_table_lock);
}

static void bounds_unlock(struct vma *v)
{
	spin_unlock(&v->mm->page_table_lock);
	rmap_vma_unlock(v);
	if (v->object)
		spin_unlock(&v->object->lock);
}

/* Enter `v` into tree, list and object. bounds_lock() held. */
static void link_vma(struct vma *v)
{
	struct mm *mm = v->mm;
	struct tree_node *parent = NULL, *n = mm->vma_tree.root;
	struct list *after = &mm->vmas;
	bool left = false;

	while (n) {
		struct vma *other = container_of(n, struct vma, node);

		KASSERT2(v->end <= other->start || v->start >= other->end, "vma.2", v->start,
			 other->start);
		parent = n;
		left = v->start < other->start;
		if (!left)
			after = &other->link;
		n = left ? n->left : n->right;
	}
	tree_insert(&mm->vma_tree, &v->node, parent, left);
	list_insert(after, &v->link);
	if (v->object)
		list_insert_tail(&v->object->vmas, &v->object_link);
	mm->vma_count++;
}

/* Take `v` out of tree, list and object. bounds_lock() held. */
static void unlink_vma(struct vma *v)
{
	struct mm *mm = v->mm;

	tree_remove(&mm->vma_tree, &v->node);
	list_remove(&v->link);
	list_remove(&v->object_link);
	mm->vma_count--;
	if (mm->last_found == v)
		mm->last_found = NULL;
}

/* `v` has got or lost pages. mm.1, mm.3 */
static void count_pages(struct vma *v, int32_t change)
{
	v->mm->total_pages += (uint32_t)change;
	if (v->flags & VMA_LOCKED)
		v->mm->locked_pages += (uint32_t)change;
}

/* Enter a new vma; there is room for it. mmap_lock held. */
void vma_insert(struct vma *v)
{
	bounds_lock(v);
	link_vma(v);
	count_pages(v, (int32_t)vma_pages(v));
	bounds_unlock(v);
	if (vma_next(v) && (vma_next(v)->flags & VMA_GROWSDOWN))
		room_opens(v->mm, vma_prev(v), v);	/* the stack claims nothing below v */
}

/* Take out and free a vma; its pages are unmapped, its promise (commit) is the caller's
 * matter. mmap_lock held. */
void vma_destroy(struct vma *v)
{
	rmap_vma_unlink(v);
	room_opens(v->mm, vma_prev(v), vma_next(v));
	bounds_lock(v);
	unlink_vma(v);
	count_pages(v, -(int32_t)vma_pages(v));
	bounds_unlock(v);
	vma_free(v);
}

/* ---- Split, merge, grow ---- */

/*
 * Split `v` at `at`, page aligned and strictly inside it (else a fault, vma.1): `v` keeps the
 * front, the rest becomes a new vma with the same flags, whose pgoff and object page go on
 * where the front's end, and which the reverse map is told of. Returns the new one, or NULL
 * without memory: then nothing is changed. mmap_lock held, no spinlock; the bounds change
 * under bounds_lock(). Sleeps.
 */
struct vma *vma_split(struct vma *v, vaddr_t at)
{
	struct vma *back = vma_create(v->mm, at, v->end, v->flags);
	uint32_t front_pages = (at - v->start) >> PAGE_SHIFT;

	KASSERT2(at > v->start && at < v->end && !(at & ~PAGE_MASK), "vma.1", at, v->start);
	if (!back)
		return NULL;
	back->pgoff = v->pgoff + front_pages;
	if (v->object)
		vma_set_object(back, v->object, v->object_page + front_pages);
	bounds_lock(v);
	v->end = at;
	link_vma(back);
	rmap_vma_split(v, back);
	bounds_unlock(v);
	return back;
}

/* Make vma borders at `start` and `end`, where they lie inside a vma. -ENOMEM changes
 * nothing. mmap_lock held. Sleeps. */
int vma_split_borders(struct mm *mm, vaddr_t start, vaddr_t end)
{
	struct vma *v = vma_at(mm, start), *front = NULL;

	if (v && v->start < start) {
		if (!vma_split(v, start))
			return -ENOMEM;
		front = v;
	}
	v = vma_at(mm, end - 1);
	if (v && v->end > end && !vma_split(v, end)) {
		if (front)
			vma_merge_around(front);
		return -ENOMEM;
	}
	return OK;
}

/*
 * Split off what of `v` lies outside [start, end), which is page aligned, not empty and inside
 * it: returns the vma of just that range. NULL without memory: nothing has changed then.
 * mmap_lock held. Sleeps.
 */
struct vma *vma_isolate(struct vma *v, vaddr_t start, vaddr_t end)
{
	KASSERT2(start >= v->start && end <= v->end, "vma.1", start, end);
	return vma_split_borders(v->mm, start, end) ? NULL : vma_at(v->mm, start);
}

/* May `front` and `back`, neighbours, become one? The same in all but the place, and the
 * reverse map agrees. */
bool vma_can_merge(const struct vma *front, const struct vma *back)
{
	if (front->end != back->start || front->flags != back->flags ||
	    front->object != back->object)
		return false;
	if (front->object && front->object_page + vma_pages(front) != back->object_page)
		return false;
	return rmap_vma_can_merge(front, back);
}

/* v's end rose: a stack claims less below, as it may not reach so far down any more. */
static void end_rose(const struct vma *v)
{
	if (v->flags & VMA_GROWSDOWN)
		room_opens(v->mm, vma_prev(v), v);
}

/* `back` becomes part of `front`. The bounds change first and the reverse map after: in
 * between, a walk would find a page through both, which does no harm. */
static void merge_pair(struct vma *front, struct vma *back)
{
	bounds_lock(front);
	front->end = back->end;
	unlink_vma(back);
	bounds_unlock(front);
	end_rose(front);
	rmap_vma_merge(front, back);
	vma_free(back);
}

/*
 * Merge `v` with the vmas before and after it, where vma_can_merge() allows: what lies lower
 * goes on, the other is freed. Returns the survivor. mmap_lock held, no spinlock; doesn't
 * sleep.
 */
struct vma *vma_merge_around(struct vma *v)
{
	struct vma *other = vma_prev(v);

	if (other && vma_can_merge(other, v)) {
		merge_pair(other, v);
		v = other;
	}
	other = vma_next(v);
	if (other && vma_can_merge(v, other))
		merge_pair(v, other);
	return v;
}

/* `v`, a stack, reaches down to `start` from now on. mmap_lock held; nothing is there. */
void vma_grow_down(struct vma *v, vaddr_t start)
{
	uint32_t page_count_more = (v->start - start) >> PAGE_SHIFT;

	bounds_lock(v);
	v->start = start;
	v->pgoff -= page_count_more;
	count_pages(v, (int32_t)page_count_more);
	bounds_unlock(v);
}

/* `v` reaches up to `end` from now on. mmap_lock held; nothing is there. */
void vma_grow_up(struct vma *v, vaddr_t end)
{
	uint32_t page_count_more = (end - v->end) >> PAGE_SHIFT;

	bounds_lock(v);
	v->end = end;
	count_pages(v, (int32_t)page_count_more);
	bounds_unlock(v);
	end_rose(v);
}

/* Change v's flags, which reclaim reads under the page_table_lock. PTEs are the caller's
 * matter. mmap_lock held. */
void vma_set_flags(struct vma *v, uint32_t flags)
{
	uint32_t changed = flags ^ v->flags;

	spin_lock(&v->mm->page_table_lock);
	if (changed & VMA_LOCKED)
		v->mm->locked_pages += flags & VMA_LOCKED ? vma_pages(v) : -vma_pages(v);
	v->flags = flags;
	spin_unlock(&v->mm->page_table_lock);
}

/*
 * RMAP=anon_vma, after Linux 2.6.7 (docs/history.md 6.1 to 6.4).
 *
 * A page points to an anon_vma and knows its linear offset; the anon_vma lists all vmas
 * that may map such pages: those that came from one vma by fork, split and mremap. Each
 * of them tells from its pgoff at which address it would show the page.
 *
 * rmap.3  a vma with anonymous pages is on its anon_vma's list, all others on none
 * rmap.4  an anon_vma without vmas doesn't exist: no page can point to it any more
 *
 * Locks: RANK_RMAP is the anon_vma's, taken before any page_table_lock. `anon_vma` of a
 * vma changes under mmap_lock of its mm and is read under that or the page_table_lock.
 */
#include "mm/rmap/anon_vma/anon_vma.h"
#include "kernel/abi/errno.h"
#include "kernel/counters.h"
#include "kernel/panic.h"
#include "mm/audit.h"
#include "mm/rmap/walk.h"
#include "mm/slab.h"

const char rmap_name[] = "anon_vma";

SLAB_CACHE(anon_vma_cache, "anon_vma", struct anon_vma);
static struct list all_anon_vmas = LIST_INIT(all_anon_vmas);
static uint32_t anon_vma_count;

/* ---- The list of an anon_vma ---- */

/* Lock `a` unless the running code already holds it (between rmap_vma_lock() and
 * rmap_vma_unlock()). Returns whether it must be unlocked. */
static bool anon_vma_lock(struct anon_vma *a)
{
	if (spin_held(&a->lock))
		return false;
	spin_lock(&a->lock);
	return true;
}

static void anon_vma_unlock(struct anon_vma *a, bool locked_here)
{
	if (locked_here)
		spin_unlock(&a->lock);
}

static void list_vma(struct anon_vma *a, struct vma *v)
{
	bool locked_here = anon_vma_lock(a);

	v->rmap.anon_vma = a;
	list_insert_tail(&a->vmas, &v->rmap.link);
	anon_vma_unlock(a, locked_here);
}

struct anon_vma *anon_vma_create(void)
{
	struct anon_vma *a = slab_alloc(&anon_vma_cache, GFP_KERNEL);

	if (!a)
		return NULL;
	spin_init(&a->lock, RANK_RMAP);
	list_init(&a->vmas);
	list_insert_tail(&all_anon_vmas, &a->link);
	anon_vma_count++;
	return a;
}

static void anon_vma_destroy(struct anon_vma *a)
{
	KASSERT(list_empty(&a->vmas), "rmap.4");
	list_remove(&a->link);
	anon_vma_count--;
	slab_free(&anon_vma_cache, a);
}

/* ---- Life of mms and vmas ---- */

int rmap_mm_create(struct mm *mm, struct mm *parent)
{
	(void)mm;
	(void)parent;
	return 0;
}

void rmap_mm_destroy(struct mm *mm)
{
	(void)mm;
}

/* Could `front` and `back`, which touch, become one vma once both have the same
 * protection and the same anon_vma? Then they had better share it from the start. */
static bool mergeable_after_mprotect(const struct vma *front, const struct vma *back)
{
	uint32_t front_pages = (front->end - front->start) >> PAGE_SHIFT;

	return front->end == back->start &&
	       (front->flags & ~(uint32_t)VMA_PROT) == (back->flags & ~(uint32_t)VMA_PROT) &&
	       front->object == back->object &&
	       (!front->object || front->object_page + front_pages == back->object_page) &&
	       front->pgoff + front_pages == back->pgoff;
}

static struct anon_vma *find_mergeable(struct vma *v)
{
	struct list *head = &v->mm->vmas;
	struct vma *other;

	if (v->link.next != head) {
		other = list_entry(v->link.next, struct vma, link);
		if (other->rmap.anon_vma && mergeable_after_mprotect(v, other))
			return other->rmap.anon_vma;
	}
	if (v->link.prev != head) {
		other = list_entry(v->link.prev, struct vma, link);
		if (other->rmap.anon_vma && mergeable_after_mprotect(other, v))
			return other->rmap.anon_vma;
	}
	return NULL;
}

/*
 * Give `v` an anon_vma before its first anonymous page: a neighbour's if the two may
 * merge one day, else a new one. 0 or -ENOMEM. mmap_lock held, no spinlock. Sleeps when
 * it must allocate; another fault can't get in between, as mmap_lock is held.
 */
int rmap_vma_prepare(struct vma *v)
{
	struct anon_vma *a = v->rmap.anon_vma;

	if (a)
		return 0;
	a = find_mergeable(v);
	if (!a)
		a = anon_vma_create();
	if (!a)
		return -ENOMEM;
	list_vma(a, v);
	return 0;
}

int rmap_vma_fork(struct vma *child, struct vma *parent)
{
	child->rmap.anon_vma = NULL;
	if (parent->rmap.anon_vma)
		list_vma(parent->rmap.anon_vma, child);
	return 0;
}

void rmap_vma_split(struct vma *front, struct vma *back)
{
	back->rmap.anon_vma = NULL;
	if (front->rmap.anon_vma)
		list_vma(front->rmap.anon_vma, back);
}

bool rmap_vma_can_merge(const struct vma *front, const struct vma *back)
{
	uint32_t front_pages = (front->end - front->start) >> PAGE_SHIFT;
	struct anon_vma *a = front->rmap.anon_vma, *b = back->rmap.anon_vma;

	return (a == b || !a || !b) && front->pgoff + front_pages == back->pgoff;
}

/*
 * Take `v` off its anon_vma's list, if it is on one; the anon_vma goes with its last vma
 * (rmap.4). The vma's pages are unmapped. mmap_lock held, and between rmap_vma_lock() and
 * rmap_vma_unlock() the anon_vma's lock, else it is taken here. Never sleeps.
 */
void rmap_vma_unlink(struct vma *v)
{
	struct anon_vma *a = v->rmap.anon_vma;
	bool locked_here, last;

	if (!a)
		return;
	locked_here = anon_vma_lock(a);
	list_remove(&v->rmap.link);
	v->rmap.anon_vma = NULL;
	last = list_empty(&a->vmas);
	KASSERT(!last || locked_here, "rmap.4");
	anon_vma_unlock(a, locked_here);
	if (last)
		anon_vma_destroy(a);
}

/* The survivor is listed before the other goes, so that the anon_vma stays. */
void rmap_vma_merge(struct vma *kept, struct vma *gone)
{
	struct anon_vma *a = gone->rmap.anon_vma;

	KASSERT(!a || !kept->rmap.anon_vma || a == kept->rmap.anon_vma, "rmap.3");
	if (a && !kept->rmap.anon_vma)
		list_vma(a, kept);
	rmap_vma_unlink(gone);
}

/* mremap: pages keep mapping and index, since `to` goes on with the pgoff they have in `from`;
 * only the list grows. A vma without anonymous pages begins anew, for better merging. */
int rmap_vma_move(struct vma *to, struct vma *from, vaddr_t from_start)
{
	if (from->rmap.anon_vma)
		to->pgoff = from->pgoff + ((from_start - from->start) >> PAGE_SHIFT);
	return rmap_vma_fork(to, from);
}

void rmap_vma_lock(struct vma *v)
{
	if (v->rmap.anon_vma)
		spin_lock(&v->rmap.anon_vma->lock);
}

/* A vma that got its anon_vma by a merge in between was never locked through it. */
void rmap_vma_unlock(struct vma *v)
{
	if (v->rmap.anon_vma && spin_held(&v->rmap.anon_vma->lock))
		spin_unlock(&v->rmap.anon_vma->lock);
}

/* ---- Pages ---- */

static uint32_t linear_offset(const struct vma *v, vaddr_t addr)
{
	return v->pgoff + ((addr - v->start) >> PAGE_SHIFT);
}

void rmap_page_add(struct page *p, struct vma *v, vaddr_t addr)
{
	struct anon_vma *a = v->rmap.anon_vma;

	KASSERT2(a, "rmap.3", page_pfn(p), addr);
	if (page_is(p, PG_ANON)) {
		KASSERT2(p->mapping == a && p->index == linear_offset(v, addr), "rmap.1",
			 page_pfn(p), addr);
		return;
	}
	KASSERT2(!p->mapping, "frame.5", page_pfn(p), addr);
	p->mapping = a;
	p->index = linear_offset(v, addr);
	page_set(p, PG_ANON);
}

void rmap_page_dup(struct page *p, struct vma *child, vaddr_t addr)
{
	KASSERT2(p->mapping == child->rmap.anon_vma, "rmap.1", page_pfn(p), addr);
}

void rmap_page_remove(struct page *p, struct mm *mm, vaddr_t addr)
{
	(void)mm;
	(void)addr;
	if (p->mapcount > 0)
		return;
	rmap_page_forget(p);
}

int rmap_page_move(struct page *p, struct vma *to, vaddr_t from_addr, vaddr_t to_addr)
{
	(void)from_addr;
	KASSERT2(p->index == linear_offset(to, to_addr), "rmap.1", page_pfn(p), to_addr);
	return 0;
}

bool rmap_page_fits(struct page *p, struct vma *v, vaddr_t addr)
{
	return !page_is(p, PG_ANON) ||
	       (p->mapping == v->rmap.anon_vma && p->index == linear_offset(v, addr));
}

/* ---- The walk ---- */

/*
 * Visit every vma on the list of p's anon_vma that would show the page inside its bounds, by
 * its pgoff and the page's index, as long as rmap_walk_goes_on(). Offsets go round at 2^32: a
 * stack that mremap took to higher addresses may grow to below its offset 0. The anon_vma's
 * lock is only tried: busy sets w->again. The page is locked, so that it keeps its anon_vma.
 * Never sleeps.
 */
void rmap_walk_anon(struct page *p, rmap_visit visit, struct rmap_walk *w)
{
	struct anon_vma *a = p->mapping;
	struct vma *v;

	if (!spin_trylock(&a->lock)) {
		w->again = true;
		return;
	}
	list_for_each(v, &a->vmas, rmap.link) {
		uint32_t offset = p->index - v->pgoff;

		if (!rmap_walk_goes_on(w))
			break;
		COUNT(rmap_probes);
		if (v->mm->rss > 0 && offset < (v->end - v->start) >> PAGE_SHIFT)
			visit(p, v->mm, v, v->start + (offset << PAGE_SHIFT), w);
	}
	spin_unlock(&a->lock);
}

/* ---- Figures and checks ---- */

uint32_t rmap_bytes(void)
{
	uint32_t bytes = anon_vma_count * (uint32_t)sizeof(struct anon_vma);
	struct mm *mm;

	list_for_each(mm, &mm_all, all_link)
		bytes += mm->vma_count * (uint32_t)sizeof(struct rmap_vma);
	return bytes;
}

/* rmap.2 and rmap.3 of a vma on the list of `a`. *listed counts those that their mm has; one
 * that is on its way in or out (mremap) has its mm's mmap_lock held. */
static unsigned check_listed(const struct anon_vma *a, const struct vma *v, unsigned *listed)
{
	unsigned bad = 0;

	if (v->rmap.anon_vma != a)
		bad += audit_violation("rmap.3", "vma %#x-%#x is on a foreign list", v->start,
				       v->end);
	if (vma_at(v->mm, v->start) == v)
		++*listed;
	else if (!v->mm->mmap_lock.owner)
		bad += audit_violation("rmap.2", "vma %#x-%#x is listed, but no mm has it",
				       v->start, v->end);
	return bad;
}

/* rmap.2 to rmap.4. */
unsigned rmap_check(void)
{
	unsigned bad = 0, listed = 0, linked = 0;
	struct anon_vma *a;
	struct mm *mm;
	struct vma *v;

	list_for_each(mm, &mm_all, all_link) {
		list_for_each(v, &mm->vmas, link)
			linked += v->rmap.anon_vma != NULL;
	}
	list_for_each(a, &all_anon_vmas, link) {
		uint32_t left = linked + 1;	/* a broken list may have no end */

		if (list_empty(&a->vmas))
			bad += audit_violation("rmap.4", "an anon_vma without vmas");
		list_for_each(v, &a->vmas, rmap.link) {
			bad += check_listed(a, v, &listed);
			if (--left == 0)
				break;
		}
	}
	if (listed != linked)
		bad += audit_violation("rmap.3", "%u vmas are on lists, %u say that they are", listed,
				       linked);
	return bad;
}

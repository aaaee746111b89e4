/*
 * The reverse mapping's part that all variants share: counting a page's PTEs, and what
 * reclaim does to each PTE that a walk finds. Who walks whom: mm/rmap/walk.h.
 *
 * Locks: page_table_lock of the mm for everything that touches a PTE or a mapcount.
 * A walk comes from the other side (page first, then mm), so it only tries that lock.
 */
#include "kernel/counters.h"
#include "kernel/panic.h"
#include "kernel/task.h"
#include "kernel/trace.h"
#include "mm/rmap/walk.h"
#include "mm/swap.h"

static uint32_t mapped_pages;		/* pages with mapcount > 0 */
static uint32_t mapped_anon;		/* ... that are PG_ANON */

uint32_t rmap_mapped_pages(void)
{
	return mapped_pages;
}

uint32_t rmap_mapped_anon(void)
{
	return mapped_anon;
}

static int32_t mm_pid(const struct mm *mm)
{
	return mm->task ? mm->task->pid : 0;
}

static void count_one_more(struct page *p, struct mm *mm)
{
	KASSERT(spin_held(&mm->page_table_lock), "page_table_lock");
	if (p->mapcount++ == 0)
		mapped_pages++;
	if (++mm->rss > mm->max_rss)
		mm->max_rss = mm->rss;
}

/*
 * The PTE at `addr` of `v` has just been set to map the anonymous page `p`: raises
 * mapcount and rss, and tells the reverse map. The PTE's reference is the caller's to
 * take. page_table_lock held, rmap_vma_prepare(v) done. Never sleeps, never fails.
 */
void page_map_anon(struct page *p, struct vma *v, vaddr_t addr)
{
	count_one_more(p, v->mm);
	if (p->mapcount == 1)
		mapped_anon++;
	rmap_page_add(p, v, addr);
	TRACE(MAP, page_pfn(p), mm_pid(v->mm), addr);
}

/* The same for a page of an object; reserved ones (boot modules) aren't counted. */
void page_map_object(struct page *p, struct vma *v, vaddr_t addr)
{
	if (!page_is(p, PG_RESERVED))
		count_one_more(p, v->mm);
	TRACE(MAP, page_pfn(p), mm_pid(v->mm), addr);
}

/*
 * A page that nobody maps any more but that is still in the swap cache, in a slot that
 * no PTE names: nobody can ask for it again, so slot and cache let go at once. If
 * somebody has it locked, it is left to reclaim.
 */
static void forget_swap_copy(struct page *p)
{
	if (!page_trylock(p))
		return;
	swap_cache_try_free(p);
	page_unlock(p);
}

/*
 * The PTE at `addr` in `mm`, which mapped `p`, is gone: lowers mapcount and rss, and
 * tells the reverse map. The caller then drops the PTE's reference. page_table_lock
 * held. Never sleeps.
 */
void page_unmap(struct page *p, struct mm *mm, vaddr_t addr)
{
	TRACE(UNMAP, page_pfn(p), mm_pid(mm), addr);
	if (page_is(p, PG_RESERVED))
		return;
	KASSERT(spin_held(&mm->page_table_lock), "page_table_lock");
	KASSERT2(p->mapcount > 0, "frame.2", page_pfn(p), addr);
	KASSERT2(mm->rss > 0, "mm.2", page_pfn(p), addr);
	p->mapcount--;
	mm->rss--;
	if (p->mapcount == 0) {
		mapped_pages--;
		if (page_is(p, PG_ANON))
			mapped_anon--;
	}
	if (page_is(p, PG_ANON))
		rmap_page_remove(p, mm, addr);
	if (p->mapcount == 0 && page_is(p, PG_SWAPCACHE) && !page_is(p, PG_OBJECT))
		forget_swap_copy(p);
}

/* ---- What reclaim does to one candidate ---- */

/* The PTE of `addr` in `mm` if it maps `p`, else NULL. page_table_lock held, or nothing
 * moves. */
static pte_t *pte_that_maps(const struct page *p, struct mm *mm, vaddr_t addr)
{
	pte_t *pte = pte_find(mm, addr);

	return pte && pte_present(*pte) && pte_pfn(*pte) == page_pfn(p) ? pte : NULL;
}

/* The vma of a PTE that was found: `v` if the variant knew it. Locks as pte_that_maps(). */
static struct vma *vma_of_pte(struct mm *mm, struct vma *v, vaddr_t addr)
{
	if (!v)
		v = vma_at(mm, addr);
	KASSERT2(v, "pt.1", addr, 0);
	return v;
}

/* Count and clear the accessed bit of the PTE of `addr` in `mm`, if it maps `p`. One that
 * may not go anyway (mlock) counts as used. */
void rmap_one_referenced(struct page *p, struct mm *mm, struct vma *v, vaddr_t addr,
			 struct rmap_walk *w)
{
	pte_t *pte;

	if (!spin_trylock(&mm->page_table_lock)) {
		w->again = true;
		return;
	}
	pte = pte_that_maps(p, mm, addr);
	if (pte) {
		COUNT(rmap_hits);
		w->left--;
		if (pte_test_and_clear_young(mm, addr, pte) ||
		    (vma_of_pte(mm, v, addr)->flags & VMA_LOCKED))
			w->referenced++;
	}
	spin_unlock(&mm->page_table_lock);
}

/*
 * Take the PTE at `addr` of `v`, which maps `p`, away: a swap entry (with a count of the slot) for
 * a page in the swap cache, 0 for an object's. The dirty bit goes to the page, the PTE's
 * reference is dropped: somebody else holds one. Returns false, with nothing changed, if the
 * slot can't count one holder more. page_table_lock held; never sleeps.
 */
bool page_unmap_to_swap(struct page *p, struct vma *v, vaddr_t addr, pte_t *pte)
{
	swap_entry e = { p->private };
	bool to_swap = !page_is(p, PG_OBJECT);

	if (to_swap && swap_dup(e) != 0)
		return false;
	if (*pte & PTE_DIRTY)
		page_set(p, PG_DIRTY);
	*pte = to_swap ? pte_from_swap(e) : 0;
	tlb_flush_page(v->mm, addr);
	if (to_swap)
		v->mm->swap_ptes++;
	page_unmap(p, v->mm, addr);
	page_drop(p);
	COUNT(rmap_unmaps);
	return true;
}

/* Unmap `p` at `addr` of `mm`, if the PTE there maps it. A young PTE or a locked vma sets
 * w->fail (docs/history.md 6.4). */
void rmap_one_unmap(struct page *p, struct mm *mm, struct vma *v, vaddr_t addr,
		    struct rmap_walk *w)
{
	pte_t *pte;

	if (!spin_trylock(&mm->page_table_lock)) {
		w->again = true;
		return;
	}
	pte = pte_that_maps(p, mm, addr);
	if (pte) {
		COUNT(rmap_hits);
		w->left--;
		v = vma_of_pte(mm, v, addr);
		if ((v->flags & VMA_LOCKED) || (*pte & PTE_ACCESSED) ||
		    !page_unmap_to_swap(p, v, addr, pte))
			w->fail = true;
	}
	spin_unlock(&mm->page_table_lock);
}

/* ---- Walks ---- */

static void walk(struct page *p, rmap_visit visit, struct rmap_walk *w)
{
	if (page_is(p, PG_ANON))
		rmap_walk_anon(p, visit, w);
	else if (page_is(p, PG_OBJECT))
		rmap_walk_object(p, visit, w);
}

/*
 * How often `p` was used since the last time somebody asked: returns the number of its PTEs with
 * the accessed bit, plus one for PG_REFERENCED; all are cleared. PTEs behind a busy lock are
 * taken for unused. The page is locked, no spinlock held. Never sleeps.
 */
unsigned rmap_referenced(struct page *p)
{
	struct rmap_walk w = { .left = p->mapcount, .tidy = true };

	if (page_is(p, PG_REFERENCED)) {
		page_clear(p, PG_REFERENCED);
		w.referenced++;
	}
	if (w.left > 0)
		walk(p, rmap_one_referenced, &w);
	return w.referenced;
}

/*
 * Unmap `p` everywhere. Returns RMAP_UNMAPPED; RMAP_AGAIN if a lock was busy; RMAP_FAIL if it
 * is used, mlocked, or can't get a count of its slot. The page is locked, in the swap cache if
 * it is anonymous, and the caller holds one reference beside the PTEs', the cache's and the
 * object's: with more than that somebody has pinned it, and it stays. Never sleeps.
 */
enum rmap_result rmap_try_to_unmap(struct page *p)
{
	struct rmap_walk w = { .left = p->mapcount };

	if (p->count > page_known_refs(p) + 1)
		return RMAP_FAIL;
	walk(p, rmap_one_unmap, &w);
	if (p->mapcount == 0)
		return RMAP_UNMAPPED;
	if (w.fail)
		return RMAP_FAIL;
	KASSERT2(w.again, "rmap.1", page_pfn(p), p->mapcount);
	return RMAP_AGAIN;
}

struct call_each {
	struct rmap_walk walk;		/* first: visit() gets only this */
	void (*fn)(struct vma *v, vaddr_t addr, void *arg);
	void *arg;
};

static void visit_call(struct page *p, struct mm *mm, struct vma *v, vaddr_t addr,
		       struct rmap_walk *w)
{
	struct call_each *c = container_of(w, struct call_each, walk);

	if (!pte_that_maps(p, mm, addr))
		return;
	w->left--;
	c->fn(vma_of_pte(mm, v, addr), addr, c->arg);
}

/* See rmap.h. Takes no page_table_lock: the caller neither sleeps nor changes a PTE. */
void rmap_for_each(struct page *p, void (*fn)(struct vma *v, vaddr_t addr, void *arg), void *arg)
{
	struct call_each c = { .walk.left = UINT32_MAX, .fn = fn, .arg = arg };

	walk(p, visit_call, &c.walk);
}

/*
 * RMAP=anonmm, after Hugh Dickins' patches for Linux 2.6.5 (docs/history.md 5.1 to 5.6).
 *
 * An anonymous page is born in one mm at one address. fork may spread it to other mms, but
 * always at that address. So the page remembers the address and a member of the family,
 * and who wants its PTEs looks there in every member. Nothing is kept for a vma or a PTE.
 * The price: mremap must copy pages that others share, as it would break the rule.
 *
 * rmap.5  the count of an anonmm is 1 for its mm, if alive, and 1 for every anonymous page
 *         that points to it; a head's has 1 more for each member of the ring, itself too
 * rmap.6  all on one ring have the same head, and it is one of them
 * rmap.7  an anonmm without mm and pages doesn't exist, unless it heads a ring of others
 * rmap.8  an mm and its anonmm point to each other
 *
 * Every family has a member that is alive: a page is anonymous only while a PTE maps it.
 *
 * Locks: RANK_FAMILY is the head's and guards the ring, the counts, and mapping and index
 * of the family's pages. It is taken under a page_table_lock; a walk, which has it first,
 * only tries those.
 */
#include "mm/rmap/anonmm/anonmm.h"
#include "kernel/abi/errno.h"
#include "kernel/counters.h"
#include "kernel/panic.h"
#include "mm/audit.h"
#include "mm/rmap/no_vmas.h"
#include "mm/rmap/walk.h"
#include "mm/slab.h"

const char rmap_name[] = "anonmm";

SLAB_CACHE(anonmm_cache, "anonmm", struct anonmm);
static uint32_t anonmm_count;

/* ---- Families ---- */

static struct anonmm *next_member(const struct anonmm *a)
{
	return list_entry(a->ring.next, struct anonmm, ring);
}

struct anonmm *anonmm_create(struct mm *mm)
{
	struct anonmm *a = slab_alloc(&anonmm_cache, GFP_KERNEL);

	if (!a)
		return NULL;
	a->count = 1;
	spin_init(&a->lock, RANK_FAMILY);
	a->mm = mm;
	a->head = a;
	list_init(&a->ring);
	anonmm_count++;
	return a;
}

static void anonmm_free(struct anonmm *a)
{
	anonmm_count--;
	slab_free(&anonmm_cache, a);
}

void anonmm_join(struct anonmm *a, struct anonmm *head)
{
	spin_lock(&head->lock);
	a->head = head;
	list_insert_tail(&head->ring, &a->ring);
	head->count++;
	spin_unlock(&head->lock);
}

/*
 * `a` loses a reference; its family is locked. With the last one it leaves the ring and
 * goes. Returns whether only the head is left, held by nothing but itself: whoever sees that
 * frees it, having let go of the lock. It can't be while a member is alive.
 */
static bool anonmm_drop(struct anonmm *a)
{
	struct anonmm *head = a->head;

	KASSERT(a->count > 0, "rmap.5");
	if (--a->count == 0) {
		list_remove(&a->ring);
		anonmm_free(a);
		head->count--;
	}
	return head->count == 1;
}

/*
 * Give `mm` an anonmm: without `parent` (exec) it founds a family and counts itself as the
 * ring's head; else (fork) it joins the parent's family at the end of the ring. Returns 0, or
 * -ENOMEM and nothing has changed. Nobody else knows `mm` yet; takes the head's lock. Sleeps.
 */
int rmap_mm_create(struct mm *mm, struct mm *parent)
{
	struct anonmm *a = anonmm_create(mm);

	if (!a)
		return -ENOMEM;
	if (parent)
		anonmm_join(a, parent->rmap.anonmm->head);
	else
		a->count++;
	mm->rmap.anonmm = a;
	return 0;
}

/* Pages that were born here and live on in children keep the anonmm, but not the mm. */
void rmap_mm_destroy(struct mm *mm)
{
	struct anonmm *a = mm->rmap.anonmm, *head = a->head;
	bool last;

	spin_lock(&head->lock);
	a->mm = NULL;
	last = anonmm_drop(a);
	spin_unlock(&head->lock);
	mm->rmap.anonmm = NULL;
	if (last)
		anonmm_free(head);
}

/* ---- Pages ---- */

bool rmap_page_fits(struct page *p, struct vma *v, vaddr_t addr)
{
	const struct anonmm *a = p->mapping;

	return !page_is(p, PG_ANON) ||
	       (a->head == v->mm->rmap.anonmm->head && p->index == addr);
}

/*
 * The PTE at `addr` of `v` maps the anonymous page `p` now, mapcount was raised. The first time
 * (no PG_ANON yet, and nobody's: frame.5) the page points to the mm's anonmm, which counts it,
 * and its index is the address; a page that another member brought back from swap stays
 * that member's. page_table_lock held; takes the head's lock. Never sleeps.
 */
void rmap_page_add(struct page *p, struct vma *v, vaddr_t addr)
{
	struct anonmm *a = v->mm->rmap.anonmm;

	if (page_is(p, PG_ANON)) {
		KASSERT2(rmap_page_fits(p, v, addr), "rmap.1", page_pfn(p), addr);
		return;
	}
	KASSERT2(!p->mapping, "frame.5", page_pfn(p), addr);
	spin_lock(&a->head->lock);
	p->mapping = a;
	p->index = addr;
	page_set(p, PG_ANON);
	a->count++;
	spin_unlock(&a->head->lock);
}

void rmap_page_dup(struct page *p, struct vma *child, vaddr_t addr)
{
	KASSERT2(rmap_page_fits(p, child, addr), "rmap.1", page_pfn(p), addr);
}

/* The family is that of `mm`, so its lock is found without asking the page; a walk that
 * unmaps has it already. */
void rmap_page_remove(struct page *p, struct mm *mm, vaddr_t addr)
{
	struct anonmm *head, *a;
	bool in_walk;

	(void)addr;
	if (p->mapcount > 0)
		return;
	head = mm->rmap.anonmm->head;
	in_walk = spin_held(&head->lock);
	if (!in_walk)
		spin_lock(&head->lock);
	a = p->mapping;
	rmap_page_forget(p);
	anonmm_drop(a);
	if (!in_walk)
		spin_unlock(&head->lock);
}

/*
 * mremap moves the PTE of `p` from `from_addr` to `to_addr` in the mm of `to`. The one PTE of a
 * page takes the page along: its index changes, 0 is returned. A shared page stays, for the
 * others: -EAGAIN, the caller makes a copy. page_table_lock held; takes the head's lock. Never
 * sleeps.
 */
int rmap_page_move(struct page *p, struct vma *to, vaddr_t from_addr, vaddr_t to_addr)
{
	struct anonmm *head = to->mm->rmap.anonmm->head;

	KASSERT2(p->index == from_addr, "rmap.1", page_pfn(p), from_addr);
	if (p->mapcount > 1)
		return -EAGAIN;
	spin_lock(&head->lock);
	p->index = to_addr;
	spin_unlock(&head->lock);
	return 0;
}

/* ---- The walk ---- */

/* `p` points to an mm that is no more: to `heir`, which maps it, from now on, so that the
 * dead one's anonmm can go. Family locked. */
static void bequeath(struct page *p, struct anonmm *dead, struct anonmm *heir)
{
	p->mapping = heir;
	heir->count++;
	anonmm_drop(dead);
}

/*
 * Visit every member of p's family that has pages: first the one that the page points to, which
 * mostly has it alone, then all the others around the ring. Older ones may have it, too: after a
 * swap-in the page points to whoever faulted first. A visit may take the page's last PTE, and
 * `home` with it; then the walk is at its end. With w->tidy a page whose home is dead is left to
 * a member that maps it. The head's lock is only tried: busy sets w->again. The page is locked.
 * Never sleeps.
 */
void rmap_walk_anon(struct page *p, rmap_visit visit, struct rmap_walk *w)
{
	struct anonmm *home = p->mapping, *head = home->head, *m = home, *heir = NULL;

	if (!spin_trylock(&head->lock)) {
		w->again = true;
		return;
	}
	do {
		unsigned left = w->left;

		if (m->mm && m->mm->rss > 0) {
			COUNT(rmap_probes);
			visit(p, m->mm, NULL, p->index, w);
			if (w->left < left)
				heir = m;
		}
		m = next_member(m);
	} while (rmap_walk_goes_on(w) && m != home);
	if (w->tidy && heir && !home->mm)
		bequeath(p, home, heir);
	spin_unlock(&head->lock);
}

/* ---- Figures and checks ---- */

uint32_t rmap_bytes(void)
{
	uint32_t bytes = anonmm_count * (uint32_t)sizeof(struct anonmm);
	struct mm *mm;

	list_for_each(mm, &mm_all, all_link)
		bytes += (uint32_t)sizeof(struct rmap_mm);
	return bytes;
}

/* rmap.6 and rmap.7 of one anonmm. */
static unsigned check_ring(const struct anonmm *a)
{
	const struct anonmm *next = next_member(a);
	unsigned bad = 0;

	if (next->head != a->head || next->ring.prev != &a->ring)
		bad += audit_violation("rmap.6", "all on a ring have the same head: %#x and %#x",
				       (uint32_t)(uintptr_t)a->head, (uint32_t)(uintptr_t)next->head);
	if (!a->mm && a->count <= (a == a->head ? 1u : 0u))
		bad += audit_violation("rmap.7", "an anonmm without mm and pages: count %u", a->count);
	return bad;
}

/* rmap.5 of one anonmm, from whose count its pages' share was taken. */
static unsigned check_count(const struct anonmm *a)
{
	uint32_t wanted = (a->mm ? 1 : 0) + (a == a->head ? 1 : 0);

	for (const struct anonmm *m = next_member(a); a == a->head && m != a; m = next_member(m))
		wanted++;
	if (a->count == wanted)
		return 0;
	return audit_violation("rmap.5", "an anonmm counts mm, pages and members: count - pages = "
			       "%d, mm and members %u", (int32_t)a->count, wanted);
}

/* Check every anonmm: that of each mm, and after it the dead ones that follow on the ring. */
static unsigned check_each(unsigned (*check)(const struct anonmm *a), uint32_t *seen)
{
	unsigned bad = 0;
	struct mm *mm;

	list_for_each(mm, &mm_all, all_link) {
		const struct anonmm *own = mm->rmap.anonmm, *a = own;

		do {
			bad += check(a);
			++*seen;
			a = next_member(a);
		} while (!a->mm && a != own);
	}
	return bad;
}

/* Give every page's count to its anonmm (1), or take it (UINT32_MAX). */
static void count_pages(uint32_t step)
{
	for (pfn_t pfn = 0; pfn < page_count; pfn++) {
		struct anonmm *a = pfn_page(pfn)->mapping;

		if (page_is(pfn_page(pfn), PG_ANON))
			a->count += step;
	}
}

unsigned rmap_check(void)
{
	uint32_t seen = 0, seen_again = 0;
	unsigned bad = 0;
	struct mm *mm;

	list_for_each(mm, &mm_all, all_link) {
		if (mm->rmap.anonmm->mm != mm)
			bad += audit_violation("rmap.8", "an mm and its anonmm point to each other: "
					       "rss %u", mm->rss);
	}
	bad += check_each(check_ring, &seen);
	count_pages(UINT32_MAX);
	bad += check_each(check_count, &seen_again);
	count_pages(1);
	if (seen != anonmm_count)
		bad += audit_violation("rmap.2", "an anonmm goes when mm and pages go: %u found, %u "
				       "exist", seen, anonmm_count);
	return bad;
}

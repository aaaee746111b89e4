/*
 * RMAP=scan: no reverse map, as in Linux 2.2 and 2.4 (docs/history.md 6.8).
 *
 * Nothing is kept for a page, a vma or an mm, and nothing costs when pages are mapped, forked
 * or moved. Reclaim of that age never asked for a page's PTEs: it went through the page
 * tables and took PTEs away where it was. Who does ask, as this kernel's other parts must
 * (MADV_PAGEOUT, the audit, a policy of a later age), has all page tables searched for them.
 *
 * Only a hint makes that bearable: page->index is the address at which the page was first
 * mapped, and fork keeps addresses. So that address is tried in every mm before anything is
 * searched. Nothing rests on it: mremap may make it wrong.
 *
 * rmap.9  an anonymous page's mapping is the marker, and its index an address of user space
 *
 * Locks: none of its own. mapping and index change under the page_table_lock of an mm that maps
 * the page. A walk reads page tables without their locks, as it never sleeps and so nobody
 * changes them meanwhile; what it visits then tries the lock.
 */
#include "mm/rmap/scan/scan.h"
#include "kernel/counters.h"
#include "kernel/panic.h"
#include "mm/audit.h"
#include "mm/rmap/no_vmas.h"
#include "mm/rmap/walk.h"

const char rmap_name[] = "scan";

char scan_marker;

/* ---- Mms: pages don't know them, so nothing is to be done ---- */

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

/* ---- Pages ---- */

bool rmap_page_fits(struct page *p, struct vma *v, vaddr_t addr)
{
	(void)p;
	(void)v;
	(void)addr;
	return true;
}

void rmap_page_add(struct page *p, struct vma *v, vaddr_t addr)
{
	(void)v;
	if (page_is(p, PG_ANON))
		return;
	KASSERT2(!p->mapping, "frame.5", page_pfn(p), addr);
	p->mapping = &scan_marker;
	p->index = addr;
	page_set(p, PG_ANON);
}

void rmap_page_dup(struct page *p, struct vma *child, vaddr_t addr)
{
	(void)p;
	(void)child;
	(void)addr;
}

void rmap_page_remove(struct page *p, struct mm *mm, vaddr_t addr)
{
	(void)mm;
	(void)addr;
	if (p->mapcount > 0)
		return;
	rmap_page_forget(p);
}

/* Any PTE may go anywhere. The hint goes along with a page's only one. */
int rmap_page_move(struct page *p, struct vma *to, vaddr_t from_addr, vaddr_t to_addr)
{
	(void)to;
	(void)from_addr;
	if (p->mapcount == 1)
		p->index = to_addr;
	return 0;
}

/* ---- The walk ---- */

/* One walk: for which page, what is done with each PTE, and where was looked already. */
struct search {
	struct page	 *p;
	rmap_visit	  visit;
	struct rmap_walk *w;
	vaddr_t		  hint;
};

/* The address of the hint, in every mm that has pages. */
static void try_hint(const struct search *s)
{
	struct mm *mm;

	list_for_each(mm, &mm_all, all_link) {
		if (!rmap_walk_goes_on(s->w))
			break;
		if (mm->rss == 0)
			continue;
		COUNT(rmap_probes);
		s->visit(s->p, mm, NULL, s->hint, s->w);
	}
}

/* The PTEs of one page table of `mm`, from `start` on, but for the one that the hint named. */
static void search_table(const struct search *s, struct mm *mm, vaddr_t start, const pte_t *table)
{
	pfn_t pfn = page_pfn(s->p);

	COUNT_ADD(rmap_probes, TABLE_ENTRIES);
	for (unsigned i = 0; i < TABLE_ENTRIES; i++) {
		vaddr_t addr = start + (i << PAGE_SHIFT);

		if (pte_pfn(table[i]) != pfn || !pte_present(table[i]) || addr == s->hint)
			continue;
		s->visit(s->p, mm, NULL, addr, s->w);
		if (!rmap_walk_goes_on(s->w))
			break;
	}
}

/* Every page table of every mm. */
static void search_all(const struct search *s)
{
	struct mm *mm;

	list_for_each(mm, &mm_all, all_link) {
		for (vaddr_t addr = 0; mm->rss > 0 && addr < USER_END; addr = pgtable_next(addr)) {
			const pte_t *table = pte_find(mm, addr);

			if (!table)
				continue;
			search_table(s, mm, addr, table);
			if (!rmap_walk_goes_on(s->w))
				return;
		}
	}
}

/*
 * Visit the PTEs of `p`: those at the address that its index names, in all mms, and if some are
 * left then, all that a search of all page tables finds. No more are looked for than the page
 * has, even if w->left asks for all there may be. Each is visited once at most; a lock that was
 * busy sets w->again. The page is locked. Never sleeps.
 */
void rmap_walk_anon(struct page *p, rmap_visit visit, struct rmap_walk *w)
{
	struct search s = { .p = p, .visit = visit, .w = w, .hint = p->index };

	w->left = MIN(w->left, p->mapcount);
	try_hint(&s);
	if (rmap_walk_goes_on(w))
		search_all(&s);
}

/* ---- Figures and checks ---- */

uint32_t rmap_bytes(void)
{
	return 0;
}

/* rmap.9. */
unsigned rmap_check(void)
{
	unsigned bad = 0;

	for (pfn_t pfn = 0; pfn < page_count; pfn++) {
		const struct page *p = pfn_page(pfn);

		if (!page_is(p, PG_ANON))
			continue;
		if (p->mapping != &scan_marker || p->index >= USER_END || p->index & ~PAGE_MASK)
			bad += audit_violation("rmap.9", "an anonymous page has the marker and an "
					       "address of user space: pfn %#x, mapping %#x, index %#x",
					       pfn, (uint32_t)(uintptr_t)p->mapping, p->index);
	}
	return bad;
}

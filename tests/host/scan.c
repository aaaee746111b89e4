/*
 * RMAP=scan by itself: a page's PTEs are tried at the address of its first mapping in every
 * mm, and only what is not there is searched for in all page tables (docs/history.md 6.8).
 * rmap: scan
 * links: SPACES SLOTS mm/lru.c
 */
#include "mm/rmap/scan/scan.h"
#include "shim.h"
#include "swap_machine.h"

enum { FAMILY = 5, MOVER = 2, ELSEWHERE = 20 };

/* All have come from the first by fork, with its pages; the mover has taken page 0 elsewhere. */
static struct mm *family[FAMILY];

static void start_family(void)
{
	int error;

	family[0] = mm_create();
	map_pages(family[0], 0, 4);
	for (unsigned i = 0; i < 4; i++)
		*word_of(family[0], i, FAULT_WRITE) = 100 + i;
	for (unsigned i = 1; i < FAMILY; i++)
		family[i] = mm_fork(family[0], &error);
}

static void end_family(void)
{
	for (unsigned i = 0; i < FAMILY; i++) {
		if (family[i])
			mm_destroy(family[i]);
		family[i] = NULL;
	}
	CHECK(rmap_check() == 0 && rmap_mapped_pages() == 0);
}

static void move(struct mm *mm, unsigned from, unsigned to)
{
	CHECK(mm_remap(mm, page_addr(from), PAGE_SIZE, PAGE_SIZE, MREMAP_MAYMOVE | MREMAP_FIXED,
		       page_addr(to)) == page_addr(to));
}

/* Where family[i] has page 0. */
static unsigned place(unsigned i)
{
	return i == MOVER ? ELSEWHERE : 0;
}

static pte_t *pte_of(unsigned i)
{
	return pte_find(family[i], page_addr(place(i)));
}

/* Page 0, shared by all, of which the mover's PTE is elsewhere. */
static struct page *start_moved(void)
{
	start_family();
	move(family[MOVER], 0, ELSEWHERE);
	return pfn_page(pte_pfn(*pte_of(0)));
}

/* How many addresses and PTEs a question about `p` looks at; its answer goes to *used. */
static unsigned probes(struct page *p, unsigned *used)
{
	uint64_t before = counters[COUNT_rmap_probes];

	CHECK(page_trylock(p));
	*used = rmap_referenced(p);
	page_unlock(p);
	return (unsigned)(counters[COUNT_rmap_probes] - before);
}

static void test_hint(void)
{
	struct page *p;
	unsigned used;

	start_family();
	p = pfn_page(pte_pfn(*pte_find(family[0], page_addr(1))));
	CHECK(p->mapping == &scan_marker && p->index == page_addr(1) && p->mapcount == FAMILY);
	CHECK(probes(p, &used) == FAMILY);
	CHECK(mm_unmap(family[3], WINDOW, 4 * PAGE_SIZE) == OK && family[3]->rss == 0);
	CHECK(probes(p, &used) == FAMILY - 1);		/* who has nothing isn't asked */
	CHECK(word_of(family[4], 1, FAULT_WRITE));	/* its own copy */
	p = pfn_page(pte_pfn(*pte_find(family[4], page_addr(1))));
	CHECK(probes(p, &used) < FAMILY && used == 1);
	end_family();
	tap_checks("rmap-scan-01", "a page that is where it was first mapped is found by a look into each mm");
}

static void test_hint_moves(void)
{
	struct page *p;
	unsigned used;

	start_family();
	CHECK(word_of(family[MOVER], 0, FAULT_WRITE));
	p = pfn_page(pte_pfn(*pte_find(family[MOVER], page_addr(0))));
	move(family[MOVER], 0, ELSEWHERE);
	CHECK(p->index == page_addr(ELSEWHERE) && probes(p, &used) <= FAMILY && used == 1);
	end_family();
	tap_checks("rmap-scan-02", "mremap takes the hint of a page with one PTE along");
}

static void test_search(void)
{
	struct page *p = start_moved();
	unsigned used, tables = 0;

	CHECK(p->mapcount == FAMILY && p->index == page_addr(0) && counters[COUNT_mremap_cows] == 0);
	for (unsigned i = 0; i < FAMILY; i++) {
		*pte_of(i) |= PTE_ACCESSED;
		tables += pte_table_count(family[i]);
	}
	CHECK(probes(p, &used) <= FAMILY + tables * TABLE_ENTRIES && used == FAMILY);
	CHECK(probes(p, &used) > FAMILY && used == 0);
	for (unsigned i = 0; i < FAMILY; i++)
		if (i != MOVER)
			CHECK(word_of(family[i], 0, FAULT_WRITE));
	*pte_of(MOVER) |= PTE_ACCESSED;
	CHECK(p->mapcount == 1 && probes(p, &used) > FAMILY && used == 1);
	end_family();
	tap_checks("rmap-scan-03", "a PTE elsewhere is found by the search, and each PTE is counted once");
}

static void test_out_and_in(void)
{
	struct page *p = start_moved();

	page_hold(p);
	swap_out(p);
	CHECK(swap_count((swap_entry){ p->private }) == FAMILY + 1);
	for (unsigned n = 0; n < FAMILY; n++) {
		unsigned i = (MOVER + n) % FAMILY;	/* its address becomes the hint */

		CHECK(*word_of(family[i], place(i), FAULT_READ) == 100);
	}
	CHECK(p->mapcount == FAMILY && p->index == page_addr(ELSEWHERE));
	swap_out(p);
	page_drop(p);
	end_family();
	tap_checks("rmap-scan-04", "a moved page goes to swap with all PTEs and comes back shared by all");
}

static void test_barred(void)
{
	struct page *p = start_moved();
	unsigned used;

	*pte_of(MOVER) |= PTE_ACCESSED;
	CHECK(mm_protect(family[MOVER], page_addr(ELSEWHERE), PAGE_SIZE, PROT_NONE) == OK);
	CHECK(pte_is_none(*pte_of(MOVER)));
	probes(p, &used);
	CHECK(used > 0 && !(*pte_of(MOVER) & PTE_ACCESSED));
	page_hold(p);
	swap_out(p);
	CHECK(pte_is_swap(*pte_of(MOVER)));
	page_drop(p);
	end_family();
	tap_checks("rmap-scan-05", "a PTE that is out of reach (PROT_NONE) is found and taken away");
}

static void test_busy(void)
{
	struct page *p = start_moved();
	unsigned used;

	page_hold(p);
	probes(p, &used);
	CHECK(page_trylock(p) && swap_cache_add_new(p));
	spin_lock(&family[MOVER]->page_table_lock);
	CHECK(rmap_try_to_unmap(p) == RMAP_AGAIN && p->mapcount == 1 && pte_present(*pte_of(MOVER)));
	spin_unlock(&family[MOVER]->page_table_lock);
	CHECK(rmap_try_to_unmap(p) == RMAP_UNMAPPED && p->mapcount == 0);
	page_unlock(p);
	page_drop(p);
	end_family();
	tap_checks("rmap-scan-06", "a busy mm keeps its PTE, the others' go");
}

static void count(struct vma *v, vaddr_t addr, void *arg)
{
	CHECK(addr >= v->start && addr < v->end);
	++*(unsigned *)arg;
}

static void test_for_each(void)
{
	struct page *p = start_moved(), *q = pfn_page(pte_pfn(*pte_find(family[0], page_addr(1))));
	uint64_t before = counters[COUNT_rmap_probes];
	unsigned found = 0;

	rmap_for_each(q, count, &found);
	CHECK(found == FAMILY && counters[COUNT_rmap_probes] == before + FAMILY);
	rmap_for_each(p, count, &found);
	CHECK(found == 2 * FAMILY && counters[COUNT_rmap_probes] > before + 2 * FAMILY);
	end_family();
	tap_checks("rmap-scan-07", "who wants all PTEs (the audit) has a search made only for a page that was moved");
}

static void test_nothing(void)
{
	start_family();
	CHECK(sizeof(struct rmap_page) == 0 && sizeof(struct rmap_vma) == 0);
	CHECK(sizeof(struct rmap_mm) == 0 && rmap_bytes() == 0);
	move(family[MOVER], 0, 3);
	move(family[MOVER], 3, 0);
	CHECK(family[MOVER]->vma_count == 1 && mm_check(family[MOVER]) == 0);
	end_family();
	tap_checks("rmap-scan-09", "nothing is kept for a page, a vma or an mm, and what was moved to and fro merges");
}

int main(void)
{
	swap_machine_start(shim_run_seed());
	test_hint();
	test_hint_moves();
	test_search();
	test_out_and_in();
	test_barred();
	test_busy();
	test_for_each();
	test_nothing();
	return tap_done();
}

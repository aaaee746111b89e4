/*
 * RMAP=anonmm by itself: families come from exec and grow by fork, a page is looked for in
 * its own mm first and then all the way round, and an anonmm outlives its mm for as long as
 * pages need it (docs/history.md 5.2 to 5.5).
 * rmap: anonmm
 * links: SPACES SLOTS mm/lru.c
 */
#include "mm/rmap/anonmm/anonmm.h"
#include "shim.h"
#include "swap_machine.h"

enum { FAMILY = 5 };

/* family[0] was made by exec, every other one by a fork of the one before. Page 0 is written
 * by the first and shared by all; page 1 + i belongs to family[i] alone. */
static struct mm *family[FAMILY];

static void found_family(void)
{
	int error;

	for (unsigned i = 0; i < FAMILY; i++) {
		family[i] = i == 0 ? mm_create() : mm_fork(family[i - 1], &error);
		if (i == 0) {
			map_pages(family[0], 0, FAMILY + 1);
			CHECK(word_of(family[0], 0, FAULT_WRITE));
		}
		CHECK(word_of(family[i], 1 + i, FAULT_WRITE));
	}
}

static void end_family(void)
{
	for (unsigned i = 0; i < FAMILY; i++) {
		if (family[i])
			mm_destroy(family[i]);
		family[i] = NULL;
	}
	CHECK(rmap_check() == 0 && rmap_bytes() == 0);
}

static void end(unsigned i)
{
	mm_destroy(family[i]);
	family[i] = NULL;
}

static struct page *page_of(struct mm *mm, unsigned i)
{
	return pfn_page(pte_pfn(*pte_find(mm, page_addr(i))));
}

/* How many mms a question about `p` asks; what it answers is in *used. */
static unsigned probes(struct page *p, unsigned *used)
{
	uint64_t before = counters[COUNT_rmap_probes];

	CHECK(page_trylock(p));
	*used = rmap_referenced(p);
	page_unlock(p);
	CHECK(rmap_check() == 0);
	return (unsigned)(counters[COUNT_rmap_probes] - before);
}

/* So many anonmms exist. */
static unsigned anonmms(void)
{
	unsigned mms = 0;
	struct mm *mm;

	list_for_each(mm, &mm_all, all_link)
		mms++;
	return (unsigned)((rmap_bytes() - mms * sizeof(struct rmap_mm)) / sizeof(struct anonmm));
}

static void test_families(void)
{
	struct anonmm *head, *a;
	struct mm *stranger;

	found_family();
	stranger = mm_create();
	head = family[0]->rmap.anonmm;
	CHECK(head->head == head && head->count == 1 + 2 + FAMILY);	/* itself, 2 pages, members */
	a = head;
	for (unsigned i = 0; i < FAMILY; i++) {
		CHECK(a == family[i]->rmap.anonmm && a->head == head && a->mm == family[i]);
		a = list_entry(a->ring.next, struct anonmm, ring);
	}
	CHECK(a == head && family[1]->rmap.anonmm->count == 2);
	CHECK(stranger->rmap.anonmm->head == stranger->rmap.anonmm);
	CHECK(stranger->rmap.anonmm->count == 2 && anonmms() == FAMILY + 1);
	mm_destroy(stranger);
	CHECK(rmap_check() == 0);
	end_family();
	tap_checks("host-anonmm-01", "exec founds a family, fork's children join at the end of its ring");
}

static void test_own_first(void)
{
	unsigned used;

	found_family();
	CHECK(probes(page_of(family[FAMILY - 1], FAMILY), &used) == 1 && used == 1);
	CHECK(word_of(family[2], 0, FAULT_WRITE));	/* its own copy */
	CHECK(probes(page_of(family[2], 0), &used) == 1 && used == 1);
	CHECK(probes(page_of(family[0], 0), &used) == FAMILY && used == 1);
	CHECK(probes(page_of(family[4], 3), &used) == 3);	/* 2, 3, 4 have it */
	end_family();
	tap_checks("host-anonmm-02", "a page of one mm's own is found by one probe, a shared one by as many as have it");
}

/* Nobody but the last has the page of the first any more: all are asked until it is found. */
static void test_round(void)
{
	unsigned used;
	struct page *p;

	found_family();
	p = page_of(family[0], 0);
	for (unsigned i = 0; i < FAMILY - 1; i++)
		CHECK(word_of(family[i], 0, FAULT_WRITE));
	CHECK(p->mapcount == 1 && p->mapping == family[0]->rmap.anonmm);
	CHECK(probes(p, &used) == FAMILY && p->mapping == family[0]->rmap.anonmm);
	CHECK(probes(p, &used) == FAMILY);	/* its mm lives: it stays there */
	CHECK(mm_unmap(family[1], WINDOW, (FAMILY + 1) * PAGE_SIZE) == OK && family[1]->rss == 0);
	end(2);
	CHECK(probes(p, &used) == FAMILY - 2);	/* one is dead, one has an rss of 0 */
	end_family();
	tap_checks("host-anonmm-03", "the ring is walked until all PTEs are found; who is dead or empty isn't asked");
}

/* After a swap-in a page belongs to whoever faulted first; older ones must be found as well. */
static void test_older(void)
{
	unsigned used;
	struct page *p;

	found_family();
	p = page_of(family[0], 0);
	page_hold(p);
	swap_out(p);
	CHECK(word_of(family[3], 0, FAULT_READ) == page_address(p));
	CHECK(p->mapping == family[3]->rmap.anonmm && p->mapcount == 1);
	CHECK(word_of(family[1], 0, FAULT_READ) == page_address(p));
	CHECK(p->mapping == family[3]->rmap.anonmm && p->mapcount == 2);
	CHECK(probes(p, &used) == 4 && used >= 2);	/* 3, 4, 0, 1 */
	swap_out(p);
	page_drop(p);
	end_family();
	tap_checks("host-anonmm-04", "what a descendant brought back from swap is found in its ancestors");
}

static void test_outlive(void)
{
	struct anonmm *old;
	unsigned used;
	struct page *p;

	found_family();
	p = page_of(family[0], 0);
	end(1);
	CHECK(anonmms() == FAMILY);		/* page 2, in the younger ones, still points there */
	old = page_of(family[2], 2)->mapping;
	CHECK(!old->mm && old->count == 1 && rmap_check() == 0);
	CHECK(probes(page_of(family[2], 2), &used) == 3);
	CHECK(page_of(family[2], 2)->mapping != old && anonmms() == FAMILY - 1);
	end(0);
	CHECK(anonmms() == FAMILY - 1 && p->mapping == family[2]->rmap.anonmm->head);
	probes(p, &used);
	probes(page_of(family[2], 1), &used);
	CHECK(p->mapping != family[2]->rmap.anonmm->head && anonmms() == FAMILY - 1);
	for (unsigned i = 2; i < FAMILY; i++)
		end(i);				/* the head went with the last of them */
	end_family();
	tap_checks("host-anonmm-05", "an anonmm outlives its mm until its pages have moved to an heir, a head until all have gone");
}

/* The last PTE of a dead mm's page goes, once by an unmap, once in the middle of a walk. */
static void test_last_page(void)
{
	struct page *p;

	found_family();
	end(3);
	CHECK(anonmms() == FAMILY);
	CHECK(mm_unmap(family[4], page_addr(4), PAGE_SIZE) == OK && anonmms() == FAMILY - 1);
	end(2);
	p = page_of(family[4], 3);
	page_hold(p);
	CHECK(anonmms() == FAMILY - 1 && page_trylock(p) && swap_cache_add_new(p));
	*pte_find(family[4], page_addr(3)) &= ~(pte_t)PTE_ACCESSED;
	CHECK(rmap_try_to_unmap(p) == RMAP_UNMAPPED && anonmms() == FAMILY - 2);
	page_unlock(p);
	page_drop(p);
	CHECK(rmap_check() == 0);
	end_family();
	tap_checks("host-anonmm-06", "with the last PTE of its last page a dead mm's anonmm goes, also in a walk");
}

/* mremap: alone, the page takes its new address along; shared, it stays and must be copied. */
static void test_move(void)
{
	struct vma *v;
	struct page *p;

	found_family();
	v = vma_at(family[4], page_addr(0));
	p = page_of(family[4], 5);
	spin_lock(&family[4]->page_table_lock);
	CHECK(rmap_page_move(p, v, page_addr(5), page_addr(9)) == OK && p->index == page_addr(9));
	CHECK(!rmap_page_fits(p, v, page_addr(5)) && rmap_page_fits(p, v, page_addr(9)));
	CHECK(rmap_page_move(p, v, page_addr(9), page_addr(5)) == OK);
	p = page_of(family[4], 0);
	CHECK(rmap_page_move(p, v, page_addr(0), page_addr(9)) == -EAGAIN && p->index == page_addr(0));
	spin_unlock(&family[4]->page_table_lock);
	end_family();
	tap_checks("host-anonmm-07", "a page with one PTE moves, one with several is refused");
}

int main(void)
{
	swap_machine_start(shim_run_seed());
	test_families();
	test_own_first();
	test_round();
	test_older();
	test_outlive();
	test_last_page();
	test_move();
	return tap_done();
}

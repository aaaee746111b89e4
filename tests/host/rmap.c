/*
 * The reverse map, whichever it is, against brute force: address spaces are mapped, written,
 * forked, split, protected, moved, unmapped, destroyed and swapped out at random; each time
 * the set of PTEs that the map finds for a page is compared with what a search of all page
 * tables finds. Contents must survive, shared pages must come back shared.
 * links: SPACES SLOTS mm/lru.c
 */
#include "shim.h"
#include "swap_machine.h"

enum { SPACES = 6, WINDOW_PAGES = 128, STEPS = 12000 };

struct model_page { bool mapped, touched; uint32_t value; };
static struct space {
	struct mm *mm;
	struct model_page page[WINDOW_PAGES];
} spaces[SPACES];
static uint32_t next_value = 1;
static unsigned swapped_out, shared_out, came_back_shared, moved, moved_shared;

static void start(uint32_t seed)
{
	swap_machine_start(seed);
	spaces[0].mm = mm_create();
}

/* ---- Brute force ---- */

enum { PTES_MAX = 64 };
struct where { struct mm *mm; vaddr_t addr; };
struct found {
	pfn_t	     pfn;
	unsigned     count;
	struct where at[PTES_MAX];
};

static void note_pte(struct mm *mm, vaddr_t addr, pte_t *pte, void *arg)
{
	struct found *f = arg;

	if (pte_present(*pte) && pte_pfn(*pte) == f->pfn && CHECK(f->count < PTES_MAX))
		f->at[f->count++] = (struct where){ mm, addr };
}

static void search(struct found *f)
{
	struct mm *mm;

	f->count = 0;
	list_for_each(mm, &mm_all, all_link)
		pte_for_each(mm, note_pte, f);
}

static void note_rmap(struct vma *v, vaddr_t addr, void *arg)
{
	note_pte(v->mm, addr, pte_find(v->mm, addr), arg);
}

static void compare_page(struct page *p)
{
	struct found brute = { .pfn = page_pfn(p) }, rmap = { .pfn = page_pfn(p) };

	search(&brute);
	rmap_for_each(p, note_rmap, &rmap);
	CHECK(brute.count == p->mapcount && rmap.count == brute.count);
	for (unsigned i = 0; i < brute.count; i++) {
		unsigned j = 0;

		while (j < rmap.count && (rmap.at[j].mm != brute.at[i].mm ||
					  rmap.at[j].addr != brute.at[i].addr))
			j++;
		CHECK(j < rmap.count);
	}
}

static void compare_all(void)
{
	for (pfn_t pfn = 0; pfn < page_count; pfn++)
		if (page_is(pfn_page(pfn), PG_ANON))
			compare_page(pfn_page(pfn));
	CHECK(rmap_check() == 0 && swap_check() == 0 && lru_check() == 0 && frame_check() == 0);
	for (unsigned i = 0; i < SPACES; i++)
		if (spaces[i].mm)
			CHECK(mm_check(spaces[i].mm) == 0);
}

/* ---- Operations ---- */

static void op_map(struct space *s)
{
	unsigned first = shim_random(WINDOW_PAGES);
	unsigned n = 1 + shim_random(MIN(24u, WINDOW_PAGES - first));

	map_pages(s->mm, first, n);
	for (unsigned i = 0; i < n; i++)
		s->page[first + i] = (struct model_page){ .mapped = true };
}

static void op_unmap(struct space *s)
{
	unsigned first = shim_random(WINDOW_PAGES);
	unsigned n = 1 + shim_random(MIN(12u, WINDOW_PAGES - first));

	CHECK(mm_unmap(s->mm, page_addr(first), n * PAGE_SIZE) == OK);
	memset(&s->page[first], 0, n * sizeof(s->page[0]));
}

/* Take the right to write away and give it back: vmas are split and, if the map allows it,
 * merged again. Behind the first hole nothing is done either time. */
static void op_protect(struct space *s)
{
	unsigned first = shim_random(WINDOW_PAGES);
	unsigned n = 1 + shim_random(MIN(12u, WINDOW_PAGES - first));
	int error = mm_protect(s->mm, page_addr(first), n * PAGE_SIZE, PROT_READ);

	CHECK(error == OK || error == -ENOMEM);
	CHECK(mm_protect(s->mm, page_addr(first), n * PAGE_SIZE, PROT_READ | PROT_WRITE) == error);
}

/* So many pages of [first, first + n) have several PTEs. */
static unsigned shared_pages(struct space *s, unsigned first, unsigned n)
{
	unsigned shared = 0;

	for (unsigned i = first; i < first + n; i++) {
		pte_t *pte = pte_find(s->mm, page_addr(i));

		shared += pte && pte_present(*pte) && page_is(pfn_page(pte_pfn(*pte)), PG_ANON) &&
			  pfn_page(pte_pfn(*pte))->mapcount > 1;
	}
	return shared;
}

/* Move pages of one vma elsewhere, over what is there. Only a map that goes by addresses has
 * to copy pages for it: the shared ones, and no other. */
static void op_move(struct space *s)
{
	unsigned from = shim_random(WINDOW_PAGES), n = 1 + shim_random(12), to, shared;
	uint64_t copied = counters[COUNT_mremap_cows];
	struct vma *v;

	for (unsigned tries = 0; tries < 40 && !shared_pages(s, from, 1); tries++)
		from = shim_random(WINDOW_PAGES);
	v = vma_at(s->mm, page_addr(from));
	if (!v)
		return;
	n = MIN(n, (v->end - page_addr(from)) / PAGE_SIZE);
	to = shim_random(WINDOW_PAGES - n + 1);
	if (to < from + n && from < to + n)
		return;
	shared = shared_pages(s, from, n);
	CHECK(mm_remap(s->mm, page_addr(from), n * PAGE_SIZE, n * PAGE_SIZE,
		       MREMAP_MAYMOVE | MREMAP_FIXED, page_addr(to)) == page_addr(to));
	copied = counters[COUNT_mremap_cows] - copied;
	CHECK(copied == (strcmp(rmap_name, "anonmm") == 0 ? shared : 0));
	memcpy(&s->page[to], &s->page[from], n * sizeof(s->page[0]));
	memset(&s->page[from], 0, n * sizeof(s->page[0]));
	moved++;
	moved_shared += shared;
}

static void access_page(struct space *s, unsigned i, enum fault_access access)
{
	struct model_page *m = &s->page[i];
	uint32_t *word;

	if (!m->mapped)
		return;
	word = word_of(s->mm, i, access);
	if (!word)
		return;
	CHECK(*word == (m->touched ? m->value : 0));
	if (access == FAULT_READ)
		return;
	*word = m->value = next_value++;
	m->touched = true;
}

static void op_access(struct space *s, enum fault_access access)
{
	access_page(s, shim_random(WINDOW_PAGES), access);
}

/* Let everybody who has `e` in a PTE read the page `p` that it holds. They share it again,
 * unless the map can't follow one that has moved meanwhile. */
static void bring_back(struct page *p, swap_entry e)
{
	for (unsigned n = 0; n < SPACES * WINDOW_PAGES; n++) {
		struct space *s = &spaces[n % SPACES];
		pte_t *pte = s->mm ? pte_find(s->mm, page_addr(n / SPACES)) : NULL;

		if (pte && *pte == pte_from_swap(e))
			access_page(s, n / SPACES, FAULT_READ);
	}
	came_back_shared += p->mapcount > 1;
}

static void op_fork(struct space *s)
{
	struct space *child = &spaces[shim_random(SPACES)];
	int error;

	if (child->mm)
		return;
	child->mm = mm_fork(s->mm, &error);
	CHECK(child->mm && error == OK);
	memcpy(child->page, s->page, sizeof(s->page));
	for (unsigned i = shim_random(4); i > 0; i--)
		op_move(shim_random(2) ? s : child);
}

static void op_destroy(struct space *s)
{
	if (s == &spaces[0])
		return;
	mm_destroy(s->mm);
	s->mm = NULL;
}

static struct page *random_anon(void)
{
	pfn_t at = shim_random(page_count);

	for (pfn_t i = 0; i < page_count; i++) {
		struct page *p = pfn_page((at + i) % page_count);

		if (page_is(p, PG_ANON) && page_is(p, PG_LRU))
			return p;
	}
	return NULL;
}

/* Every PTE of a page that is swapped out must become the slot's entry. */
static void op_swap_out(void)
{
	struct page *p = random_anon();
	unsigned ptes, entries;
	struct found after;

	if (!p)
		return;
	ptes = p->mapcount;
	entries = page_is(p, PG_SWAPCACHE) ? swap_count((swap_entry){ p->private }) - 1 : 0;
	after.pfn = page_pfn(p);
	page_hold(p);
	swap_out(p);
	search(&after);
	CHECK(after.count == 0 && swap_count((swap_entry){ p->private }) == entries + ptes + 1);
	swapped_out++;
	shared_out += ptes > 1;
	if (entries + ptes > 1 && shim_random(2))
		bring_back(p, (swap_entry){ p->private });
	page_drop(p);
}

static void step(void)
{
	struct space *s = &spaces[shim_random(SPACES)];

	if (!s->mm)
		return;
	switch (shim_random(18)) {
	case 0: op_map(s); break;
	case 1: op_unmap(s); break;
	case 2: op_fork(s); break;
	case 3: op_destroy(s); break;
	case 4: case 5: case 6: case 7: op_swap_out(); break;
	case 8: case 9: case 10: op_access(s, FAULT_READ); break;
	case 11: op_protect(s); break;
	case 12: op_move(s); break;
	default: op_access(s, FAULT_WRITE);
	}
}

/* A young PTE, a pinned page and a locked vma each keep the page where it is. */
static void test_refusals(void)
{
	struct space *s = &spaces[0];
	struct page *p;
	uint32_t *word;

	op_map(s);
	for (unsigned i = 0; i < WINDOW_PAGES; i++) {
		if (!s->page[i].mapped)
			continue;
		word = word_of(s->mm, i, FAULT_WRITE);
		s->page[i].touched = true;
		s->page[i].value = *word = next_value++;
		p = address_page(word);
		page_hold(p);
		CHECK(page_trylock(p) && (page_is(p, PG_SWAPCACHE) || swap_cache_add_new(p)));
		CHECK(rmap_try_to_unmap(p) == RMAP_FAIL && p->mapcount == 1);
		CHECK(rmap_referenced(p) > 0 && rmap_referenced(p) == 0);
		page_hold(p);
		CHECK(rmap_try_to_unmap(p) == RMAP_FAIL && p->mapcount == 1);
		page_drop(p);
		vma_at(s->mm, page_addr(i))->flags |= VMA_LOCKED;
		CHECK(rmap_referenced(p) == 1 && rmap_referenced(p) == 1);
		CHECK(rmap_try_to_unmap(p) == RMAP_FAIL && p->mapcount == 1);
		vma_at(s->mm, page_addr(i))->flags &= ~(uint32_t)VMA_LOCKED;
		spin_lock(&s->mm->page_table_lock);
		CHECK(rmap_try_to_unmap(p) == RMAP_AGAIN && p->mapcount == 1);
		spin_unlock(&s->mm->page_table_lock);
		CHECK(rmap_try_to_unmap(p) == RMAP_UNMAPPED && p->mapcount == 0);
		page_unlock(p);
		page_drop(p);
		break;
	}
	tap_checks("host-rmap-03", "young, pinned, locked and busy PTEs are refused, then it works");
}

/* A stack that began at the lowest address, moved up and then grew: counted from where it was born
 * it reaches below address 0. */
static void test_moved_stack(void)
{
	const vaddr_t high = 0x60000000u, low = USER_START;
	struct map_request r = { .addr = low, .bytes = PAGE_SIZE, .prot = PROT_READ | PROT_WRITE,
				 .flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_GROWSDOWN };
	struct mm *mm = mm_create();

	CHECK(mm_map(mm, &r) == low && mm_fault(mm, low, FAULT_WRITE) == OK);
	CHECK(mm_remap(mm, low, PAGE_SIZE, PAGE_SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, high) == high);
	CHECK(mm_fault(mm, high - 4 * PAGE_SIZE, FAULT_WRITE) == OK && mm->rss == 2);
	compare_all();
	mm_destroy(mm);
	tap_checks("host-rmap-05", "a stack that moved up and grew below its first place is found");
}

static void finish(void)
{
	for (unsigned i = 0; i < SPACES; i++)
		if (spaces[i].mm)
			mm_destroy(spaces[i].mm);
	CHECK(swap_slots_free() == SLOTS - 1 && swap_cached_pages() == 0);
	CHECK(rmap_mapped_pages() == 0 && rmap_bytes() == 0 && swap_check() == 0 && lru_check() == 0);
	tap_checks("host-rmap-04", "with the last mm every page, slot and all of the map is gone");
}

int main(void)
{
	start(shim_run_seed());
	for (unsigned i = 0; i < STEPS; i++) {
		step();
		if (i % 200 == 0)
			compare_all();
	}
	compare_all();
	tap_checks("host-rmap-01", "12000 random steps: the map finds what a search of all PTEs finds");
	CHECK(swapped_out > 300 && shared_out > 20 && came_back_shared > 5);
	CHECK(moved > 60 && moved_shared > 8);
	tap_checks("host-rmap-02", "shared pages went out and came back shared, and were moved");
	test_refusals();
	test_moved_stack();
	finish();
	return tap_done();
}

/*
 * Address spaces against a model that knows each page: map, unmap, touch, fork, advise and
 * destroy in random order, with the real faults and the real reverse map; contents compared.
 * links: mm/vma.c mm/mmap.c mm/brk.c mm/advise.c mm/pageout.c mm/zap.c mm/mm.c mm/fork.c mm/commit.c
 * links: mm/pgtable.c mm/tree.c mm/object.c mm/radix.c mm/slab.c mm/frame.c mm/page.c
 * links: mm/fault.c mm/cow.c mm/swapin.c mm/mm_check.c mm/frame_check.c
 * links: mm/rmap/common.c mm/rmap/object.c mm/rmap/RMAP/?*.c
 */
#include "shim.h"
#include "spaces.h"

/* ---- The model ---- */

enum { WINDOW_PAGES = 256, STEPS = 6000 };
#define WINDOW 0x40000000u		/* crosses a page table's border at + 4 MiB - 512 KiB */
#define WINDOW_START (WINDOW + 0x400000u - 0x80000u)

enum kind { FREE, ANON, PRIVATE, SHARED };
struct model_page {
	enum kind kind;
	uint8_t	  prot;
	uint32_t  object_page;
	bool	  touched;		/* ANON, PRIVATE: has a value of its own */
	uint32_t  value;
};
static struct space {
	struct mm **mm;			/* its place in mms[] */
	struct model_page page[WINDOW_PAGES];
} spaces[SPACES];
static uint32_t object_value[OBJECT_PAGES];
static uint32_t next_value = 1;

static vaddr_t page_addr(unsigned i) { return WINDOW_START + i * PAGE_SIZE; }

/* What a read of model page `i` must find. */
static uint32_t model_value(const struct model_page *m)
{
	if (m->kind == SHARED || (m->kind == PRIVATE && !m->touched))
		return object_value[m->object_page];
	return m->touched ? m->value : 0;
}

/* ---- Operations ---- */

static void op_map(struct space *s)
{
	unsigned first = shim_random(WINDOW_PAGES), pages;
	struct map_request r = { .addr = page_addr(first), .flags = MAP_FIXED };
	static const uint8_t prots[] = { PROT_READ | PROT_WRITE, PROT_READ, PROT_NONE,
					 PROT_READ | PROT_WRITE };
	enum kind kind = ANON + shim_random(3);

	pages = 1 + shim_random(MIN(24u, WINDOW_PAGES - first));
	r.bytes = pages * PAGE_SIZE - shim_random(PAGE_SIZE);
	r.prot = prots[shim_random(4)];
	r.flags |= kind == SHARED ? MAP_SHARED : MAP_PRIVATE;
	if (kind == ANON)
		r.flags |= MAP_ANONYMOUS;
	else {
		r.object = object;
		r.object_page = shim_random(OBJECT_PAGES - 24);
	}
	CHECK(mm_map(*s->mm, &r) == r.addr);
	for (unsigned i = 0; i < pages; i++)
		s->page[first + i] = (struct model_page){ .kind = kind, .prot = (uint8_t)r.prot,
							  .object_page = r.object_page + i };
}

static void op_unmap(struct space *s)
{
	unsigned first = shim_random(WINDOW_PAGES);
	unsigned pages = 1 + shim_random(MIN(48u, WINDOW_PAGES - first));

	CHECK(mm_unmap(*s->mm, page_addr(first), pages * PAGE_SIZE) == OK);
	for (unsigned i = 0; i < pages; i++)
		s->page[first + i] = (struct model_page){ .kind = FREE };
}

static void op_write(struct space *s)
{
	unsigned i = shim_random(WINDOW_PAGES);
	struct model_page *m = &s->page[i];
	int error = mm_fault(*s->mm, page_addr(i) + shim_random(PAGE_SIZE), FAULT_WRITE);
	uint32_t *word;

	if (m->kind == FREE || !(m->prot & PROT_WRITE)) {
		CHECK(error == -EFAULT);
		return;
	}
	CHECK(error == OK);
	word = mapped_word(*s->mm, page_addr(i));
	if (!word)
		return;
	CHECK(*pte_find(*s->mm, page_addr(i)) & PTE_WRITE);
	CHECK(*word == model_value(m));
	*word = next_value;
	if (m->kind == SHARED)
		object_value[m->object_page] = next_value;
	m->touched = true;
	m->value = next_value++;
}

static void check_read(struct space *s, unsigned i)
{
	struct model_page *m = &s->page[i];
	int error = mm_fault(*s->mm, page_addr(i), FAULT_READ);
	uint32_t *word;

	if (m->kind == FREE || m->prot == PROT_NONE) {
		CHECK(error == -EFAULT);
		return;
	}
	CHECK(error == OK);
	word = mapped_word(*s->mm, page_addr(i));
	if (word)
		CHECK(*word == model_value(m));
}

static void op_advise(struct space *s)
{
	unsigned first = shim_random(WINDOW_PAGES), holes = 0;
	unsigned pages = 1 + shim_random(MIN(16u, WINDOW_PAGES - first));

	for (unsigned i = 0; i < pages; i++) {
		holes += s->page[first + i].kind == FREE;
		s->page[first + i].touched = false;
	}
	CHECK(mm_advise(*s->mm, page_addr(first), pages * PAGE_SIZE, MADV_DONTNEED) ==
	      (holes ? -ENOMEM : OK));
}

static void op_fork(struct space *s)
{
	struct space *child = &spaces[shim_random(SPACES)];
	int error;

	if (*child->mm)
		return;
	*child->mm = mm_fork(*s->mm, &error);
	CHECK(*child->mm && error == OK);
	memcpy(child->page, s->page, sizeof(s->page));
}

static void destroy(struct space *s)
{
	mm_destroy(*s->mm);
	*s->mm = NULL;
}

/* ---- Checks ---- */

static void check_space(struct space *s)
{
	struct vma *v;
	unsigned mapped = 0, in_model = 0;

	for (unsigned i = 0; i < WINDOW_PAGES; i++) {
		v = vma_at(*s->mm, page_addr(i));
		CHECK((v != NULL) == (s->page[i].kind != FREE));
		in_model += s->page[i].kind != FREE;
		if (v)
			CHECK((v->flags & VMA_PROT) == s->page[i].prot);
	}
	list_for_each(v, &(*s->mm)->vmas, link)
		mapped += vma_pages(v);
	CHECK(mapped == in_model && (*s->mm)->total_pages == in_model);
	CHECK(mm_check(*s->mm) == 0);
}

static void check_all(void)
{
	for (unsigned i = 0; i < SPACES; i++) {
		if (*spaces[i].mm)
			check_space(&spaces[i]);
	}
	check_mapcounts();
	CHECK(frame_check() == 0 && slab_check() == 0 && object_check() == 0);
	CHECK(rmap_check() == 0);
}

static void test_random(uint32_t seed)
{
	start(seed);
	memset(object_value, 0, sizeof(object_value));
	for (unsigned i = 0; i < SPACES; i++)
		spaces[i].mm = &mms[i];
	for (unsigned step = 0; step < STEPS; step++) {
		struct space *s = &spaces[shim_random(SPACES)];

		if (!*s->mm)
			continue;
		switch (shim_random(12)) {
		case 0: op_map(s); break;
		case 1: op_unmap(s); break;
		case 2: op_advise(s); break;
		case 3: op_fork(s); break;
		case 4:
			if (s != &spaces[0] && shim_random(2))
				destroy(s);
			break;
		case 5: case 6: case 7: case 8: op_write(s); break;
		default: check_read(s, shim_random(WINDOW_PAGES));
		}
		if (step % 200 == 0)
			check_all();
	}
	for (unsigned i = 0; i < SPACES; i++) {
		for (unsigned p = 0; *spaces[i].mm && p < WINDOW_PAGES; p++)
			check_read(&spaces[i], p);
	}
	check_all();
	tap_checks("host-vma-01", "random map, unmap, touch, advise, fork agree with a model of pages");
	finish();
	tap_checks("host-vma-02", "after all spaces are destroyed every frame is free again");
}

int main(void)
{
	test_random(shim_run_seed());
	return tap_done();
}

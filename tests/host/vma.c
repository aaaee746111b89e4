/*
 * Address spaces against a model that knows each page: map, unmap, protect, move, lock, touch,
 * fork, advise and destroy in random order, with the real faults and the real reverse map;
 * contents compared. Then the same again while allocations fail: a call that says so must have
 * changed nothing, or what its contract allows.
 * links: SPACES mm/alloc_fail.c
 */
#include "shim.h"
#include "spaces.h"
#include "page_model.h"

static unsigned audits;			/* in the middle of operations */

/* ---- Operations ---- */

static void op_map(struct space *s)
{
	unsigned first = shim_random(WINDOW_PAGES), pages;
	struct map_request r = { .addr = page_addr(first), .flags = MAP_FIXED };
	static const uint8_t prots[] = { PROT_READ | PROT_WRITE, PROT_READ, PROT_NONE,
					 PROT_READ | PROT_WRITE };
	enum kind kind = ANON + shim_random(3);
	int64_t at;

	pages = 1 + shim_random(MIN(24u, WINDOW_PAGES - first));
	r.bytes = pages * PAGE_SIZE - shim_random(PAGE_SIZE);
	r.prot = prots[shim_random(4)];
	r.flags |= kind == SHARED ? MAP_SHARED : MAP_PRIVATE;
	if (kind == ANON)
		r.flags |= MAP_ANONYMOUS;
	else {
		r.object = object;
		r.object_page = shim_random(OBJECT_PAGES - 24);
		r.may_write = (r.prot & PROT_WRITE) || shim_random(2);
	}
	at = mm_map(*s->mm, &r);
	if (no_memory(at))
		return;
	CHECK(at == r.addr);
	for (unsigned i = 0; i < pages; i++)
		s->page[first + i] = (struct model_page){ .kind = kind, .prot = (uint8_t)r.prot,
							  .may_write = kind != SHARED || r.may_write,
							  .object_page = r.object_page + i };
}

/* All is changed up to the first page that isn't there or may not be written to. */
static void op_protect(struct space *s)
{
	static const uint8_t prots[] = { PROT_READ | PROT_WRITE, PROT_READ, PROT_NONE };
	unsigned first = shim_random(WINDOW_PAGES), pages, i;
	uint32_t prot = prots[shim_random(3)];
	int error, wanted = OK;

	pages = 1 + shim_random(MIN(40u, WINDOW_PAGES - first));
	error = mm_protect(*s->mm, page_addr(first), pages * PAGE_SIZE - shim_random(PAGE_SIZE),
			   prot);
	for (i = first; i < first + pages && wanted == OK; i++) {
		struct model_page *m = &s->page[i];

		if (no_memory(error) && m->kind != FREE && m->prot != prot &&
		    (vma_at(*s->mm, page_addr(i))->flags & VMA_PROT) == m->prot)
			wanted = error;		/* so far it came; the rest is as it was */
		else if (m->kind == FREE)
			wanted = -ENOMEM;
		else if ((prot & PROT_WRITE) && !m->may_write)
			wanted = -EACCES;
		else
			m->prot = (uint8_t)prot;
	}
	CHECK(error == wanted || no_memory(error));
	note_copies(s);
	if (error == OK && all_went_well())
		check_filled(s, first, pages);
}

static void op_lock(struct space *s)
{
	unsigned first = shim_random(WINDOW_PAGES), off = shim_random(PAGE_SIZE);
	unsigned pages = 1 + shim_random(MIN(12u, WINDOW_PAGES - first));
	uint32_t bytes = pages * PAGE_SIZE - off - shim_random(PAGE_SIZE - off);
	bool lock = shim_random(3) > 0, none, covered;
	int error;

	covered = model_covered(s, first, pages, &none);
	error = (lock ? mm_lock : mm_unlock)(*s->mm, page_addr(first) + off, bytes);
	if (no_memory(error) && covered) {
		lock = (vma_at(*s->mm, page_addr(first))->flags & VMA_LOCKED) != 0;
		CHECK(error == -ENOMEM || lock);
		if (error == -ENOMEM && lock != s->page[first].locked)
			CHECK(lock && none);	/* it is the filling that failed */
	} else {
		CHECK(error == (covered && !(lock && none) ? OK : -ENOMEM));
	}
	for (unsigned i = first; covered && !no_memory(error) && i < first + pages; i++)
		s->page[i].locked = lock;
	for (unsigned i = first; covered && no_memory(error) && i < first + pages; i++)
		s->page[i].locked = vma_at(*s->mm, page_addr(i))->flags & VMA_LOCKED;
	note_copies(s);
	if (error == OK)
		check_filled(s, first, pages);
}

/* The bytes of mincore, which this machine without swap can't have wrong. */
static void op_incore(struct space *s)
{
	unsigned first = shim_random(WINDOW_PAGES), in_window = 0;
	unsigned pages = 1 + shim_random(MIN(20u, WINDOW_PAGES - first));
	bool none, covered = model_covered(s, first, pages, &none);

	CHECK(mm_incore(*s->mm, page_addr(first), pages * PAGE_SIZE - shim_random(PAGE_SIZE), 64) ==
	      (covered ? OK : -ENOMEM));
	for (unsigned i = first; covered && i < first + pages; i++) {
		const pte_t *pte = pte_find(*s->mm, page_addr(i));
		struct model_page *m = &s->page[i];
		bool in_object = m->kind >= PRIVATE && object_page_resident(object, m->object_page);

		CHECK(user_window[64 + in_window++] == ((pte && *pte) || in_object));
	}
}

/* ---- mremap ---- */

/* What the call should say of a range that begins in `v`, as far as the window shows. */
static int expected_remap(struct space *s, struct vma *v, unsigned first, unsigned old_pages,
			  unsigned new_pages, uint32_t flags, unsigned target)
{
	bool grows = new_pages > old_pages, room = v && v->end == page_addr(first + old_pages);
	struct model_page *m = &s->page[first];

	if ((flags & MREMAP_FIXED) && target < first + old_pages && first < target + new_pages)
		return -EINVAL;
	if (v && !(flags & MREMAP_FIXED) && !grows)
		return OK;
	if (!v || v->end < page_addr(first + old_pages))
		return -EFAULT;
	if (grows && v->object && m->object_page + new_pages > OBJECT_PAGES)
		return -EINVAL;
	for (unsigned i = first + old_pages; i < first + new_pages; i++)
		room = room && s->page[i].kind == FREE;
	return grows && !room && !(flags & MREMAP_MAYMOVE) ? -ENOMEM : OK;
}

/* The model's pages move; what is new is as the last one, untouched. */
static void model_remap(struct space *s, unsigned first, unsigned old_pages, unsigned new_pages,
			unsigned target)
{
	struct model_page moved[WINDOW_PAGES], fresh = s->page[first];

	memcpy(moved, &s->page[first], old_pages * sizeof(moved[0]));
	for (unsigned i = 0; i < old_pages; i++)
		s->page[first + i] = (struct model_page){ .kind = FREE };
	fresh.touched = false;
	for (unsigned i = 0; i < new_pages; i++) {
		if (i >= old_pages) {
			moved[i] = fresh;
			moved[i].object_page = fresh.object_page + i;
		}
		s->page[target + i] = moved[i];
	}
}

/* If it went out of the window to a place of its own choice, it is brought back. */
static void op_remap(struct space *s)
{
	static const uint32_t kinds[] = { 0, MREMAP_MAYMOVE, MREMAP_MAYMOVE | MREMAP_FIXED };
	unsigned first = shim_random(WINDOW_PAGES - 32), old_pages = 1 + shim_random(16);
	unsigned new_pages = 1 + shim_random(32), target = shim_random(WINDOW_PAGES - 32);
	uint32_t flags = kinds[shim_random(3)];
	struct vma *v = vma_at(*s->mm, page_addr(first));
	int64_t at;
	int error;

	if (v && shim_random(4))	/* mostly what it can be */
		old_pages = MIN(old_pages, (v->end - page_addr(first)) >> PAGE_SHIFT);
	error = expected_remap(s, v, first, old_pages, new_pages, flags, target);
	at = mm_remap(*s->mm, page_addr(first), old_pages * PAGE_SIZE, new_pages * PAGE_SIZE, flags,
		      page_addr(target));
	if (no_memory(at)) {
		note_copies(s);
		return;
	}
	if (error) {
		CHECK(at == error);
		return;
	}
	if (!CHECK(at > 0))
		return;
	if (!(flags & MREMAP_FIXED))
		target = first;
	if ((vaddr_t)at < WINDOW_START) {
		CHECK(flags == MREMAP_MAYMOVE && new_pages > old_pages);
		CHECK(mm_check(*s->mm) == 0);
		if (let_fail)
			alloc_fail_in = 1000;
		at = mm_remap(*s->mm, (vaddr_t)at, new_pages * PAGE_SIZE, new_pages * PAGE_SIZE,
			      MREMAP_MAYMOVE | MREMAP_FIXED, page_addr(target));
	}
	CHECK(at == page_addr(target));
	model_remap(s, first, old_pages, new_pages, target);
	note_copies(s);
	if (all_went_well() && (new_pages > old_pages || (flags & MREMAP_FIXED)))
		check_filled(s, target, new_pages);
}

/* ---- Touch and the rest ---- */

static void op_unmap(struct space *s)
{
	unsigned first = shim_random(WINDOW_PAGES);
	unsigned pages = 1 + shim_random(MIN(24u, WINDOW_PAGES - first));
	int error;

	error = mm_unmap(*s->mm, page_addr(first), pages * PAGE_SIZE);
	if (no_memory(error))
		return;
	CHECK(error == OK);
	for (unsigned i = 0; i < pages; i++)
		s->page[first + i] = (struct model_page){ .kind = FREE };
}

static void op_write(struct space *s)
{
	unsigned i = shim_random(WINDOW_PAGES);
	struct model_page *m = &s->page[i];
	int error = mm_fault(*s->mm, page_addr(i) + shim_random(PAGE_SIZE), FAULT_WRITE);
	uint32_t *word;

	if (no_memory(error))
		return;
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

	if (no_memory(error))
		return;
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
	unsigned pages = 1 + shim_random(MIN(16u, WINDOW_PAGES - first)), locked = 0;

	for (unsigned i = 0; i < pages; i++) {
		holes += s->page[first + i].kind == FREE;
		locked += s->page[first + i].locked;
	}
	CHECK(mm_advise(*s->mm, page_addr(first), pages * PAGE_SIZE, MADV_DONTNEED) ==
	      (locked ? -EINVAL : holes ? -ENOMEM : OK));
	for (unsigned i = 0; !locked && i < pages; i++)
		s->page[first + i].touched = false;
}

static void op_fork(struct space *s)
{
	struct space *child = &spaces[shim_random(SPACES)];
	int error;

	if (*child->mm)
		return;
	*child->mm = mm_fork(*s->mm, &error);
	if (!*child->mm && no_memory(error))
		return;
	CHECK(*child->mm && error == OK);
	memcpy(child->page, s->page, sizeof(s->page));
	for (unsigned i = 0; i < WINDOW_PAGES; i++)
		child->page[i].locked = false;
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
	unsigned mapped = 0, in_model = 0, promised = 0;

	for (unsigned i = 0; i < WINDOW_PAGES; i++) {
		v = vma_at(*s->mm, page_addr(i));
		CHECK((v != NULL) == (s->page[i].kind != FREE));
		in_model += s->page[i].kind != FREE;
		if (v)
			CHECK((v->flags & VMA_PROT) == s->page[i].prot &&
			      !(v->flags & VMA_LOCKED) == !s->page[i].locked);
	}
	list_for_each(v, &(*s->mm)->vmas, link) {
		mapped += vma_pages(v);
		promised += v->flags & VMA_ACCOUNT ? vma_pages(v) : 0;
	}
	CHECK(mapped == in_model && (*s->mm)->total_pages == in_model);
	CHECK((*s->mm)->committed == promised);
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

/* Another thread runs while an operation is half done, and audits. */
static void audit_meanwhile(void)
{
	struct mm *mm;

	list_for_each(mm, &mm_all, all_link)
		CHECK(mm_check(mm) == 0);
	CHECK(rmap_check() == 0);
	audits++;
}

/* One operation, chosen by chance, on one space. */
static void step(struct space *s)
{
	switch (shim_random(20)) {
	case 0: case 19: op_map(s); break;
	case 1: op_unmap(s); break;
	case 2: op_advise(s); break;
	case 3: op_fork(s); break;
	case 4:
		if (s != &spaces[0] && shim_random(2))
			destroy(s);
		break;
	case 5: case 6: case 7: case 8: op_write(s); break;
	case 9: op_protect(s); break;
	case 10: case 11: op_remap(s); break;
	case 12: case 13: op_lock(s); break;
	case 14: op_incore(s); break;
	default: check_read(s, shim_random(WINDOW_PAGES));
	}
}

static void run_steps(uint32_t seed, bool failing)
{
	start(seed);
	memset(object_value, 0, sizeof(object_value));
	memset(spaces, 0, sizeof(spaces));
	for (unsigned i = 0; i < SPACES; i++)
		spaces[i].mm = &mms[i];
	for (unsigned n = 0; n < STEPS; n++) {
		struct space *s = &spaces[shim_random(SPACES)];

		let_fail = failing;
		alloc_fail_in = failing ? 1 + shim_random(4) : 0;
		if (*s->mm)
			step(s);
		let_fail = false;
		alloc_fail_in = 0;
		if (n % 100 == 0)
			check_all();
	}
	for (unsigned i = 0; i < SPACES; i++) {
		for (unsigned p = 0; *spaces[i].mm && p < WINDOW_PAGES; p++)
			check_read(&spaces[i], p);
	}
	check_all();
}

int main(void)
{
	uint32_t seed = shim_run_seed();

	shim_resched = audit_meanwhile;
	run_steps(seed, false);
	shim_resched = NULL;
	tap_checks("host-vma-01", "random map, unmap, protect, mremap, mlock, touch, advise, fork agree with a model of pages");
	CHECK(audits > 1000);
	tap_checks("host-vma-05", "what another thread sees of them half done is no violation either");
	finish();
	tap_checks("host-vma-02", "after all spaces are destroyed every frame is free again");
	run_steps(seed + 1, true);
	tap_checks("host-vma-03", "calls that lack memory say so and change nothing, or what they may");
	finish();
	tap_checks("host-vma-04", "and nothing is lost by that");
	return tap_done();
}

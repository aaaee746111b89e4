/*
 * Where a mapping without a wish goes: mm_find_room(), which remembers, against the plain search
 * from USER_MMAP_BASE up, after every step of random mapping, unmapping, moving, growing stacks
 * and other stack limits.
 * rmap: kept
 * links: SPACES
 */
#include "shim.h"
#include "spaces.h"

enum { STEPS = 6000, MAPPINGS_MOST = 300, SIZES = 6 };

/* First fit, hole by hole. */
static vaddr_t plain_search(struct mm *mm, uint32_t bytes)
{
	vaddr_t from = USER_MMAP_BASE;
	struct vma *v;

	list_for_each(v, &mm->vmas, link) {
		if (v->end <= from)
			continue;
		if (vma_claim(v) >= from && vma_claim(v) - from >= bytes)
			return from;
		from = MAX(from, v->end);
	}
	return USER_END - from >= bytes ? from : 0;
}

/* A number of pages, small ones more often. */
static uint32_t some_bytes(void)
{
	return (1 + shim_random(1u << shim_random(12))) * PAGE_SIZE;
}

/* A random vma at or above USER_MMAP_BASE, or NULL. */
static struct vma *some_vma(struct mm *mm)
{
	struct vma *v = vma_find(mm, USER_MMAP_BASE + shim_random(0x08000000));

	return v && v->start >= USER_MMAP_BASE ? v : NULL;
}

static void map_somewhere(struct mm *mm)
{
	struct map_request r = { .bytes = some_bytes(), .flags = MAP_PRIVATE | MAP_ANONYMOUS };
	vaddr_t wanted;
	int64_t at;

	r.prot = shim_random(2) ? PROT_READ : PROT_NONE;	/* few can merge */
	if (shim_random(12) == 0)
		r.flags |= MAP_GROWSDOWN;
	if (shim_random(8) == 0) {
		r.addr = USER_MMAP_BASE + shim_random(0x8000) * PAGE_SIZE;
		r.flags |= MAP_FIXED;
	}
	wanted = r.addr ? r.addr : plain_search(mm, r.bytes);
	if (mm->vma_count > MAPPINGS_MOST)
		return;
	at = mm_map(mm, &r);
	CHECK(at == wanted);
}

static void unmap_some(struct mm *mm)
{
	struct vma *v = some_vma(mm);
	vaddr_t start;

	if (!v)
		return;
	start = v->start + shim_random(vma_pages(v)) * PAGE_SIZE;
	CHECK(mm_unmap(mm, start, shim_random(3) ? v->end - start : some_bytes()) == OK);
}

static void remap_some(struct mm *mm)
{
	struct vma *v = some_vma(mm);

	if (v)
		mm_remap(mm, v->start, v->end - v->start, some_bytes(), shim_random(2), 0);
}

static void change_stack(struct mm *mm)
{
	struct abi_limit want = { .soft = some_bytes(), .hard = LIMIT_NONE }, was;
	struct vma *v = some_vma(mm);

	if (shim_random(4) == 0)
		CHECK(mm_limit(mm, LIMIT_STACK, &want, &was) == OK);
	else if (v && (v->flags & VMA_GROWSDOWN))
		mm_fault(mm, v->start - some_bytes(), FAULT_READ);
}

static void step(struct mm *mm)
{
	switch (shim_random(8)) {
	case 0: case 1: unmap_some(mm); break;
	case 2: remap_some(mm); break;
	case 3: change_stack(mm); break;
	default: map_somewhere(mm);
	}
}

int main(void)
{
	start(shim_run_seed());
	for (unsigned n = 0; n < STEPS; n++) {
		step(mms[0]);
		for (unsigned i = 0; i < SIZES; i++) {
			uint32_t bytes = some_bytes();

			CHECK(mm_find_room(mms[0], bytes) == plain_search(mms[0], bytes));
		}
		if (n % 1000 == 0)
			CHECK(mm_check(mms[0]) == 0);
	}
	CHECK(mm_find_room(mms[0], USER_END - USER_MMAP_BASE) == 0);
	tap_checks("host-room-01", "what is remembered of holes gives what a search of all gives");
	finish();
	tap_checks("host-room-02", "and every frame comes back");
	return tap_done();
}

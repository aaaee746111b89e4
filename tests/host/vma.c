/*
 * Address spaces against a model that knows each page: map, unmap, brk, touch, fork, advise,
 * destroy in random order, with the real faults and the real reverse map; contents compared.
 * The swap is empty here, the TLB is nobody's.
 * links: mm/vma.c mm/mmap.c mm/brk.c mm/advise.c mm/zap.c mm/mm.c mm/fork.c mm/commit.c
 * links: mm/pgtable.c mm/tree.c mm/object.c mm/radix.c mm/slab.c mm/frame.c mm/page.c
 * links: mm/fault.c mm/cow.c mm/swapin.c mm/mm_check.c mm/frame_check.c
 * links: mm/rmap/common.c mm/rmap/object.c mm/rmap/RMAP/*.c
 */
#include <stdlib.h>
#include <string.h>

#include "kernel/abi/errno.h"
#include "kernel/boot.h"
#include "kernel/panic.h"
#include "kernel/task.h"
#include "kernel/thread.h"
#include "kernel/trap.h"
#include "mm/fault.h"
#include "mm/object.h"
#include "mm/reclaim.h"
#include "mm/rmap.h"
#include "mm/slab.h"
#include "mm/swap.h"
#include "mm/vma.h"
#include "shim.h"

/* ---- The parts of the kernel that these files call and this test does without ---- */

static pte_t shared_half[1024];
pte_t *kernel_pgdir = shared_half;
struct boot_info boot;
static uint32_t no_swap_slots;

void kobject_drop(struct kobject *k)
{
	if (--k->refs == 0)
		k->ops->destroy(k);
}

void tlb_flush_page(struct mm *mm, vaddr_t addr) { (void)mm; (void)addr; }
void tlb_flush_mm(struct mm *mm) { (void)mm; }
void pgtable_leave(struct mm *mm) { (void)mm; }
struct task *current_task(void) { return NULL; }
void task_kill(struct task *t, int32_t status) { (void)t; (void)status; }
void task_exception(struct trap_frame *tf, int s, vaddr_t a, const char *w)
{ (void)tf; (void)s; (void)a; (void)w; }
struct trap_frame *current_trap_frame(void) { return NULL; }
uint32_t usercopy_fixup(uint32_t eip) { (void)eip; return 0; }
const char *kstack_guard_hit(vaddr_t addr) { (void)addr; return NULL; }
void panic_trap(const struct trap_frame *tf, const char *fmt, ...)
{ (void)tf; panic("trap: %s", fmt); }
int copy_from_user(void *to, vaddr_t from, size_t n) { (void)to; (void)from; (void)n; return -EFAULT; }
int copy_to_user(vaddr_t to, const void *from, size_t n) { (void)to; (void)from; (void)n; return -EFAULT; }
void lru_insert_active(struct page *p) { (void)p; }
void lru_mark_accessed(struct page *p) { (void)p; }
int  swap_dup(swap_entry e) { (void)e; return -EINVAL; }
void swap_free(swap_entry e) { (void)e; }
unsigned swap_count(swap_entry e) { (void)e; return 0; }
uint32_t swap_slots_total(void) { return no_swap_slots; }
bool swap_cache_try_free(struct page *p) { (void)p; return false; }
struct page *swap_read(swap_entry e, struct vma *v, vaddr_t addr, bool *major)
{ (void)e; (void)v; (void)addr; (void)major; return NULL; }

/* ---- The model ---- */

enum { SPACES = 4, WINDOW_PAGES = 256, STEPS = 12000, OBJECT_PAGES = 64 };
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
	struct mm *mm;
	struct model_page page[WINDOW_PAGES];
} spaces[SPACES];
static struct object *object;
static uint32_t object_value[OBJECT_PAGES];
static uint32_t next_value = 1;
static uint32_t free_before;

static vaddr_t page_addr(unsigned i) { return WINDOW_START + i * PAGE_SIZE; }

/* What a read of model page `i` must find. */
static uint32_t model_value(const struct model_page *m)
{
	if (m->kind == SHARED || (m->kind == PRIVATE && !m->touched))
		return object_value[m->object_page];
	return m->touched ? m->value : 0;
}

static uint32_t *mapped_word(struct mm *mm, vaddr_t addr)
{
	pte_t *pte = pte_find(mm, addr);

	if (!CHECK(pte && pte_present(*pte)))
		return NULL;
	return page_address(pfn_page(pte_pfn(*pte)));
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
	CHECK(mm_map(s->mm, &r) == r.addr);
	for (unsigned i = 0; i < pages; i++)
		s->page[first + i] = (struct model_page){ .kind = kind, .prot = (uint8_t)r.prot,
							  .object_page = r.object_page + i };
}

static void op_unmap(struct space *s)
{
	unsigned first = shim_random(WINDOW_PAGES);
	unsigned pages = 1 + shim_random(MIN(48u, WINDOW_PAGES - first));

	CHECK(mm_unmap(s->mm, page_addr(first), pages * PAGE_SIZE) == OK);
	for (unsigned i = 0; i < pages; i++)
		s->page[first + i] = (struct model_page){ .kind = FREE };
}

static void op_write(struct space *s)
{
	unsigned i = shim_random(WINDOW_PAGES);
	struct model_page *m = &s->page[i];
	int error = mm_fault(s->mm, page_addr(i) + shim_random(PAGE_SIZE), FAULT_WRITE);
	uint32_t *word;

	if (m->kind == FREE || !(m->prot & PROT_WRITE)) {
		CHECK(error == -EFAULT);
		return;
	}
	CHECK(error == OK);
	word = mapped_word(s->mm, page_addr(i));
	if (!word)
		return;
	CHECK(*pte_find(s->mm, page_addr(i)) & PTE_WRITE);
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
	int error = mm_fault(s->mm, page_addr(i), FAULT_READ);
	uint32_t *word;

	if (m->kind == FREE || m->prot == PROT_NONE) {
		CHECK(error == -EFAULT);
		return;
	}
	CHECK(error == OK);
	word = mapped_word(s->mm, page_addr(i));
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
	CHECK(mm_advise(s->mm, page_addr(first), pages * PAGE_SIZE, MADV_DONTNEED) ==
	      (holes ? -ENOMEM : OK));
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
}

static void destroy(struct space *s)
{
	mm_destroy(s->mm);
	s->mm = NULL;
}

/* ---- Checks ---- */

static void check_space(struct space *s)
{
	struct vma *v;
	unsigned mapped = 0, in_model = 0;

	for (unsigned i = 0; i < WINDOW_PAGES; i++) {
		v = vma_at(s->mm, page_addr(i));
		CHECK((v != NULL) == (s->page[i].kind != FREE));
		in_model += s->page[i].kind != FREE;
		if (v)
			CHECK((v->flags & VMA_PROT) == s->page[i].prot);
	}
	list_for_each(v, &s->mm->vmas, link)
		mapped += vma_pages(v);
	CHECK(mapped == in_model && s->mm->total_pages == in_model);
	CHECK(mm_check(s->mm) == 0);
}

/* frame.2: PTEs of all spaces, counted frame by frame. */
static void check_mapcounts(void)
{
	uint32_t *ptes = calloc(page_count, sizeof(*ptes));

	for (unsigned s = 0; s < SPACES; s++) {
		for (vaddr_t a = 0; spaces[s].mm && a < USER_END;) {
			pte_t *pte = pte_find(spaces[s].mm, a);

			if (pte && pte_present(*pte))
				ptes[pte_pfn(*pte)]++;
			a = pte ? a + PAGE_SIZE : pgtable_next(a);
		}
	}
	for (pfn_t i = 0; i < page_count; i++) {
		struct page *p = pfn_page(i);

		if (!page_is(p, PG_RESERVED) && !page_is(p, PG_BUDDY))
			CHECK(p->mapcount == ptes[i] && p->count >= p->mapcount);
	}
	free(ptes);
}

static void check_all(void)
{
	for (unsigned i = 0; i < SPACES; i++) {
		if (spaces[i].mm)
			check_space(&spaces[i]);
	}
	check_mapcounts();
	CHECK(frame_check() == 0 && slab_check() == 0 && object_check() == 0);
	CHECK(rmap_check() == 0);
}

static bool never_free_slots(void) { return false; }
static struct page *alloc_plain(enum gfp flags, unsigned order)
{
	struct page *p = flags & GFP_DMA ? NULL : frame_take(&zones[ZONE_NORMAL], order);

	return p ? p : frame_take(&zones[ZONE_DMA], order);
}
static const struct reclaim_policy plain = {
	.name = "plain", .alloc = alloc_plain,
	.free_slot_on_read = never_free_slots, .free_slot_on_write = never_free_slots,
};

static void start(uint32_t seed)
{
	shim_seed(seed);
	shim_machine(24 << 20);
	reclaim = &plain;
	zero_page = page_alloc(GFP_ZERO, 0);
	frame_reserve(zero_page);
	free_before = frames_free();
	object = object_create(OBJECT_PAGES);
	memset(object_value, 0, sizeof(object_value));
	memset(spaces, 0, sizeof(spaces));
	spaces[0].mm = mm_create();
}

/* Everything goes; every frame must come back. */
static void finish(void)
{
	for (unsigned i = 0; i < SPACES; i++) {
		if (spaces[i].mm)
			destroy(&spaces[i]);
	}
	kobject_drop(&object->kobject);
	slab_shrink();
	CHECK(frames_free() == free_before);
	CHECK(commit_total() == 0 && rmap_mapped_pages() == 0 && frame_check() == 0);
	CHECK(slab_frames() == 0);
}

static void test_random(uint32_t seed)
{
	start(seed);
	for (unsigned step = 0; step < STEPS; step++) {
		struct space *s = &spaces[shim_random(SPACES)];

		if (!s->mm)
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
		for (unsigned p = 0; spaces[i].mm && p < WINDOW_PAGES; p++)
			check_read(&spaces[i], p);
	}
	check_all();
	tap_checks("host-vma-01", "random map, unmap, touch, advise, fork agree with a model of pages");
	finish();
	tap_checks("host-vma-02", "after all spaces are destroyed every frame is free again");
}

static int64_t map(vaddr_t addr, uint32_t bytes, uint32_t prot, uint32_t flags)
{
	struct map_request r = { .addr = addr, .bytes = bytes, .prot = prot, .flags = flags };

	return mm_map(spaces[0].mm, &r);
}

enum { RW = PROT_READ | PROT_WRITE, PRIVATE_ANON = MAP_PRIVATE | MAP_ANONYMOUS };

static void test_merge_split(void)
{
	struct mm *mm;
	vaddr_t a = WINDOW;

	start(2);
	mm = spaces[0].mm;
	CHECK(map(0, 3 * PAGE_SIZE, RW, PRIVATE_ANON) == USER_MMAP_BASE);
	CHECK(map(0, PAGE_SIZE, RW, PRIVATE_ANON) == a + 3 * PAGE_SIZE && mm->vma_count == 1);
	CHECK(mm_fault(mm, a, FAULT_WRITE) == OK);
	CHECK(mm_unmap(mm, a + PAGE_SIZE, PAGE_SIZE) == OK && mm->vma_count == 2);
	CHECK(map(0, PAGE_SIZE, PROT_READ, PRIVATE_ANON) == a + PAGE_SIZE && mm->vma_count == 3);
	CHECK(map(a + PAGE_SIZE, PAGE_SIZE, RW, PRIVATE_ANON | MAP_FIXED) == a + PAGE_SIZE);
	CHECK(mm->vma_count == 1 && mm->total_pages == 4 && mm->rss == 1);
	check_mapcounts();
	CHECK(mm_check(mm) == 0 && rmap_check() == 0);
	CHECK(mm_unmap(mm, a, USER_END - a) == OK && mm->vma_count == 0 && mm->rss == 0);
	finish();
	tap_checks("host-vma-03", "equal neighbours become one vma, a hole makes two");
}

static void test_bad_arguments(void)
{
	struct map_request beyond = { .bytes = 2 * PAGE_SIZE, .prot = PROT_READ,
				      .flags = MAP_PRIVATE, .object_page = OBJECT_PAGES - 1 };
	struct mm *mm;

	start(3);
	mm = spaces[0].mm;
	beyond.object = object;
	CHECK(map(0, 0, RW, PRIVATE_ANON) == -EINVAL);
	CHECK(map(0, PAGE_SIZE, RW, MAP_ANONYMOUS) == -EINVAL);
	CHECK(map(0, PAGE_SIZE, RW, MAP_SHARED | PRIVATE_ANON) == -EINVAL);
	CHECK(map(0, PAGE_SIZE, 8, PRIVATE_ANON) == -EINVAL);
	CHECK(map(0, PAGE_SIZE, RW, PRIVATE_ANON | 0x80000) == -EINVAL);
	CHECK(map(0, 0xffffffff, RW, PRIVATE_ANON) == -ENOMEM);
	CHECK(map(0x5001, PAGE_SIZE, RW, PRIVATE_ANON | MAP_FIXED) == -EINVAL);
	CHECK(map(0, PAGE_SIZE, RW, PRIVATE_ANON | MAP_FIXED) == -EINVAL);
	CHECK(map(USER_END, PAGE_SIZE, RW, PRIVATE_ANON | MAP_FIXED) == -EINVAL);
	CHECK(mm_map(mm, &beyond) == -EINVAL);
	CHECK(mm_unmap(mm, 0x5001, PAGE_SIZE) == -EINVAL);
	CHECK(mm_unmap(mm, 0x5000, 0) == -EINVAL);
	CHECK(mm_unmap(mm, 0, PAGE_SIZE) == -EINVAL);
	CHECK(mm_unmap(mm, 0xfffff000, 0x2000) == -EINVAL);
	CHECK(mm_unmap(mm, 0x5000, PAGE_SIZE) == OK);
	CHECK(mm_advise(mm, 0x5001, PAGE_SIZE, MADV_DONTNEED) == -EINVAL);
	CHECK(mm_advise(mm, 0x5000, PAGE_SIZE, 99) == -EINVAL);
	CHECK(mm_advise(mm, 0x5000, PAGE_SIZE, MADV_NORMAL) == -ENOMEM);
	CHECK(mm_advise(mm, 0x5000, 0, MADV_NORMAL) == OK);
	CHECK(mm->vma_count == 0 && mm->committed == 0);
	finish();
	tap_checks("host-vma-04", "nonsense is refused in words and changes nothing");
}

static void test_brk(void)
{
	struct mm *mm;

	start(4);
	mm = spaces[0].mm;
	mm->heap_start = mm->heap_end = 0x8050123;
	CHECK(mm_brk(mm, 0) == 0x8050123);
	CHECK(mm_brk(mm, 0x8050500) == 0x8050500 && mm->vma_count == 0);
	CHECK(mm_brk(mm, 0x8060000) == 0x8060000 && mm->total_pages == 15);
	CHECK(mm_fault(mm, 0x805ffff, FAULT_WRITE) == OK);
	CHECK(mm_brk(mm, 0x8062001) == 0x8062001 && mm->vma_count == 1);
	CHECK(map(0x8065000, PAGE_SIZE, RW, PRIVATE_ANON | MAP_FIXED) == 0x8065000);
	CHECK(mm_brk(mm, 0x8066000) == 0x8062001);
	CHECK(mm_brk(mm, 0x8051000) == 0x8051000 && mm->rss == 0 && mm->total_pages == 1);
	CHECK(mm_check(mm) == 0);
	finish();
	tap_checks("host-vma-05", "brk grows, shrinks, and stops at the next mapping");
}

static void test_stack(void)
{
	vaddr_t top = USER_STACK_TOP;
	struct mm *mm;
	struct vma *v;

	start(5);
	mm = spaces[0].mm;
	CHECK(map(top - PAGE_SIZE, PAGE_SIZE, RW,
		  PRIVATE_ANON | MAP_FIXED | MAP_GROWSDOWN) == top - PAGE_SIZE);
	CHECK(mm_fault(mm, top - 5 * PAGE_SIZE, FAULT_WRITE) == OK && mm->total_pages == 5);
	v = vma_at(mm, top - 1);
	CHECK(v && stack_grow(v, top - 64 * PAGE_SIZE, top - 10 * PAGE_SIZE) == -EFAULT);
	CHECK(mm_fault(mm, top - STACK_BYTES_MAX - 1, FAULT_WRITE) == -EFAULT);
	CHECK(map(0, top - STACK_BYTES_MAX - USER_MMAP_BASE + PAGE_SIZE, PROT_READ,
		  PRIVATE_ANON) == -ENOMEM);
	CHECK(map(0, top - STACK_BYTES_MAX - USER_MMAP_BASE, PROT_READ, PRIVATE_ANON) ==
	      USER_MMAP_BASE);
	CHECK(mm_fault(mm, top - STACK_BYTES_MAX + PAGE_SIZE, FAULT_WRITE) == OK);
	CHECK(mm_fault(mm, top - STACK_BYTES_MAX, FAULT_WRITE) == -EFAULT);
	CHECK(mm_check(mm) == 0);
	finish();
	tap_checks("host-vma-06", "a stack grows to 8 MiB, near esp only, and its room stays free");
}

static void test_overcommit(void)
{
	uint32_t ram;
	struct mm *mm;

	start(6);
	mm = spaces[0].mm;
	ram = frames_total();
	CHECK(map(0, (ram + 1) * PAGE_SIZE, RW, PRIVATE_ANON) == -ENOMEM && mm->vma_count == 0);
	CHECK(map(0, (ram + 1) * PAGE_SIZE, PROT_READ, PRIVATE_ANON) > 0);
	CHECK(map(0, ram * PAGE_SIZE, RW, PRIVATE_ANON) > 0 && commit_total() == ram);
	no_swap_slots = 1;
	CHECK(map(0, (ram + 1) * PAGE_SIZE, RW, PRIVATE_ANON) > 0);
	no_swap_slots = 0;
	finish();
	tap_checks("host-vma-07", "overcommit=0 refuses one request above RAM and swap, no other");
}

static void test_no_memory(void)
{
	struct page *p, *first = NULL;
	struct mm *mm;
	int error;

	start(7);
	mm = spaces[0].mm;
	CHECK(map(WINDOW, 8 * PAGE_SIZE, RW, PRIVATE_ANON | MAP_FIXED) == WINDOW);
	for (unsigned i = 0; i < 8; i++)
		CHECK(mm_fault(mm, WINDOW + i * PAGE_SIZE, FAULT_WRITE) == OK);
	while ((p = page_alloc(GFP_KERNEL, 0)) != NULL) {
		p->index = 0;
		p->lru.next = (struct list *)first;
		first = p;
	}
	CHECK(mm_fork(mm, &error) == NULL && error == -ENOMEM);
	for (unsigned i = 0; i < 8; i++)
		CHECK(mm_fault(mm, WINDOW + i * PAGE_SIZE, FAULT_WRITE) == OK);
	CHECK(mm->rss == 8 && mm_check(mm) == 0 && rmap_check() == 0);
	while ((p = first) != NULL) {
		first = (struct page *)p->lru.next;
		list_init(&p->lru);
		page_drop(p);
	}
	finish();
	tap_checks("host-vma-08", "fork without memory fails and leaves the parent as it was");
}

static void test_write(void)
{
	struct object *from;
	struct mm *mm;
	struct page *p;
	int error;

	start(8);
	mm = spaces[0].mm;
	from = object_create(3);
	for (unsigned i = 0; i < 3; i++) {
		p = object_get_page(from, i, &error);
		memset(page_address(p), 'a' + (int)i, PAGE_SIZE);
		page_drop(p);
	}
	CHECK(map(WINDOW, 4 * PAGE_SIZE, RW, PRIVATE_ANON | MAP_FIXED) == WINDOW);
	CHECK(mm_write(mm, WINDOW + 100, from, 200, 2 * PAGE_SIZE + 300) == OK);
	CHECK(*(char *)mapped_word(mm, WINDOW) == 0);
	CHECK(((char *)mapped_word(mm, WINDOW))[100] == 'a');
	CHECK(((char *)mapped_word(mm, WINDOW + PAGE_SIZE))[0] == 'b');
	CHECK(((char *)mapped_word(mm, WINDOW + 2 * PAGE_SIZE))[399] == 'c');
	CHECK(((char *)mapped_word(mm, WINDOW + 2 * PAGE_SIZE))[400] == 0);
	CHECK(mm_write(mm, WINDOW, from, 3 * PAGE_SIZE, 1) == -EFAULT);
	CHECK(mm_write(mm, WINDOW + 4 * PAGE_SIZE, from, 0, 1) == -EFAULT);
	CHECK(object_get_page(from, 3, &error) == NULL && error == -EFAULT);
	kobject_drop(&from->kobject);
	finish();
	tap_checks("host-vma-09", "mm_write() copies across pages and refuses what isn't mapped");
}

int main(void)
{
	test_random(shim_run_seed());
	test_merge_split();
	test_bad_arguments();
	test_brk();
	test_stack();
	test_overcommit();
	test_no_memory();
	test_write();
	return tap_done();
}

/*
 * Address spaces by examples: merging and splitting, bad arguments, brk, stacks, overcommit,
 * no memory, mm_write().
 * rmap: kept
 * links: SPACES
 */
#include "shim.h"
#include "spaces.h"

#define WINDOW USER_MMAP_BASE

static int64_t map(vaddr_t addr, uint32_t bytes, uint32_t prot, uint32_t flags)
{
	struct map_request r = { .addr = addr, .bytes = bytes, .prot = prot, .flags = flags };

	return mm_map(mms[0], &r);
}

enum { RW = PROT_READ | PROT_WRITE, PRIVATE_ANON = MAP_PRIVATE | MAP_ANONYMOUS,
       SHARED_ANON = MAP_SHARED | MAP_ANONYMOUS };

static void test_merge_split(void)
{
	struct mm *mm;
	vaddr_t a = WINDOW;

	start(2);
	mm = mms[0];
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
	tap_checks("host-space-01", "equal neighbours become one vma, a hole makes two");
}

static void test_bad_arguments(void)
{
	struct map_request beyond = { .bytes = 2 * PAGE_SIZE, .prot = PROT_READ,
				      .flags = MAP_PRIVATE, .object_page = OBJECT_PAGES - 1 };
	struct mm *mm;

	start(3);
	mm = mms[0];
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
	tap_checks("host-space-02", "nonsense is refused in words and changes nothing");
}

static void test_brk(void)
{
	struct mm *mm;

	start(4);
	mm = mms[0];
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
	tap_checks("host-space-03", "brk grows, shrinks, and stops at the next mapping");
}

static void test_stack(void)
{
	vaddr_t top = USER_STACK_TOP;
	struct mm *mm;
	struct vma *v;

	start(5);
	mm = mms[0];
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
	tap_checks("host-space-04", "a stack grows to 8 MiB, near esp only, and its room stays free");
}

static void test_overcommit(void)
{
	uint32_t ram, before;
	struct mm *mm;

	start(6);
	mm = mms[0];
	ram = frames_total();
	before = commit_total();		/* the object's */
	CHECK(before == OBJECT_PAGES);
	CHECK(map(0, (ram + 1) * PAGE_SIZE, RW, PRIVATE_ANON) == -ENOMEM && mm->vma_count == 0);
	CHECK(map(0, (ram + 1) * PAGE_SIZE, PROT_READ, PRIVATE_ANON) > 0);
	CHECK(map(0, ram * PAGE_SIZE, RW, PRIVATE_ANON) > 0 && commit_total() == before + ram);
	no_swap_slots = 1;
	CHECK(map(0, (ram + 1) * PAGE_SIZE, RW, PRIVATE_ANON) > 0);
	no_swap_slots = 0;
	finish();
	tap_checks("host-space-05", "overcommit=0 refuses one request above RAM and swap, no other");
}

static void test_no_memory(void)
{
	struct page *p, *first = NULL;
	struct mm *mm;
	int error;

	start(7);
	mm = mms[0];
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
	tap_checks("host-space-06", "fork without memory fails and leaves the parent as it was");
}

static void test_write(void)
{
	struct object *from;
	struct mm *mm;
	struct page *p;
	int error;

	start(8);
	mm = mms[0];
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
	tap_checks("host-space-07", "mm_write() copies across pages and refuses what isn't mapped");
}

static void test_shared_promise(void)
{
	uint32_t ram, before;
	int64_t at;
	int error;

	start(9);
	ram = frames_total();
	before = commit_total();
	CHECK(map(0, (ram + 1) * PAGE_SIZE, RW, SHARED_ANON) == -ENOMEM && !object_create(ram + 1));
	CHECK(map(0, 9 * PAGE_SIZE, RW, PRIVATE_ANON) > 0 && commit_total() == before + 9);
	at = map(0, 5 * PAGE_SIZE, PROT_READ, SHARED_ANON);
	CHECK(at > 0 && commit_total() == before + 9 + 5);
	mms[1] = mm_fork(mms[0], &error);
	CHECK(mms[1] && commit_total() == before + 2 * 9 + 5);
	CHECK(mm_unmap(mms[0], (vaddr_t)at, 5 * PAGE_SIZE) == OK && commit_total() == before + 2 * 9 + 5);
	CHECK(mm_unmap(mms[1], (vaddr_t)at, 5 * PAGE_SIZE) == OK && commit_total() == before + 2 * 9);
	CHECK(map(0, (ram + 1) * PAGE_SIZE, RW, SHARED_ANON | MAP_NORESERVE) > 0);
	CHECK(commit_total() == before + 2 * 9);
	finish();
	tap_checks("host-space-08", "shared memory is promised once, whoever maps it, until it goes");
}

/* An interrupt may go through all tasks and their page tables (swap.map=): what task names is whole. */
static void test_task_forgets(void)
{
	static struct task task;
	struct mm *old, *new;

	start(10);
	old = mm_create();
	new = mm_create();
	old->task = new->task = &task;
	task.mm = new;
	mm_destroy(old);
	CHECK(task.mm == new);
	mm_destroy(new);
	CHECK(!task.mm);
	finish();
	tap_checks("host-space-09", "a task forgets its address space with the space's end, not after it");
}

int main(void)
{
	test_merge_split();
	test_bad_arguments();
	test_brk();
	test_stack();
	test_overcommit();
	test_no_memory();
	test_write();
	test_shared_promise();
	test_task_forgets();
	return tap_done();
}

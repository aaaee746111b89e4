/*
 * The stress test's os_...() by system calls, and what its processes share: one page of words
 * (steps reached, the sums of what was done) and the named objects.
 *
 * An access that must be refused is tried by a system call that copies to or from there, so
 * that the process lives on.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <clockhand.h>
#include "kernel/abi/errno.h"
#include "user/tests/stress/guest.h"
#include "user/tests/stress/model.h"

enum { CHILDREN_MAX = 3, AREAS_MAX = 8, EXIT_WRONG = 3 };

#define USER_TOP 0xbffff000u		/* of the first stack */

/* Written by everybody without a lock: each process has its own `step`; the sums may lose a
 * little, and only zero means something. */
struct board {
	volatile uint32_t word, weak, done[OP_KINDS], step[INDEX_MAX];
};

static struct board *board;
static int named[NAMED_OBJECTS], scratch;
static struct abi_swap_row areas[AREAS_MAX];
static unsigned area_count;

/* This process's indices: [own_first, own_end); children have the upper parts of it. */
static uint32_t own_first, own_end;
static struct { pid_t pid; uint32_t end; } children[CHILDREN_MAX];
static unsigned child_count;

/* ---- Start and end ---- */

void guest_start(void)
{
	int bytes = sys_sysinfo(SYSINFO_SWAPS, areas, sizeof(areas));

	area_count = bytes > 0 ? (unsigned)bytes / sizeof(areas[0]) : 0;
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	scratch = sys_object_create(1);
	for (unsigned i = 0; i < NAMED_OBJECTS; i++)
		named[i] = sys_object_create(OBJECT_PAGES);
	if (board == MAP_FAILED || scratch < 0 || named[NAMED_OBJECTS - 1] < 0) {
		printf("stress: no memory to begin with\n");
		exit(1);
	}
}

void guest_indices(uint32_t first, uint32_t end)
{
	own_first = first;
	own_end = end;
	child_count = 0;
}

static int lossy;

/* Text isn't swapped. The stack: what is used of it, and some room. */
void guest_lossy(void)
{
	char here;
	uint32_t start = 0x08048000, end = (uint32_t)(uintptr_t)sbrk(0);
	uint32_t stack = ((uint32_t)(uintptr_t)&here - 4 * STRESS_PAGE) & ~(STRESS_PAGE - 1u);

	lossy = 1;
	*(volatile char *)(uintptr_t)stack = 0;
	(void)sys_mlock((void *)start, end - start);
	(void)sys_mlock((void *)stack, USER_TOP - stack);
	(void)sys_mlock(board, sizeof(*board));
}

int guest_ended_well(int status)
{
	return status == 0 || (lossy && status == SIGBUS);
}

static void wait_newest_child(void)
{
	int status = -1;

	child_count--;
	if (waitpid(children[child_count].pid, &status, 0) < 0 || !guest_ended_well(status)) {
		printf("# process %u: its child %d ended with status %#x\n", (unsigned)own_first,
		       (int)children[child_count].pid, status);
		os_fail();
	}
	own_end = children[child_count].end;
}

void guest_wait_children(void)
{
	while (child_count > 0)
		wait_newest_child();
}

void guest_add_done(const struct process *p)
{
	board->weak += (uint32_t)p->weak;
	for (unsigned i = 0; i < OP_KINDS; i++)
		board->done[i] += p->done[i];
}

void guest_print_done(void)
{
	printf("done:");
	for (unsigned i = 0; i < OP_KINDS; i++)
		printf(" %s %u", op_name(i), (unsigned)board->done[i]);
	printf(" weak %u\n", (unsigned)board->weak);
}

void guest_print_steps(void)
{
	for (unsigned i = 0; i < INDEX_MAX; i++)
		if (board->step[i])
			printf(" %u:%u", i, (unsigned)board->step[i]);
	printf("\n");
}

unsigned guest_audit(void)
{
	int found = sys_machine(MACHINE_AUDIT, 0);

	if (found)
		printf("# the audit found %d\n", found);
	return (unsigned)found;
}

void guest_push_out(void)
{
	struct abi_memory m;
	pid_t pid = fork();

	if (pid == 0) {
		volatile char *p;
		uint32_t pages;

		sys_sysinfo(SYSINFO_MEMORY, &m, sizeof(m));
		pages = (m.total - m.reserved) / 4 * 5;
		p = mmap(NULL, pages * STRESS_PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		for (uint32_t i = 0; p != MAP_FAILED && i < pages; i++)
			p[i * STRESS_PAGE] = 1;
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

void guest_set_word(uint32_t value)
{
	board->word = value;
}

void guest_wait_for_word(uint32_t value)
{
	while (board->word < value)
		sys_sleep(20000000, 0);
}

/* ---- The calls ---- */

int64_t os_map(struct process *p, uint32_t addr, uint32_t bytes, uint32_t prot, uint32_t flags,
	       int object, uint32_t object_page)
{
	int32_t at = sys_mmap((void *)(uintptr_t)addr, bytes, (int)prot, (int)flags,
			      object >= 0 ? named[object] : -1, object_page);

	(void)p;
	return sys_failed(at) ? at : (int64_t)(uint32_t)at;
}

int os_unmap(struct process *p, uint32_t addr, uint32_t bytes)
{
	(void)p;
	return sys_munmap((void *)(uintptr_t)addr, bytes);
}

int os_protect(struct process *p, uint32_t addr, uint32_t bytes, uint32_t prot)
{
	(void)p;
	return sys_mprotect((void *)addr, bytes, (int)prot);
}

int64_t os_remap(struct process *p, uint32_t addr, uint32_t bytes, uint32_t new_bytes,
		 uint32_t flags, uint32_t to)
{
	int32_t at = sys_mremap((void *)addr, bytes, new_bytes, (int)flags, (void *)to);

	(void)p;
	return sys_failed(at) ? at : (int64_t)(uint32_t)at;
}

int os_lock(struct process *p, uint32_t addr, uint32_t bytes, bool lock)
{
	(void)p;
	return lock ? sys_mlock((void *)addr, bytes) : sys_munlock((void *)addr, bytes);
}

int os_advise(struct process *p, uint32_t addr, uint32_t bytes, uint32_t advice)
{
	(void)p;
	return sys_madvise((void *)(uintptr_t)addr, bytes, (int)advice);
}

static const struct model_page *page_of(const struct process *p, uint32_t addr)
{
	return &p->page[(addr - WINDOW) / STRESS_PAGE];
}

int os_load(struct process *p, uint32_t addr, uint32_t *value)
{
	const struct model_page *m = page_of(p, addr);
	int result;

	if (m->kind != NONE && m->prot != PROT_NONE) {
		*value = *(volatile uint32_t *)(uintptr_t)addr;
		return 0;
	}
	result = sys_object_write(scratch, 0, (void *)(uintptr_t)addr, sizeof(*value));
	return result < 0 ? result : 0;
}

int os_store(struct process *p, uint32_t addr, uint32_t value)
{
	const struct model_page *m = page_of(p, addr);
	int result;

	if (m->kind != NONE && (m->prot & PROT_WRITE)) {
		*(volatile uint32_t *)(uintptr_t)addr = value;
		return 0;
	}
	result = sys_object_read(scratch, 0, (void *)(uintptr_t)addr, sizeof(value));
	return result < 0 ? result : 0;
}

/* The child has the upper half of the indices and goes on by itself until its age ends it. */
static void run_child(struct process *p, uint32_t seed, uint32_t first, uint32_t end)
{
	guest_indices(first, end);
	process_forked(p, seed, first);
	for (;;) {
		process_step(p);
		board->step[p->index] = p->step;
	}
}

int os_fork(struct process *p, uint32_t seed)
{
	uint32_t middle;
	pid_t pid;

	board->step[p->index] = p->step;
	if (lossy)
		return -EAGAIN;
	if (child_count == CHILDREN_MAX)
		wait_newest_child();
	if (own_end - own_first < 2)
		return -EAGAIN;
	middle = own_first + (own_end - own_first + 1) / 2;
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		run_child(p, seed, middle, own_end);
	if (pid < 0)
		return -errno;
	children[child_count].pid = pid;
	children[child_count++].end = own_end;
	own_end = middle;
	return 0;
}

void os_exit(struct process *p)
{
	process_check(p);
	guest_wait_children();
	guest_add_done(p);
	_exit(0);
}

/* Only one process does it, so that the areas' names and priorities stay what they are; and one
 * area stays. */
int os_swap(struct process *p, uint32_t which)
{
	const struct abi_swap_row *area;
	int error;

	if (p->index != 1 || area_count < 2)
		return -EBUSY;
	area = &areas[which % area_count];
	error = sys_swapoff(area->name);
	return error ? error : sys_swapon(area->name, area->priority < 0 ? -1 : area->priority);
}

void os_fail(void)
{
	fflush(stdout);
	_exit(EXIT_WRONG);
}

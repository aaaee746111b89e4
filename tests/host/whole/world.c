/* The processes of the stress test on the host: one mm each, stepped in an order that the
 * seed draws. os_...() are mm's own functions, as the system calls would call them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/abi/errno.h"
#include "kernel/panic.h"
#include "kernel/task.h"
#include "machine.h"
#include "shim.h"
#include "user/tests/stress/model.h"

static struct process *processes[WORLD_MAX];
static struct task tasks[WORLD_MAX];	/* exit_status: killed by the kernel */
static struct object *named[NAMED_OBJECTS];
static unsigned count, limit;
static uint64_t steps;
uint64_t world_done[OP_KINDS], world_weak, world_killed;

/* ---- Processes ---- */

static struct process *add(void)
{
	for (unsigned i = 0; i < WORLD_MAX; i++) {
		if (processes[i])
			continue;
		processes[i] = malloc(sizeof(struct process));
		count++;
		return processes[i];
	}
	panic("world: too many processes");
}

/* Its place in processes[], which is its index, less 1. */
static uint32_t index_of(const struct process *p)
{
	unsigned i = 0;

	while (processes[i] != p)
		i++;
	return i + 1;
}

/* `mm`, new, becomes the process's. */
static void give_mm(struct process *p, struct mm *mm)
{
	struct task *t = &tasks[index_of(p) - 1];

	p->os = mm;
	*t = (struct task){ .pid = (int32_t)index_of(p), .name = "stress" };
	mm->task = t;
}

static void remove_process(struct process *p)
{
	world_weak += p->weak;
	for (unsigned i = 0; i < OP_KINDS; i++)
		world_done[i] += p->done[i];
	processes[index_of(p) - 1] = NULL;
	count--;
	free(p);
}

struct process *world_process(unsigned n)
{
	return n < WORLD_MAX ? processes[n] : NULL;
}

unsigned world_count(void)
{
	return count;
}

unsigned world_limit(unsigned most)
{
	unsigned before = limit;

	limit = most;
	return before;
}

struct process *world_fork(struct process *p, uint32_t seed, int *error)
{
	struct mm *mm = count < limit ? mm_fork(p->os, error) : NULL;
	struct process *child;

	if (!mm) {
		*error = count < limit ? *error : -EAGAIN;
		return NULL;
	}
	child = add();
	*child = *p;
	process_forked(child, seed, index_of(child));
	give_mm(child, mm);
	return child;
}

/* One that is nobody's child. */
static void first_process(uint32_t seed)
{
	struct process *p = add();
	struct mm *mm = mm_create();

	if (!mm)
		panic("world: no memory for a process");
	process_init(p, seed, index_of(p));
	give_mm(p, mm);
}

void world_start(uint32_t seed, unsigned most)
{
	count = 0;
	limit = most;
	steps = 0;
	for (unsigned i = 0; i < NAMED_OBJECTS; i++)
		named[i] = object_create(OBJECT_PAGES);
	for (unsigned i = 0; i < 1 + most / 4; i++)
		first_process(seed);
}

static struct process *draw_process(void)
{
	unsigned i = shim_random(WORLD_MAX);

	while (!processes[i])
		i = (i + 1) % WORLD_MAX;
	return processes[i];
}

static void audit_world(void)
{
	struct process *p = draw_process();

	if (machine_audit() != 0)
		process_wrong(p, "audit", 0, 0, 0);
	process_check(p);
}

/* The kernel has killed it. Somebody must go on. */
static void bury(struct process *p)
{
	uint32_t seed = p->run_seed;

	mm_destroy(p->os);
	remove_process(p);
	world_killed++;
	if (count == 0)
		first_process(seed);
}

void world_step(unsigned audit_every)
{
	struct process *p = draw_process();
	uint32_t n;

	n = index_of(p) - 1;
	process_step(p);
	if (processes[n] == p && tasks[n].exit_status)
		bury(p);
	if (cpu_check_tlb() != 0)
		process_wrong(draw_process(), "TLB", 0, 0, 0);
	if (shim_random(3) == 0)
		machine_settle();
	if (audit_every && ++steps % audit_every == 0)
		audit_world();
}

void world_end(void)
{
	audit_world();
	for (unsigned i = 0; i < WORLD_MAX; i++) {
		struct process *p = processes[i];

		if (!p)
			continue;
		process_check(p);
		mm_destroy(p->os);
		remove_process(p);
	}
	for (unsigned i = 0; i < NAMED_OBJECTS; i++)
		kobject_drop(&named[i]->kobject);
}

/* ---- The calls ---- */

int64_t os_map(struct process *p, uint32_t addr, uint32_t bytes, uint32_t prot, uint32_t flags,
	       int object, uint32_t object_page)
{
	struct map_request r = { .addr = addr, .bytes = bytes, .prot = prot, .flags = flags,
				 .object = object >= 0 ? named[object] : NULL,
				 .object_page = object_page, .may_write = true };

	return mm_map(p->os, &r);
}

int os_unmap(struct process *p, uint32_t addr, uint32_t bytes)
{
	return mm_unmap(p->os, addr, bytes);
}

int os_protect(struct process *p, uint32_t addr, uint32_t bytes, uint32_t prot)
{
	return mm_protect(p->os, addr, bytes, prot);
}

int64_t os_remap(struct process *p, uint32_t addr, uint32_t bytes, uint32_t new_bytes,
		 uint32_t flags, uint32_t to)
{
	return mm_remap(p->os, addr, bytes, new_bytes, flags, to);
}

int os_lock(struct process *p, uint32_t addr, uint32_t bytes, bool lock)
{
	return lock ? mm_lock(p->os, addr, bytes) : mm_unlock(p->os, addr, bytes);
}

int os_advise(struct process *p, uint32_t addr, uint32_t bytes, uint32_t advice)
{
	return mm_advise(p->os, addr, bytes, (int)advice);
}

int os_load(struct process *p, uint32_t addr, uint32_t *value)
{
	return cpu_load(p->os, addr, value);
}

int os_store(struct process *p, uint32_t addr, uint32_t value)
{
	return cpu_store(p->os, addr, value);
}

int os_fork(struct process *p, uint32_t seed)
{
	int error = OK;

	(void)world_fork(p, seed, &error);
	return error;
}

void os_exit(struct process *p)
{
	if (count == 1)
		return;
	mm_destroy(p->os);
	remove_process(p);
}

int os_swap(struct process *p, uint32_t which)
{
	(void)p;
	if (disk_in_use(which))
		return swap_off(disk_name(which));
	return swap_on(disk_name(which), (int)(which & 1));
}

void os_fail(void)
{
	panic("the stress test found a wrong byte");
}

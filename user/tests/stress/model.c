/* The life of a process of the stress test, and its reports. See model.h. */
#include <stdio.h>
#include <string.h>

#include "user/tests/stress/model.h"
#include "user/tests/xorshift.h"

static const char *const names[OP_KINDS] = {
	"write", "read", "map", "unmap", "protect", "remap", "advise", "lock", "unlock",
	"fork", "exit", "swapoff",
};

const char *op_name(enum op_kind kind)
{
	return names[kind];
}

uint32_t draw(struct process *p, uint32_t below)
{
	return xorshift(&p->random, below);
}

static void seed_random(struct process *p, uint32_t seed)
{
	p->random = seed * 2654435761u + 1;
	if (p->random == 0)
		p->random = 1;
}

void process_init(struct process *p, uint32_t seed, uint32_t index)
{
	memset(p, 0, sizeof(*p));
	p->run_seed = seed;
	seed_random(p, seed * 1024 + index);
	p->index = index;
	for (unsigned i = 0; i < NAMED_OBJECTS; i++)
		p->object[i].id = i + 1;
}

/* Locks aren't inherited, and its words in shared pages are others than the parent's. */
void process_forked(struct process *child, uint32_t seed, uint32_t index)
{
	seed_random(child, seed);
	child->index = index;
	child->depth++;
	child->age_left = 1 + draw(child, 100);
	child->weak = 0;
	memset(child->done, 0, sizeof(child->done));
	for (unsigned i = 0; i < OBJECTS; i++)
		memset(child->object[i].own, 0, sizeof(child->object[i].own));
	for (unsigned i = 0; i < WINDOW_PAGES; i++)
		child->page[i].locked = false;
}

void process_step(struct process *p)
{
	struct op *op = &p->log[p->step % LOG_OPS];

	memset(op, 0, sizeof(*op));
	draw_op(p, op);
	do_op(p, op);
	p->step++;
	if (p->age_left > 0 && --p->age_left == 0)
		os_exit(p);
}

bool process_check(struct process *p)
{
	for (unsigned n = 0; n < WINDOW_PAGES; n++)
		read_page(p, n);
	return true;
}

void process_end(struct process *p)
{
	int error = os_unmap(p, WINDOW, WINDOW_PAGES * STRESS_PAGE);

	if (error)
		process_wrong(p, "munmap of everything", WINDOW, 0, error);
	memset(p->page, 0, sizeof(p->page));
}

static void report_op(uint32_t step, const struct op *op)
{
	printf("# step %u: %s %#x+%u", (unsigned)step, names[op->kind],
	       (unsigned)page_addr(op->first), op->pages);
	if (op->kind == OP_REMAP)
		printf(" -> %#x+%u", (unsigned)page_addr(op->to), op->to_pages);
	printf(" prot %u flags %#x object %u+%u: %ld\n", (unsigned)op->prot, (unsigned)op->flags,
	       op->object, op->object_page, (long)op->result);
}

void process_report(const struct process *p)
{
	uint32_t from = p->step >= LOG_OPS ? p->step - LOG_OPS + 1 : 0;

	for (uint32_t step = from; step <= p->step; step++)
		report_op(step, &p->log[step % LOG_OPS]);
}

void process_wrong(struct process *p, const char *what, uint32_t addr, int64_t expected,
		   int64_t found)
{
	unsigned n = (addr - WINDOW) / STRESS_PAGE;

	printf("# WRONG seed %u process %u step %u: %s: address %#x, expected %#lx, found %#lx\n",
	       (unsigned)p->run_seed, (unsigned)p->index, (unsigned)p->step, what,
	       (unsigned)addr, (unsigned long)(uint32_t)expected,
	       (unsigned long)(uint32_t)found);
	if (n < WINDOW_PAGES)
		printf("# page %u: kind %u prot %u locked %u touched %u object %u+%u\n", n,
		       p->page[n].kind, p->page[n].prot, p->page[n].locked, p->page[n].touched,
		       p->page[n].object, p->page[n].object_page);
	process_report(p);
	fflush(stdout);
	os_fail();
}

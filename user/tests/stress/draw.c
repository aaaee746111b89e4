/* Which operation comes next in the stress test, and on what: a function of the process's own
 * generator and of what it has mapped. */
#include "kernel/abi/mman.h"
#include "user/tests/stress/model.h"

enum { RUN_MAX = 24 };

/* How often each is drawn, in parts of 1000. */
static const uint16_t weight[OP_KINDS] = {
	[OP_WRITE] = 280, [OP_READ] = 240, [OP_MAP] = 140, [OP_UNMAP] = 30, [OP_PROTECT] = 80,
	[OP_REMAP] = 70, [OP_ADVISE] = 60, [OP_LOCK] = 20, [OP_UNLOCK] = 20, [OP_FORK] = 56,
	[OP_SWAP] = 4,
};

static enum op_kind draw_kind(struct process *p)
{
	uint32_t n = draw(p, 1000);

	for (unsigned kind = 0; kind < OP_KINDS; kind++) {
		if (n < weight[kind])
			return kind;
		n -= weight[kind];
	}
	return OP_READ;
}

/* Mostly where something is mapped already. */
static void draw_range(struct process *p, struct op *op)
{
	unsigned tries = 8;

	do {
		op->first = (uint16_t)draw(p, WINDOW_PAGES);
	} while (--tries > 0 && p->page[op->first].kind == NONE && op->kind != OP_MAP);
	op->pages = (uint16_t)(1 + draw(p, RUN_MAX));
	if (op->pages > WINDOW_PAGES - op->first)
		op->pages = (uint16_t)(WINDOW_PAGES - op->first);
}

static uint32_t draw_prot(struct process *p)
{
	static const uint8_t prots[] = { PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE,
					 PROT_READ | PROT_WRITE, PROT_READ, PROT_NONE };

	return prots[draw(p, sizeof(prots))];
}

static void draw_map(struct process *p, struct op *op)
{
	static const uint32_t kinds[] = { MAP_PRIVATE | MAP_ANONYMOUS, MAP_PRIVATE | MAP_ANONYMOUS,
					  MAP_PRIVATE | MAP_ANONYMOUS, MAP_SHARED | MAP_ANONYMOUS,
					  MAP_SHARED, MAP_PRIVATE };

	op->prot = draw_prot(p);
	op->flags = kinds[draw(p, 6)] | (draw(p, 4) ? MAP_FIXED : 0) |
		    (draw(p, 8) ? 0 : MAP_NORESERVE);
	op->object = (uint16_t)draw(p, NAMED_OBJECTS);
	op->object_page = (uint16_t)draw(p, (uint32_t)(OBJECT_PAGES - op->pages));
}

/* A fixed target must not overlap the source; without MREMAP_MAYMOVE it grows in place. */
static void draw_remap(struct process *p, struct op *op)
{
	op->to_pages = draw(p, 2) ? op->pages : (uint16_t)(1 + draw(p, RUN_MAX));
	if (op->to_pages > WINDOW_PAGES - op->first)
		op->to_pages = (uint16_t)(WINDOW_PAGES - op->first);
	op->to = (uint16_t)draw(p, (uint32_t)(WINDOW_PAGES - op->to_pages));
	op->flags = draw(p, 3) ? MREMAP_MAYMOVE : 0;
	if (op->to + op->to_pages <= op->first || op->to >= op->first + op->pages)
		op->flags |= (op->flags && draw(p, 3)) ? MREMAP_FIXED : 0;
}

void draw_op(struct process *p, struct op *op)
{
	op->kind = (uint8_t)draw_kind(p);
	draw_range(p, op);
	if (op->kind == OP_MAP)
		draw_map(p, op);
	else if (op->kind == OP_PROTECT)
		op->prot = draw_prot(p);
	else if (op->kind == OP_REMAP)
		draw_remap(p, op);
	else if (op->kind == OP_ADVISE)
		op->flags = (const uint32_t []){ MADV_DONTNEED, MADV_DONTNEED, MADV_WILLNEED,
						 MADV_PAGEOUT, MADV_PAGEOUT }[draw(p, 5)];
	else if (op->kind == OP_LOCK || op->kind == OP_UNLOCK)
		op->pages = op->pages > 4 ? 4 : op->pages;
	else if (op->kind == OP_FORK)
		op->seed = draw(p, 0);
	else if (op->kind == OP_SWAP)
		op->object = (uint16_t)draw(p, 4);
}

/*
 * The stress test's model: what every page of a process must hold, and the drawing of
 * operations. Used twice: by the guest's program (user/tests/stress.c) and, on the host,
 * around the real mm/ (tests/host/whole/). What differs between the two is in `os_...`.
 *
 * A process works on a window of WINDOW_PAGES pages and knows each of them. Contents are
 * stamps that name their owner:
 *
 *   private page  every check word holds stamp(process, page, version), mixed with its place;
 *                 before the first write zeros, or what the object holds
 *   shared page   word 0 holds the tag of (object, page); word `index` is this process's own
 *                 and holds its last stamp. Nobody else writes there, so that processes need
 *                 not agree about who writes when
 *
 * A page that turns up in the wrong place or in the wrong process is thus seen, and whose
 * it is can be read off. Same seed, same operations: all draws come from the process's own
 * generator, of which a child gets a new one at fork.
 */
#ifndef STRESS_MODEL_H
#define STRESS_MODEL_H

#include <stdbool.h>
#include <stdint.h>

enum {
	STRESS_PAGE = 4096, WORDS = STRESS_PAGE / 4,
	WINDOW_PAGES = 320,
	NAMED_OBJECTS = 2,		/* with a handle, shared by all processes */
	OBJECTS = 16, OBJECT_PAGES = 48,
	INDEX_MAX = WORDS,		/* process indices are 1 to INDEX_MAX - 1 */
	LOG_OPS = 12,
};
/* The border of a page table lies inside. */
#define WINDOW 0x503c0000u

enum kind { NONE, ANON, COPY, SHARED };	/* COPY: a private mapping of an object */
struct model_page {
	uint8_t	 kind;
	uint8_t	 prot;
	bool	 locked;
	bool	 touched;	/* ANON, COPY: holds `value` */
	bool	 unsure;	/* a write failed half way: anything, until the next one */
	uint8_t	 object;	/* COPY, SHARED */
	uint16_t object_page;
	uint32_t value;
};

/* `own`: this process's last stamp in each page; 0: never written, unchecked. */
struct model_object {
	uint32_t id;		/* 0: this entry is free */
	uint32_t own[OBJECT_PAGES];
};

enum op_kind {
	OP_WRITE, OP_READ, OP_MAP, OP_UNMAP, OP_PROTECT, OP_REMAP, OP_ADVISE, OP_LOCK,
	OP_UNLOCK, OP_FORK, OP_EXIT, OP_SWAP, OP_KINDS,
};
struct op {
	uint8_t	 kind;		/* enum op_kind */
	uint16_t first, pages;	/* of the window */
	uint16_t to, to_pages;	/* OP_REMAP */
	uint16_t object, object_page;
	uint32_t prot, flags;	/* PROT_*, MAP_* or MREMAP_*, MADV_* */
	uint32_t seed;		/* OP_FORK: the child's */
	int64_t	 result;
};

struct process {
	uint32_t run_seed;		/* for the reports */
	uint32_t random;
	uint32_t index;			/* 1 to INDEX_MAX - 1, nobody else's while it lives */
	uint32_t step, version, objects_made;
	uint32_t depth;			/* of forks */
	uint32_t age_left;		/* steps that a child still has; 0 in the first */
	uint64_t weak;			/* operations that failed for want of memory */
	uint32_t done[OP_KINDS];	/* that succeeded */
	struct op log[LOG_OPS];		/* the last ones, a ring by step */
	struct model_object object[OBJECTS];
	struct model_page page[WINDOW_PAGES];
	void *os;			/* the host's mm */
};

/* ---- model.c ---- */
void process_init(struct process *p, uint32_t seed, uint32_t index);
/* What fork makes of a copy of the parent. */
void process_forked(struct process *child, uint32_t seed, uint32_t index);
/* A number in [0, below); 0: any. */
uint32_t draw(struct process *p, uint32_t below);
/* One operation: drawn, done, compared. */
void process_step(struct process *p);
/* Read every page of the window. False if one is wrong. */
bool process_check(struct process *p);
/* Unmap all of it. */
void process_end(struct process *p);
/* The last operations, oldest first, on standard output. */
void process_report(const struct process *p);
const char *op_name(enum op_kind kind);

/* ---- draw.c ---- */
void draw_op(struct process *p, struct op *op);

/* ---- ops.c ---- */
/* Do it and bring the model up to date; what can't be right is told by process_wrong(). */
void do_op(struct process *p, struct op *op);
/* Write a new stamp to window page `n`; check window page `n`. */
void write_page(struct process *p, unsigned n);
void read_page(struct process *p, unsigned n);
/* Tells what is wrong, with seed, step and the last operations, and ends the run. */
void process_wrong(struct process *p, const char *what, uint32_t addr, int64_t expected,
		   int64_t found);

static inline uint32_t page_addr(unsigned n)
{
	return WINDOW + n * STRESS_PAGE;
}

/* ---- What the machine does: results as system calls give them ---- */
/* `object`: of the process's table if it is a named one, else -1. */
int64_t os_map(struct process *p, uint32_t addr, uint32_t bytes, uint32_t prot, uint32_t flags,
	       int object, uint32_t object_page);
int	os_unmap(struct process *p, uint32_t addr, uint32_t bytes);
int	os_protect(struct process *p, uint32_t addr, uint32_t bytes, uint32_t prot);
int64_t os_remap(struct process *p, uint32_t addr, uint32_t bytes, uint32_t new_bytes,
		 uint32_t flags, uint32_t to);
int	os_advise(struct process *p, uint32_t addr, uint32_t bytes, uint32_t advice);
int	os_lock(struct process *p, uint32_t addr, uint32_t bytes, bool lock);
/* One word: OK, -EFAULT, -EIO or -ENOMEM. */
int	os_load(struct process *p, uint32_t addr, uint32_t *value);
int	os_store(struct process *p, uint32_t addr, uint32_t value);
/* fork: OK or why not; the child runs on its own, now or later. */
int	os_fork(struct process *p, uint32_t seed);
/* The process, a child, ends. Returns on the host only. */
void	os_exit(struct process *p);
/* swapoff of one of the areas, and swapon again. */
int	os_swap(struct process *p, uint32_t which);
/* Nobody is there who could go on. */
void	os_fail(void) __attribute__((noreturn));

#endif

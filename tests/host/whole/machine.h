/*
 * A machine for host tests of all of mm/: real frames, faults, reverse map, reclaim and swap
 * around a model of the rest.
 *
 *   disk.c	swap partitions in memory; transfers end later, in any allowed order, and fail
 *		if asked to
 *   cpu.c	a TLB that forgets nothing unless it is told to; loads and stores through it
 *   machine.c	the thread that sleeps, the others that run meanwhile (kswapd), the tasks
 *		that there are none of
 *   world.c	the processes of the stress test (user/tests/stress/)
 */
#ifndef WHOLE_MACHINE_H
#define WHOLE_MACHINE_H

#include "drivers/block.h"
#include "mm/object.h"
#include "mm/swap.h"
#include "mm/vma.h"

/* ---- machine.c ---- */

enum { DISKS = 3 };
struct machine_shape {
	uint32_t ram;			/* bytes */
	unsigned disks;
	uint32_t slots[DISKS];		/* header included */
	int	 priority[DISKS];
};
/* Boot it. What `shape` says follows from the seed, unless it is given. */
struct machine_shape machine_draw_shape(void);
void machine_start(uint32_t seed, const struct machine_shape *shape);
/* All spaces and objects are gone: swap off, caches dropped. Every frame must be back. */
void machine_stop(void);
/* The audit; 0: all is well. */
unsigned machine_audit(void);
/* Others run as long as they have something to do. */
void machine_settle(void);

/* ---- disk.c ---- */
void disks_start(const struct machine_shape *shape);
void disks_stop(void);
const char *disk_name(unsigned n);
bool disk_in_use(unsigned n);		/* as a swap area */
/* Do a transfer. False: none is waiting. */
bool disk_work(void);
/* Of 1000 transfers so many fail, drawn anew each time; and of 1000 slots so many always. A
 * disk that lies says of reads that fail that they are done. */
struct disk_errors { uint32_t reads, writes, bad_slots; bool lies; };
extern struct disk_errors disk_errors;

/* ---- cpu.c ---- */
/* A user's access to one word: OK or what mm_fault() says. */
int cpu_load(struct mm *mm, vaddr_t addr, uint32_t *value);
int cpu_store(struct mm *mm, vaddr_t addr, uint32_t value);
/* Does the TLB hold what the page tables don't allow? Prints it; returns how many. */
unsigned cpu_check_tlb(void);

/* ---- world.c ---- */
struct process;
enum { WORLD_MAX = 320 };
void world_start(uint32_t seed, unsigned processes);
/* One step of one process; then, at times, an audit. */
void world_step(unsigned audit_every);
void world_end(void);
struct process *world_process(unsigned n);	/* NULL: none */
unsigned world_count(void);
unsigned world_limit(unsigned most);		/* forks fail beyond it; returns the old one */
struct process *world_fork(struct process *p, uint32_t seed, int *error);
/* What was done in all worlds so far, by enum op_kind. */
extern uint64_t world_done[];
extern uint64_t world_weak, world_killed;	/* for want of memory */

#endif

/* The OOM killer: rules by oom=NAME, each a file in mm/oom/. */
#ifndef MM_OOM_H
#define MM_OOM_H

#include "kernel/types.h"

/*
 * An allocation, or kswapd, found nothing after reclaim has tried everything. Kills one task at
 * most, prints the report with the figures that decided. Returns
 *   OOM_RETRY   somebody is dying or was chosen, or memory is on its way: wait a little
 *               and try again
 *   OOM_DIE     the caller is the victim, or was killed already: fail the allocation
 *   OOM_NOBODY  nobody can be killed: fail the allocation
 */
enum oom_result { OOM_RETRY, OOM_DIE, OOM_NOBODY };
enum oom_asker { OOM_ASKS_ALLOC = BIT(0), OOM_ASKS_KSWAPD = BIT(1) };
enum oom_result oom_kill(enum oom_asker who, unsigned order);

/* A rule: when is it OOM, and who is to die? */
struct task;
struct oom_rule {
	const char *name;		/* value of oom= */
	unsigned    askers;		/* enum oom_asker: whom it listens to; others try again */
	bool	    caller_dies;	/* no choice: the allocation fails, and its task with it */
	/* Is nothing else left to do? Asked after each round of reclaim without success. */
	bool (*is_oom)(unsigned order);
	/* How much would killing `t` help? The highest dies; 0: must not be killed. */
	uint32_t (*badness)(const struct task *t);
	/* What the kernel of that name said, before pid and name; NULL: only ours is said. */
	const char *message;
};
/* oom=, or else the era's; panics in words on a wrong name, and lists the right ones. */
void oom_init(const char *era);

/* What a task holds, in pages: resident, swapped out, page tables and vmas, memory
 * objects (by handle, and what of mapped ones is in swap). */
struct oom_figures { uint32_t rss, swap, tables, objects, vm; };
struct oom_figures oom_figures(const struct task *t);

/* The fault of `t` got no memory: it dies. By a rule whose callers die that is an OOM kill. */
void oom_kill_faulter(struct task *t, vaddr_t addr);

extern const struct oom_rule oom_default;	/* mm/oom/default.c */
uint32_t oom_default_badness(const struct task *t);

#endif

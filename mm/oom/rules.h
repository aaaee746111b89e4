/*
 * The OOM rules that mm/oom/ has, and what those of Linux share: docs/history.md 7.1, 7.2.
 * Where all of them differ from Linux: nobody else is killed while a victim is dying
 * (oom_kill()), a swapoff is called off before anybody is killed (2.6 killed its task first),
 * init, proc and servers are never chosen, and where Linux panicked because there was
 * nobody to kill, the allocation fails. 2.2 had no killer, but its rule is one here.
 */
#ifndef MM_OOM_RULES_H
#define MM_OOM_RULES_H

#include "kernel/time.h"
#include "mm/oom.h"

extern const struct oom_rule oom_linux22, oom_linux249, oom_linux2413, oom_linux2414pre6,
	oom_linux2414, oom_linux26;

/* ---- badness.c ---- */

uint32_t linux24_badness(const struct task *t);
uint32_t linux26_badness(const struct task *t);

/* What the log said of a victim: this, pid and name (docs/history.md 7.3). */
#define LINUX24_MESSAGE "Out of Memory: Killed process"

/* ---- linux2414.c ---- */

/* Rounds of reclaim that failed one soon after the other. All zero at boot. */
struct failures {
	ns_t	 first, last;		/* when the row began; when anybody last asked */
	unsigned count;
};
/* The row begins anew at `now`, with nothing counted. */
void failures_restart(struct failures *f, ns_t now);
/* 2.4.14's rule, which 2.6 took over: one more failure at `now`. True: that is OOM. */
bool failures_are_oom(struct failures *f, ns_t now);

/* ---- linux2413.c ---- */

/* Are `count` pages more than `percent` of RAM? */
bool cache_exceeds(uint32_t count, uint32_t percent);

#endif

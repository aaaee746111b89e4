/*
 * Who dies by the rules of Linux 2.4 and 2.6: docs/history.md 7.1. Whoever has mapped most,
 * touched or not; time spent and age protect a little.
 *
 * Not as there: no user IDs and no nice values are looked at, since here all tasks are alike;
 * and the root is the exact one, where 2.4's was a rough one.
 */
#include "kernel/isqrt.h"
#include "kernel/task.h"
#include "mm/oom/rules.h"

enum { INIT_PID = 1 };

/* Ticks were shifted by log2(HZ) + 3 and + 10, log2 being rounded up: with 100 Hz ... */
#define CPU_UNIT_24 (10 * NS_PER_MS << (7 + 3))		/* 10.2 s */
#define AGE_UNIT_24 (10 * NS_PER_MS << (7 + 10))	/* 22 minutes */
/* ... and with 1000. */
#define CPU_UNIT_26 (NS_PER_MS << (10 + 3))		/* 8.2 s */
#define AGE_UNIT_26 (NS_PER_MS << (10 + 10))		/* 17 minutes */

/* The root, or 1 where that is 0: nobody is divided by 0. */
static uint32_t divisor(uint64_t n)
{
	return MAX(isqrt((uint32_t)MIN(n, (uint64_t)UINT32_MAX)), 1u);
}

/* total_vm in pages / root of the CPU time / fourth root of the age, in those units. 0, never
 * to be chosen, for init, proc, servers, and who is small and old enough. RANK_TASKS held. */
static uint32_t badness(const struct task *t, ns_t cpu_unit, ns_t age_unit)
{
	struct abi_usage used;
	uint32_t points = oom_figures(t).vm;

	if ((t->flags & (TASK_SERVER | TASK_PROC)) || t->pid <= INIT_PID)
		return 0;
	task_usage(t, &used);
	points /= divisor((used.user_ns + used.system_ns) / cpu_unit);
	return points / divisor(divisor((clock_ns() - t->start) / age_unit));
}

uint32_t linux24_badness(const struct task *t)
{
	return badness(t, CPU_UNIT_24, AGE_UNIT_24);
}

uint32_t linux26_badness(const struct task *t)
{
	return badness(t, CPU_UNIT_26, AGE_UNIT_26);
}

/*
 * oom=2.2: no killer at all (docs/history.md 7.2). An allocation that reclaim couldn't help fails,
 * and if it was a fault's, the task that faulted is killed, whoever filled the memory.
 *
 * Where this differs from 2.2: servers, proc and init try again (mm/reclaim/ bounds that) before
 * their allocations fail; there init was killed like anybody else. And a task that is
 * dying anyway is waited for first, for every rule alike (oom.c).
 */
#include "kernel/task.h"
#include "mm/oom/rules.h"

/* Whoever asks has failed already; the only question is whether he may die of it. */
static bool linux22_is_oom(unsigned order)
{
	const struct task *t = current_task();

	(void)order;
	return !t || oom_default_badness(t) > 0;
}

const struct oom_rule oom_linux22 = {
	.name	     = "2.2",
	.askers	     = OOM_ASKS_ALLOC,
	.caller_dies = true,
	.is_oom	     = linux22_is_oom,
	.badness     = oom_default_badness,
};

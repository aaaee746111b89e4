/*
 * oom=default: kill only when nothing else is left, and whoever frees most.
 *
 * It is OOM when no page is under way to the disk or from it (each holds a frame and a
 * slot, one of which is free soon) and no slot can be had, not even by stealing: then no
 * anonymous page can leave. If slots are there but reclaim fails all
 * the same (what fills the memory can't be swapped), that shows by its failing
 * PATIENCE times without one page freed in between. A transfer under way is waited for as
 * long as a driver may take for it: the command's limit, a reset's, and once more the
 * command's, 10 + 31 + 10 s for IDE.
 */
#include "kernel/counters.h"
#include "kernel/task.h"
#include "kernel/time.h"
#include "mm/oom.h"
#include "mm/swap.h"
#include "mm/swap/area.h"

enum { PATIENCE = 16, INIT_PID = 1 };

#define TRANSFER_TIME (60 * NS_PER_SECOND)

static uint64_t pages_freed(void)
{
	return counters[COUNT_pgsteal_kswapd] + counters[COUNT_pgsteal_direct];
}

static bool default_is_oom(unsigned order)
{
	static uint64_t freed_then;
	static unsigned failures;
	static ns_t failing_since;
	uint64_t freed_now = pages_freed();
	bool full = swap_slots_free() == 0 && swap_slots_stealable() == 0;

	(void)order;
	if (freed_now != freed_then) {
		freed_then = freed_now;
		failures = 0;
		failing_since = clock_ns();
	}
	failures++;
	if (swap_writes_pending() + swap_reads_pending() > 0)
		return failures > PATIENCE && clock_ns() > failing_since + TRANSFER_TIME;
	return full ? failures > 1 : failures > PATIENCE;
}

/*
 * What killing `t` gives back, in pages: frames, slots, page tables, and what its handles name
 * (a shared mapping of that counts twice). Returns 0, never to be chosen, for servers, proc
 * and init. No locks; never sleeps.
 */
uint32_t oom_default_badness(const struct task *t)
{
	struct oom_figures f = oom_figures(t);

	if ((t->flags & (TASK_SERVER | TASK_PROC)) || t->pid <= INIT_PID)
		return 0;
	return f.rss + f.swap + f.tables + f.objects;
}

const struct oom_rule oom_default = {
	.name	 = "default",
	.askers	 = OOM_ASKS_ALLOC,
	.is_oom	 = default_is_oom,
	.badness = oom_default_badness,
};

/*
 * oom=2.6: 2.5.61 and 2.6.5, docs/history.md 7.2. 2.4.14's rule, with five seconds at least
 * between two kills, and only direct reclaim asks: kswapd doesn't.
 */
#include "mm/oom/rules.h"

#define KILL_PAUSE (5 * NS_PER_SECOND)

static struct failures row;		/* no lock: oom_kill() doesn't sleep */
static ns_t last_kill;			/* 0: none yet */

static bool linux26_is_oom(unsigned order)
{
	ns_t now = clock_ns();

	(void)order;
	if (!failures_are_oom(&row, now))
		return false;
	if (last_kill != 0 && now - last_kill < KILL_PAUSE)
		return false;
	last_kill = now;
	failures_restart(&row, now);
	return true;
}

const struct oom_rule oom_linux26 = {
	.name	 = "2.6",
	.askers	 = OOM_ASKS_ALLOC,
	.is_oom	 = linux26_is_oom,
	.badness = linux26_badness,
	.message = LINUX24_MESSAGE,
};

/*
 * oom=2.4.14: from 2.4.14-pre8 to 2.4.18, docs/history.md 7.2. Whoever's reclaim failed asks.
 * While a slot is free, nothing is even recorded. Else it is OOM when reclaim has failed for a
 * second, with never more than five between two failures, and then ten times more: failures
 * of the first second aren't counted.
 */
#include "mm/oom/rules.h"
#include "mm/swap.h"

enum { FAILURES = 10 };

#define GAP_MOST   (5 * NS_PER_SECOND)
#define LAST_LEAST NS_PER_SECOND

static struct failures row;		/* no lock: oom_kill() doesn't sleep */

void failures_restart(struct failures *f, ns_t now)
{
	f->first = now;
	f->count = 0;
}

/* See rules.h. The row isn't begun anew when it returns true. Never sleeps. */
bool failures_are_oom(struct failures *f, ns_t now)
{
	ns_t gap = now - f->last;

	if (swap_slots_free() > 0)
		return false;
	f->last = now;
	if (gap > GAP_MOST) {
		failures_restart(f, now);
		return false;
	}
	return now - f->first >= LAST_LEAST && ++f->count >= FAILURES;
}

static bool linux2414_is_oom(unsigned order)
{
	ns_t now = clock_ns();

	(void)order;
	if (!failures_are_oom(&row, now))
		return false;
	failures_restart(&row, now);
	return true;
}

const struct oom_rule oom_linux2414 = {
	.name	 = "2.4.14",
	.askers	 = OOM_ASKS_ALLOC | OOM_ASKS_KSWAPD,
	.is_oom	 = linux2414_is_oom,
	.badness = linux24_badness,
	.message = LINUX24_MESSAGE,
};

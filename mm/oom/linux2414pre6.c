/*
 * oom=2.4.14-pre6 (and -pre7): docs/history.md 7.2. Whoever's reclaim failed asks. It is OOM
 * after 100 failures with never more than a second between two, lasting for a second or more,
 * if no slot is free then; that memory is free, or could be, isn't looked at.
 */
#include "mm/oom/rules.h"
#include "mm/swap.h"

enum { FAILURES = 100 };

#define GAP_MOST   NS_PER_SECOND
#define LAST_LEAST NS_PER_SECOND

static struct failures row;		/* no lock: oom_kill() doesn't sleep */

static bool linux2414pre6_is_oom(unsigned order)
{
	ns_t now = clock_ns(), gap = now - row.last;

	(void)order;
	row.last = now;
	if (gap > GAP_MOST) {
		failures_restart(&row, now);
		return false;
	}
	if (++row.count < FAILURES || now - row.first < LAST_LEAST || swap_slots_free() > 0)
		return false;
	failures_restart(&row, now);
	return true;
}

const struct oom_rule oom_linux2414pre6 = {
	.name	 = "2.4.14-pre6",
	.askers	 = OOM_ASKS_ALLOC | OOM_ASKS_KSWAPD,
	.is_oom	 = linux2414pre6_is_oom,
	.badness = linux24_badness,
	.message = LINUX24_MESSAGE,
};

/*
 * reclaim=default: what Clockhand does when nobody asks for a kernel of the past. Lists and
 * aging are 2.6's (linux26.c); slots are kept as long as there are any and then stolen, and
 * nobody is killed while memory would do.
 */
#include "mm/reclaim/policies.h"

enum { AHEAD_SHARE = 64 };		/* of a zone: what reclaim keeps free beyond 2.6's marks */

/*
 * 2.6's watermarks, with kswapd's two raised by a share of RAM each: what is read ahead must find
 * free frames (mm/swap/pattern.c), and pages that go in large numbers go in large writes.
 * Once at boot, no locks; never sleeps.
 */
void default_set_watermarks(void)
{
	linux26_set_watermarks();
	for (unsigned i = 0; i < ZONE_COUNT; i++) {
		zones[i].low += zones[i].present / AHEAD_SHARE;
		zones[i].high += 2 * zones[i].present / AHEAD_SHARE;
	}
}

const struct reclaim_policy reclaim_default = {
	.name		= "default",
	.set_watermarks = default_set_watermarks,
	.alloc		= linux26_alloc,
	.balance	= linux26_balance,
	.needs_balance	= linux26_needs_balance,
	.lru		= { .around = PLACE_INACTIVE },
	.swap		= { .cluster = 256, .readahead = 16, .steal = true, .free = SLOTS_KEEP,
			    .search = SEARCH_RUNS, .window = WINDOW_PATTERN },
	.oom		= "default",
};

/*
 * reclaim=default: what Clockhand does when nobody asks for a kernel of the past. Lists and
 * aging are 2.6's (linux26.c); slots are kept as long as there are any and then stolen, and
 * nobody is killed while memory would do.
 */
#include "mm/reclaim/policies.h"

const struct reclaim_policy reclaim_default = {
	.name		= "default",
	.refuses	= without_reverse_map,
	.set_watermarks = linux26_set_watermarks,
	.alloc		= linux26_alloc,
	.balance	= linux26_balance,
	.needs_balance	= linux26_needs_balance,
	.lru		= { .around = PLACE_INACTIVE },
	.swap		= { .cluster = 256, .readahead = 16, .steal = true, .free = SLOTS_KEEP,
			    .search = SEARCH_RUNS, .window = WINDOW_ALIGNED },
	.oom		= "default",
};

/*
 * reclaim=skraw1, skraw2: 2.4.14-pre6 with Stephan von Krawczynski's patches (docs/history.md 2.9). Too
 * many mapped pages don't end shrink_cache: it looks at all that the priority gives it, and calls
 * swap_out afterwards. The second patch does so only if frames are still wanted, and both
 * its patience and what swap_out is to unmap grow from 32 to 192 as the priority falls.
 */
#include "mm/reclaim/scan/linux24.h"

static uint32_t swap_target2(uint32_t priority)
{
	return SWAP_CLUSTER * LINUX24_PRIORITY / priority;
}

static uint32_t patience2(uint32_t wanted, uint32_t priority, uint32_t part)
{
	(void)wanted;
	(void)part;
	return swap_target2(priority);
}

static const struct linux24_kernel skraw1 = {
	.patience	 = linux24_patience_pre,
	.out_of_patience = MAPPED_SWAPS_AFTER_SCAN,
	.oom		 = OOM_BY_EACH_FAILURE,
	.order_for_ever	 = 1,
};

static const struct linux24_kernel skraw2 = {
	.patience	 = patience2,
	.out_of_patience = MAPPED_SWAPS_IF_WANTED,
	.swap_target	 = swap_target2,
	.oom		 = OOM_BY_EACH_FAILURE,
	.order_for_ever	 = 1,
};

const struct reclaim_policy reclaim_skraw1 = {
	.name = "skraw1",
	LINUX24_POLICY(skraw1),
	.lru  = LINUX24_ALL_LISTED,
	.swap = { LINUX24_SWAP, .free = SLOTS_WRITE },
	.oom  = "2.4.14-pre6",
};

const struct reclaim_policy reclaim_skraw2 = {
	.name = "skraw2",
	LINUX24_POLICY(skraw2),
	.lru  = LINUX24_ALL_LISTED,
	.swap = { LINUX24_SWAP, .free = SLOTS_WRITE },
	.oom  = "2.4.14-pre6",
};

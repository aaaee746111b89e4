/*
 * reclaim=aa: Andrea Arcangeli's kernels beside 2.4.14-pre (docs/history.md 2.8). Anonymous pages are
 * on no list until they are in the swap cache, as in 2.4.13. When shrink_cache has met 32 mapped
 * pages for each that a round is to free, it calls swap_out, forgets what it met, and goes on;
 * swap_out isn't called again in a round once it has failed.
 *
 * The code of 2.4.14-pre5aa1 is not known; this is what its author said of it and of the kernels
 * before and after. That try_to_free_pages calls swap_out at each priority, as in 2.4.13 and in his
 * later kernels, follows: with no anonymous page listed nothing mapped would ever be met. Everything
 * else is 2.4.14-pre5's.
 */
#include "mm/reclaim/scan/linux24.h"

enum { MAPPED_RATIO = 32 };		/* vm_mapped_ratio */

static uint32_t patience(uint32_t wanted, uint32_t priority, uint32_t part)
{
	(void)wanted;
	(void)priority;
	(void)part;
	return SWAP_CLUSTER * MAPPED_RATIO;
}

static const struct linux24_kernel aa = {
	.patience	 = patience,
	.out_of_patience = MAPPED_SWAPS_AND_GOES_ON,
	.swap_each_round = true,
	.swap_out_fails_once = true,
	.oom		 = OOM_BY_KSWAPD_UNBALANCED,
	.order_for_ever	 = 1,
};

const struct reclaim_policy reclaim_aa = {
	.name = "aa",
	LINUX24_POLICY(aa),
	.lru  = LINUX24_CACHED_LISTED,
	.swap = { LINUX24_SWAP, .free = SLOTS_WRITE },
	.oom  = "2.4.13",
};

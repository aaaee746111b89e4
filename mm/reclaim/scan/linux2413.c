/*
 * reclaim=2.4.13: Linux 2.4.13 (docs/history.md 2.3). Anonymous pages are on no list until they are
 * in the swap cache. try_to_free_pages turns to swap_out whenever shrink_cache was not enough, and
 * counts what that unmaps for success; shrink_cache looks on until it has met as many mapped
 * pages as the priority's part of the list. kswapd alone asks whether it is OOM.
 *
 * Where this differs from 2.4.13, beyond linux24*.c:
 *  - shrink_cache goes round the inactive list no more than twice;
 *  - a read that frees the slot maps the page read-only, and a write takes a (minor) fault more;
 *  - swap pages under way are limited by mm/swap/io.c, at fewer than the 256 of 2.4.13.
 */
#include "mm/reclaim/scan/linux24.h"

static uint32_t patience(uint32_t wanted, uint32_t priority, uint32_t part)
{
	(void)wanted;
	(void)priority;
	return part;
}

static const struct linux24_kernel linux2413 = {
	.patience	  = patience,
	.out_of_patience  = MAPPED_ENDS,
	.only_mapped_count = true,
	.swap_each_round  = true,
	.swap_part_of_mms = true,
	.swap_out_is_success = true,
	.write_drops_ownerless = true,
	.oom		  = OOM_BY_KSWAPD_UNBALANCED,
	.order_for_ever	  = 1,
};

const struct reclaim_policy reclaim_linux2413 = {
	.name = "2.4.13",
	LINUX24_POLICY(linux2413),
	.lru  = LINUX24_CACHED_LISTED,
	.swap = { LINUX24_SWAP, .free = SLOTS_80 },
	.oom  = "2.4.13",
};

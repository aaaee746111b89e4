/*
 * reclaim=2.4.14-pre5, 2.4.14-pre6, 2.4.14: Linux in the last week of October 2001, and what became
 * of it (docs/history.md 2.4 to 2.6). Anonymous pages are on the inactive list from their first
 * touch. shrink_cache calls swap_out itself, when it has met too many mapped pages, and gives up
 * for this priority.
 *
 * pre5 and pre6 have the patience of ten mapped pages for each one wanted; the final 2.4.14 has
 * more from priority to priority. In pre5 a failure is nothing: the allocation comes back, and
 * kswapd's OOM rule says no as long as there is a swap cache. In pre6 each failure is one more for
 * the OOM killer, and with swap full of the slots of pages in memory that is how qsbench
 * died.
 *
 * Where this differs, beyond linux24*.c:
 *  - in pre4 and later a swap-in maps the page read-only, and the first write takes a minor fault to
 *    free the slot. Here a write fault does both at once (mm/swapin.c): the same slots are freed at
 *    the same access, with one minor fault less;
 *  - with an inactive list so short (1536 pages in the final 2.4.14, 320 before) that shrink_cache was
 *    through before it ran out of patience, swap_out was never called, and small machines hung.
 *    There, as since 2.4.17, a tenth of what is looked at is enough.
 */
#include "mm/reclaim/scan/linux24.h"

enum { MAPPED_FOR_ONE = 10, FINAL_SHIFT = 9, SHORT_LIST_SHARE = 10 };

/* See linux24.h. */
uint32_t linux24_patience_pre(uint32_t wanted, uint32_t priority, uint32_t part)
{
	uint32_t patience = wanted * MAPPED_FOR_ONE;

	return priority > 1 || patience < part ? patience : part / SHORT_LIST_SHARE;
}

static uint32_t patience_final(uint32_t wanted, uint32_t priority, uint32_t part)
{
	uint32_t patience = wanted << (FINAL_SHIFT - priority);

	return patience < part ? patience : part / SHORT_LIST_SHARE;
}

static const struct linux24_kernel pre5 = {
	.patience	 = linux24_patience_pre,
	.out_of_patience = MAPPED_SWAPS_AND_ENDS,
	.oom		 = OOM_BY_KSWAPD_UNBALANCED,
	.order_for_ever	 = 1,
};

static const struct linux24_kernel pre6 = {
	.patience	 = linux24_patience_pre,
	.out_of_patience = MAPPED_SWAPS_AND_ENDS,
	.oom		 = OOM_BY_EACH_FAILURE,
	.order_for_ever	 = 1,
};

static const struct linux24_kernel final = {
	.patience	 = patience_final,
	.out_of_patience = MAPPED_SWAPS_AND_ENDS,
	.demoted_is_referenced = true,
	.write_drops_ownerless = true,
	.oom		 = OOM_BY_EACH_FAILURE,
	.order_for_ever	 = 3,
};

const struct reclaim_policy reclaim_linux2414_pre5 = {
	.name = "2.4.14-pre5",
	LINUX24_POLICY(pre5),
	.lru  = LINUX24_ALL_LISTED,
	.swap = { LINUX24_SWAP, .free = SLOTS_WRITE },
	.oom  = "2.4.13",
};

const struct reclaim_policy reclaim_linux2414_pre6 = {
	.name = "2.4.14-pre6",
	LINUX24_POLICY(pre6),
	.lru  = LINUX24_ALL_LISTED,
	.swap = { LINUX24_SWAP, .free = SLOTS_WRITE },
	.oom  = "2.4.14-pre6",
};

const struct reclaim_policy reclaim_linux2414 = {
	.name = "2.4.14",
	LINUX24_POLICY(final),
	.lru  = LINUX24_ALL_LISTED,
	.swap = { LINUX24_SWAP, .free = SLOTS_50 },
	.oom  = "2.4.14",
};

/* A policy for host tests: frames while there are any, no reclaim, slots are kept. */
#ifndef PLAIN_POLICY_H
#define PLAIN_POLICY_H

#include "mm/reclaim.h"

static struct page *alloc_plain(enum gfp flags, unsigned order)
{
	struct page *p = flags & GFP_DMA ? NULL : frame_take(&zones[ZONE_NORMAL], order);

	return p ? p : frame_take(&zones[ZONE_DMA], order);
}
static const struct reclaim_policy plain = {
	.name = "plain", .alloc = alloc_plain,
};

#endif

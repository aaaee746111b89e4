/*
 * The audit's part about frames: every descriptor on its own (frame.1, 5, 7, 8, 9, 10)
 * and the free lists against the array (frame.11).
 */
#include "mm/audit.h"
#include "mm/frame.h"

/* How many frames the descriptor at `pfn` speaks for. */
static uint32_t block_frames(const struct page *p)
{
	return page_is(p, PG_BUDDY | PG_BLOCK) ? 1u << p->private : 1;
}

static unsigned check_free_block(const struct page *p)
{
	uint32_t frames = block_frames(p);
	pfn_t pfn = page_pfn(p);
	pfn_t buddy = pfn ^ frames;
	unsigned bad = 0;

	for (uint32_t i = 0; i < frames; i++) {
		const struct page *q = p + i;
		uint32_t allowed = PG_NORMAL | (i == 0 ? PG_BUDDY : 0);

		if (q->count || q->mapcount || q->mapping || (q->flags & ~allowed))
			bad += audit_violation("frame.1", "a free frame is nobody's: pfn %#x "
				"count %u, mapcount %u, flags %#x", pfn + i, q->count,
				q->mapcount, q->flags);
	}
	if (pfn & (frames - 1))
		bad += audit_violation("frame.9", "a free block of order k begins at a "
			"multiple of 2^k: pfn %#x, order %u", pfn, p->private);
	if (p->private < FRAME_ORDERS - 1 && buddy < page_count && buddy > pfn &&
	    page_is(pfn_page(buddy), PG_BUDDY) && pfn_page(buddy)->private == p->private &&
	    page_zone(p) == page_zone(pfn_page(buddy)))
		bad += audit_violation("frame.10", "two free buddies of one order don't "
			"exist: pfn %#x and %#x, order %u", pfn, buddy, p->private);
	return bad;
}

static unsigned check_used_frame(const struct page *p)
{
	static const uint32_t states[] = { PG_SLAB, PG_TABLE, PG_KSTACK, PG_RESERVED,
					   PG_OBJECT, PG_ANON };
	pfn_t pfn = page_pfn(p);
	unsigned found = 0, bad = 0;

	for (unsigned i = 0; i < ARRAY_LEN(states); i++)
		found += page_is(p, states[i]);
	if (page_is(p, PG_RESERVED))	/* the kernel's own tables are PG_TABLE besides */
		found -= page_is(p, PG_TABLE);
	if (found > 1)
		bad += audit_violation("frame.8", "every frame is in one state: pfn %#x "
			"flags %#x", pfn, p->flags);
	if (p->count == 0 && !page_is(p, PG_RESERVED))
		bad += audit_violation("frame.8", "every frame is in one state: pfn %#x is "
			"neither free nor held, flags %#x", pfn, p->flags);
	if ((p->mapping != NULL) != page_is(p, PG_ANON | PG_OBJECT | PG_SLAB))
		bad += audit_violation("frame.5", "mapping goes with PG_ANON, PG_OBJECT or "
			"PG_SLAB: pfn %#x flags %#x", pfn, p->flags);
	if (page_is(p, PG_WRITEBACK) && !page_is(p, PG_SWAPCACHE | PG_OBJECT))
		bad += audit_violation("frame.7", "write-back needs swap cache or object: "
			"pfn %#x flags %#x", pfn, p->flags);
	if (page_is(p, PG_BUFFER) && !page_is(p, PG_SWAPCACHE))
		bad += audit_violation("frame.12", "only pages of the swap cache have buffer "
			"heads: pfn %#x flags %#x", pfn, p->flags);
	return bad;
}

/* frame.11, and frame.8: the array's figures against the zone's. */
static unsigned check_sums(const struct zone *z, uint32_t free, uint32_t ours)
{
	unsigned bad = 0;
	uint32_t listed = 0;
	struct page *p;

	for (unsigned order = 0; order < FRAME_ORDERS; order++) {
		list_for_each(p, &z->free_list[order], lru) {
			listed += 1u << order;
			if (!page_is(p, PG_BUDDY) || p->private != order)
				bad += audit_violation("frame.1", "on a free list of order "
					"%u: pfn %#x flags %#x", order, page_pfn(p), p->flags);
		}
	}
	if (listed != z->free || free != z->free)
		bad += audit_violation("frame.11", "zone.free is the sum of its free blocks: "
			"%s says %u, lists %u, array %u", z->name, z->free, listed, free);
	if (ours != z->present)
		bad += audit_violation("frame.8", "the states' sums give all of RAM: %s has "
			"%u frames, found %u", z->name, z->present, ours);
	return bad;
}

/* Check frame.1, 5 and 7 to 12 over all frames. Prints each violation; returns
 * how many. Nothing may be allocated meanwhile. */
unsigned frame_check(void)
{
	uint32_t free[ZONE_COUNT] = { 0 }, ours[ZONE_COUNT] = { 0 };
	unsigned bad = 0;
	pfn_t pfn = 0;

	while (pfn < page_count) {
		const struct page *p = pfn_page(pfn);
		uint32_t frames = block_frames(p);
		enum zone_kind zone = page_is(p, PG_NORMAL) ? ZONE_NORMAL : ZONE_DMA;

		if (page_is(p, PG_BUDDY)) {
			bad += check_free_block(p);
			free[zone] += frames;
		} else {
			bad += check_used_frame(p);
		}
		if (!page_is(p, PG_RESERVED))
			ours[zone] += frames;
		pfn += frames;
	}
	for (unsigned i = 0; i < ZONE_COUNT; i++)
		bad += check_sums(&zones[i], free[i], ours[i]);
	return bad;
}

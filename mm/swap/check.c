/* The audit's part for swap: swap.1, swap.2, swap.4, swap.5 and frame.6. swap.3 needs the PTEs of
 * all mms and is in mm/audit.c. */
#include "mm/audit.h"
#include "mm/swap/area.h"

struct sums {
	uint32_t free, used, bad, cached, cache_only;
};

static unsigned check_page(const struct swap_area *a, uint32_t slot)
{
	const struct page *p = slot_page(a, slot);
	swap_entry e = swap_entry_make(swap_area_number(a), slot);

	if (!p)
		return 0;
	if (page_is(p, PG_SWAPCACHE) && p->private == e.v && p->count > 0)
		return 0;
	return audit_violation("swap.4", "%s slot %u: its page, pfn %#x, has flags %#x, entry %#x",
			       a->dev->name, slot, page_pfn(p), p->flags, p->private);
}

static unsigned check_area(const struct swap_area *a, struct sums *s)
{
	unsigned bad = 0;

	if (slot_count(a, 0) != SLOT_BAD)
		bad += audit_violation("swap.1", "%s: slot 0 has count %u", a->dev->name,
				       slot_count(a, 0));
	if ((sector_t)a->size * SECTORS_PER_PAGE > a->dev->sectors)
		bad += audit_violation("swap.5", "%s: %u slots don't fit", a->dev->name, a->size);
	for (uint32_t slot = 0; slot < a->size; slot++) {
		uint16_t count = slot_count(a, slot);

		s->free += count == 0;
		s->bad += count == SLOT_BAD;
		s->used += count != 0 && count != SLOT_BAD;
		s->cached += slot_page(a, slot) != NULL;
		s->cache_only += count == 1 && slot_page(a, slot);
		bad += check_page(a, slot);
	}
	return bad;
}

unsigned swap_check(void)
{
	unsigned bad = 0, flagged = 0, cached = 0;

	for (unsigned i = 0; i < SWAP_AREAS_MAX; i++) {
		const struct swap_area *a = &swap_areas[i];
		struct sums s = { 0 };

		if (a->state == AREA_OFF)
			continue;
		bad += check_area(a, &s);
		cached += s.cached;
		if (s.free != a->free || s.used != a->used || s.bad != a->bad ||
		    s.free + s.used + s.bad != a->size || s.cache_only != a->cache_only)
			bad += audit_violation("swap.2", "%s: %u free %u used %u bad %u cache only; "
					       "counted %u %u %u %u", a->dev->name, a->free, a->used,
					       a->bad, a->cache_only, s.free, s.used, s.bad,
					       s.cache_only);
	}
	for (pfn_t pfn = 0; pfn < page_count; pfn++)
		flagged += page_is(pfn_page(pfn), PG_SWAPCACHE);
	if (flagged != cached)
		bad += audit_violation("frame.6", "%u pages have PG_SWAPCACHE, %u slots have a page",
				       flagged, cached);
	if (cached != swap_cached_pages())
		bad += audit_violation("swap.4", "%u slots have a page, %u were counted", cached,
				       swap_cached_pages());
	return bad;
}

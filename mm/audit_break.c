/*
 * Breaking invariants on purpose, one at a time, so that tests can prove that the audit
 * notices (machine(MACHINE_BREAK, n), only with test.faults=1). The machine isn't to be
 * used for anything after that.
 */
#include "kernel/abi/errno.h"
#include "kernel/panic.h"
#include "kernel/printk.h"
#include "mm/audit.h"
#include "mm/frame.h"
#include "mm/rmap.h"
#include "mm/swap/area.h"

/* The first page that has all of `with` and none of `without`, or NULL. */
static struct page *find_page(uint32_t with, uint32_t without)
{
	for (pfn_t pfn = 0; pfn < page_count; pfn++) {
		struct page *p = pfn_page(pfn);

		if ((p->flags & with) == with && !(p->flags & without))
			return p;
	}
	return NULL;
}

static bool break_mapcount(void)
{
	struct page *p = find_page(PG_ANON, 0);

	if (p)
		p->mapcount++;
	return p;
}

/* A page with several references loses one. (With none left, the next fork or exit would
 * find it before the audit does.) */
static bool break_count(void)
{
	for (pfn_t pfn = 0; pfn < page_count; pfn++) {
		struct page *p = pfn_page(pfn);

		if (page_is(p, PG_ANON) && p->mapcount > 0 && p->count > 1) {
			p->count--;
			return true;
		}
	}
	return false;
}

static bool break_lru_flag(void)
{
	struct page *p = find_page(PG_LRU, 0);

	if (p)
		page_clear(p, PG_LRU);
	return p;
}

static bool break_lru_list(void)
{
	struct page *p = find_page(PG_LRU, 0);

	if (p)
		p->flags ^= PG_ACTIVE;
	return p;
}

static bool break_rmap_index(void)
{
	struct page *p = find_page(PG_ANON, 0);

	if (p)
		p->index += 1u << 19;
	return p;
}

/* The first area in use with a slot in use, and that slot. */
static struct swap_area *find_used_slot(uint32_t *slot, bool cached)
{
	for (unsigned i = 0; i < SWAP_AREAS_MAX; i++) {
		struct swap_area *a = &swap_areas[i];

		for (*slot = 1; a->state != AREA_OFF && *slot < a->size; (*slot)++)
			if (slot_count(a, *slot) != 0 && slot_count(a, *slot) != SLOT_BAD &&
			    (!cached || slot_page(a, *slot)))
				return a;
	}
	return NULL;
}

static bool break_slot_count(void)
{
	uint32_t slot;
	struct swap_area *a = find_used_slot(&slot, false);

	if (a)
		a->counts[slot / COUNTS_PER_FRAME][slot % COUNTS_PER_FRAME]++;
	return a;
}

static bool break_slot_sum(void)
{
	uint32_t slot;
	struct swap_area *a = find_used_slot(&slot, false);

	if (a)
		a->free++;
	return a;
}

static bool break_cache(void)
{
	uint32_t slot;
	struct swap_area *a = find_used_slot(&slot, true);

	if (a)
		a->cache[slot / CACHE_PER_FRAME][slot % CACHE_PER_FRAME] = NULL;
	return a;
}

static bool break_zone_free(void)
{
	zones[ZONE_DMA].free++;
	return true;
}

static const struct breakage breakages[] = {
	{ "frame.2",  "raised a mapcount",			break_mapcount },
	{ "frame.3",  "lowered the count of a mapped page",	break_count },
	{ "frame.4",  "cleared PG_LRU of a listed page",	break_lru_flag },
	{ "frame.4",  "flipped PG_ACTIVE of a listed page",	break_lru_list },
	{ "rmap.1",   "changed the index of a mapped page",	break_rmap_index },
	{ "swap.3",   "raised a slot's count",			break_slot_count },
	{ "swap.2",   "raised an area's sum of free slots",	break_slot_sum },
	{ "swap.4",   "dropped a page's place in the swap cache", break_cache },
	{ "frame.11", "raised a zone's sum of free frames",	break_zone_free },
};

/* The n-th of the table above and, after it, of the reverse map's; NULL behind the end. */
static const struct breakage *find_breakage(unsigned n)
{
	const struct breakage *b = rmap_breakages;

	if (n < ARRAY_LEN(breakages))
		return &breakages[n];
	for (n -= ARRAY_LEN(breakages); n > 0 && b->invariant; n--)
		b++;
	return b->invariant ? b : NULL;
}

/*
 * Break the n-th invariant, and say so in the log. OK, -EINVAL if there is no n-th, -ENOENT
 * if there is nothing to break now (no page in swap, say).
 */
int audit_break(unsigned n)
{
	const struct breakage *b = find_breakage(n);
	bool done;

	if (!b)
		return -EINVAL;
	done = b->apply();
	printk("audit: break %u, %s: %s%s\n", n, b->invariant, b->what,
	       done ? "" : " - there is none now");
	return done ? OK : -ENOENT;
}

/*
 * swap.window=2.2: swap-in as Linux 2.2 did it (docs/history.md 1.8, 1.9). The aligned block of
 * swap.readahead slots is read from its start, the wanted page wherever it stands in it, up to the
 * first slot that is free, bad or under I/O (2.2's loop stayed on such a slot until its turns
 * were over), or until swap.readahead_limit=1 finds too little memory free. If the wanted page
 * wasn't reached, it is read alone. Each slot is looked up in the swap cache, and once
 * more when a frame was found for it; the wanted page is looked up before and after.
 *
 * Neighbours are allocated with all means: they push out what is in use. All reads are handed over
 * at the end, in one burst, where 2.2 began each at once but plugged the disk until it
 * waited; the limit counts them as if they were under way.
 */
#include "drivers/block.h"
#include "kernel/counters.h"
#include "kernel/panic.h"
#include "kernel/trace.h"
#include "mm/frame.h"
#include "mm/lru.h"
#include "mm/swap/area.h"

/* Pages to read, locked, each with a reference. */
struct burst {
	unsigned     count;
	struct page *page[READAHEAD_MAX + 1];
};

/* lookup_swap_cache: a look that finds a page is a use of it. */
static struct page *look_up(swap_entry e)
{
	struct page *p = swap_cache_find(e);

	if (p)
		page_set(p, PG_REFERENCED);
	return p;
}

/*
 * read_swap_cache_async: the page of `e` with a reference, found in the cache, or a new one that
 * is entered there, locked, and stands in `b` (which has a reference of its own). NULL without
 * memory, or if the slot is free. Sleeps.
 */
static struct page *find_or_enter(swap_entry e, struct burst *b)
{
	struct page *found = look_up(e), *p;

	if (found)
		return found;
	p = page_alloc(GFP_USER, 0);
	if (!p)
		return NULL;
	found = look_up(e);
	if (!page_trylock(p))
		panic("swap: a new page, pfn %#x, is locked", page_pfn(p));
	if (!found && swap_cache_add_read(p, e)) {
		page_hold(p);
		b->page[b->count++] = p;
		return p;
	}
	page_unlock(p);
	page_drop(p);
	return found;
}

/* Is the slot's page on its way to the disk or from it? */
static bool is_under_io(swap_entry e)
{
	struct swap_area *a;
	struct page *p;
	bool busy;

	spin_lock(&swap_lock);
	a = swap_entry_in_use(e);
	p = a ? slot_page(a, swap_entry_slot(e)) : NULL;
	busy = p && (page_is(p, PG_WRITEBACK) || (page_is(p, PG_LOCKED) && !page_is(p, PG_UPTODATE)));
	spin_unlock(&swap_lock);
	return busy;
}

/* swapin_readahead: gather the pages of the block that holds `e`. */
static void gather(swap_entry e, struct burst *b)
{
	uint32_t slot = block_start(swap_entry_slot(e)), end = slot + swap_rules.readahead;

	for (; slot < end; slot++) {
		swap_entry around = swap_entry_make(swap_entry_area(e), slot);
		unsigned before = b->count;
		struct page *p;

		if (readahead_is_off(b->count) || swap_slot_is_hole(around) || is_under_io(around))
			return;
		p = find_or_enter(around, b);
		if (!p)
			return;
		if (b->count > before && around.v != e.v)
			COUNT(swap_readahead);
		page_drop(p);
	}
}

/* Begin to read page `p`; if too many are under way, wait until it has been read. */
static void start(struct page *p)
{
	bool wait = swap_in_flight_full();

	lru_insert(p, lru_rules.around);
	swap_read_start(p);
	if (wait) {
		block_unplug();
		page_lock(p);
		page_unlock(p);
		block_plug();
	}
	page_drop(p);
}

/*
 * The page of `e`, with a reference, read with its neighbours if it isn't in the cache: as
 * swap_read() (mm/swap.h), which calls this.
 */
struct page *swap_read_22(swap_entry e, bool *major)
{
	struct burst b = { .count = 0 };
	struct page *p = look_up(e);

	if (p) {
		TRACE(SWAP_FOUND, page_pfn(p), e.v, 0);
		return p;
	}
	gather(e, &b);
	p = find_or_enter(e, &b);
	if (b.count > 0)
		*major = true;
	block_plug();
	for (unsigned i = 0; i < b.count; i++)
		start(b.page[i]);
	block_unplug();
	return p;
}

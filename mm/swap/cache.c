/*
 * The swap cache: which page in memory holds (or will hold) the contents of a slot. All
 * PTEs (and object entries) that name one slot thus find one page, and a page shared copy-on-write comes
 * back shared. The map is by slot, in the area (area.h); there is no hash and no tree.
 *
 * A page in the cache: PG_SWAPCACHE, private == entry, one count of the page and one of
 * the slot (swap.3, swap.4). It enters and leaves only locked, and never leaves under
 * write-back: the slot would be free while the disk still writes to it. Where anonymous pages are on the
 * lists of reclaim only while they are cached, it leaves these, too.
 *
 * Locks: swap_lock inside; the page lock where said.
 */
#include "kernel/counters.h"
#include "kernel/panic.h"
#include "kernel/trace.h"
#include "mm/lru.h"
#include "mm/reclaim.h"
#include "mm/swap/area.h"

static uint32_t cached_pages;		/* swap_lock */

uint32_t swap_cached_pages(void)
{
	return cached_pages;
}

/* `p`, locked, becomes the page of `e`. The count of the slot is the caller's. */
static void enter(struct swap_area *a, swap_entry e, struct page *p, uint16_t count)
{
	KASSERT2(page_is(p, PG_LOCKED) && !page_is(p, PG_SWAPCACHE), "swap.4", page_pfn(p), e.v);
	page_hold(p);
	p->private = e.v;
	page_set(p, PG_SWAPCACHE);
	slot_set(a, swap_entry_slot(e), count, p);
	cached_pages++;
	COUNT(swap_cache_add);
}

/*
 * Give a locked page, anonymous or just leaving its object, a slot and enter it, dirty and up
 * to date: the slot holds nothing yet. Its mark of a failed write goes. Returns false if there is no slot. Takes
 * swap_lock; never sleeps.
 */
bool swap_cache_add_new(struct page *p)
{
	swap_entry e;

	if (!swap_slot_alloc(&e))
		return false;
	TRACE(SWAP_ALLOC, e.v, page_pfn(p), 0);
	spin_lock(&swap_lock);
	enter(swap_entry_to_area(e), e, p, 1);
	spin_unlock(&swap_lock);
	page_clear(p, PG_ERROR);
	page_set(p, PG_DIRTY | PG_UPTODATE);
	return true;
}

bool swap_cache_add_read(struct page *p, swap_entry e)
{
	uint32_t slot = swap_entry_slot(e);
	struct swap_area *a;
	bool ok;

	spin_lock(&swap_lock);
	a = swap_entry_in_use(e);
	ok = a && !slot_page(a, slot) && slot_count(a, slot) < SLOT_COUNT_MAX;
	if (ok)
		enter(a, e, p, (uint16_t)(slot_count(a, slot) + 1));
	spin_unlock(&swap_lock);
	return ok;
}

/* The page of `e` with a reference, or NULL: see swap.h. Never sleeps. */
struct page *swap_cache_find(swap_entry e)
{
	struct page *p = NULL;
	struct swap_area *a;

	COUNT(swap_cache_find_total);
	spin_lock(&swap_lock);
	a = swap_entry_in_use(e);
	if (a)
		p = slot_page(a, swap_entry_slot(e));
	if (p) {
		page_hold(p);
		COUNT(swap_cache_find_success);
	}
	spin_unlock(&swap_lock);
	return p;
}

/*
 * A locked page leaves the cache; the slot loses one count, and becomes bad instead of
 * free if it couldn't be written. The caller holds a reference, so that the cache's is
 * not the last. The page's contents are the only ones from here on. Never sleeps.
 */
void swap_cache_delete(struct page *p)
{
	swap_entry e = { p->private };
	uint32_t slot = swap_entry_slot(e);
	bool unwritable = page_is(p, PG_ERROR) && page_is(p, PG_UPTODATE);
	struct swap_area *a;
	uint16_t count;

	KASSERT2(page_is(p, PG_SWAPCACHE) && page_is(p, PG_LOCKED), "swap.4", page_pfn(p), e.v);
	KASSERT2(!page_is(p, PG_WRITEBACK), "frame.7", page_pfn(p), e.v);
	KASSERT2(p->count > 1, "frame.3", page_pfn(p), p->count);
	spin_lock(&swap_lock);
	a = swap_entry_in_use(e);
	KASSERT2(a && slot_page(a, slot) == p, "swap.4", page_pfn(p), e.v);
	count = (uint16_t)(slot_count(a, slot) - 1);
	KASSERT2(!unwritable || count == 0, "swap.3", e.v, count);
	slot_set(a, slot, count, NULL);
	if (unwritable)
		slots_mark_bad(a, slot);
	page_clear(p, PG_SWAPCACHE | PG_ERROR);
	page_set(p, PG_DIRTY);
	p->private = 0;
	cached_pages--;
	COUNT(swap_cache_delete);
	spin_unlock(&swap_lock);
	if (reclaim->swap_uncached)
		reclaim->swap_uncached(p);
	if (lru_only_cached() && page_is(p, PG_LRU) && !page_is(p, PG_OBJECT))
		lru_remove(p);
	page_drop(p);
}

/*
 * Take a locked page out of the cache and free its slot, if no PTE names the slot any
 * more and no more than one maps the page. True if done. The caller holds a reference.
 * Never sleeps.
 */
bool swap_cache_try_free(struct page *p)
{
	if (!page_is(p, PG_SWAPCACHE) || page_is(p, PG_WRITEBACK) || p->mapcount > 1)
		return false;
	if (swap_count((swap_entry){ p->private }) != 1)
		return false;
	swap_cache_delete(p);
	return true;
}

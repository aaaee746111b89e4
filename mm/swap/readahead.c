/*
 * Swap-in with read-around (docs/history.md 1.8): the aligned block of swap.readahead
 * slots that holds the wanted one is read in one go. Pages that went out together lie
 * together and will mostly be wanted together; what they cost beyond the first is
 * transfer time alone. swap.window= says what a hole means: a slot that is free, or whose
 * page is in memory already.
 *
 * The wanted page is allocated with all means; neighbours only from what is free above
 * the watermark: a guess must not push out a page that is in use. (With swap.window=hole they
 * do, as in kernels of the time.)
 */
#include "kernel/counters.h"
#include "kernel/panic.h"
#include "kernel/thread.h"
#include "kernel/trace.h"
#include "mm/lru.h"
#include "mm/swap/area.h"
#include "mm/swap/pattern.h"

enum { BATCH_MAX = MAX((unsigned)READAHEAD_MAX, (unsigned)PATTERN_MAX) };

/* A fresh locked page for `e` in the cache, holding one reference besides; NULL without
 * memory, or if the slot is free by now or has got a page. Sleeps if `how` says so. */
struct page *swap_new_cached_page(swap_entry e, enum gfp how)
{
	struct page *p = page_alloc(how, 0);

	if (!p)
		return NULL;
	if (!page_trylock(p))
		panic("swap: a new page, pfn %#x, is locked", page_pfn(p));
	if (swap_cache_add_read(p, e))
		return p;
	page_unlock(p);
	page_drop(p);
	return NULL;
}

bool swap_worth_reading(swap_entry e)
{
	struct swap_area *a;
	bool worth;

	spin_lock(&swap_lock);
	a = swap_entry_in_use(e);
	worth = a && !slot_page(a, swap_entry_slot(e));
	spin_unlock(&swap_lock);
	return worth;
}

uint32_t block_start(uint32_t slot)
{
	return slot - slot % swap_rules.readahead;
}

/* Is the slot of `e` one that nothing can be read from: free, bad or beyond the area? */
bool swap_slot_is_hole(swap_entry e)
{
	bool hole;

	spin_lock(&swap_lock);
	hole = !swap_entry_in_use(e);
	spin_unlock(&swap_lock);
	return hole;
}

/* swap.readahead_limit=1: are too few frames free to guess, with `more` pages about to be read?
 * docs/history.md 1.8. */
bool readahead_is_off(uint32_t more)
{
	uint32_t low = 0, high = 0, free = frames_free();

	if (!swap_rules.readahead_limit)
		return false;
	for (unsigned i = 0; i < ZONE_COUNT; i++) {
		low += zones[i].low;
		high += zones[i].high;
	}
	return free < more + swap_reads_pending() + swap_writes_pending() + (low + high) / 2;
}

/* A page, allocated as `how` says, for the neighbour `e` if it can be read and isn't in memory.
 * Counted as a look into the cache if the kernels of the window's time took one. */
static struct page *neighbour(swap_entry e, enum gfp how)
{
	struct page *p;

	if (swap_rules.window == WINDOW_HOLE) {
		p = swap_cache_find(e);
		if (p) {
			page_drop(p);
			return NULL;
		}
	}
	if (!swap_worth_reading(e))
		return NULL;
	p = swap_new_cached_page(e, how);
	if (p)
		COUNT(swap_readahead);
	return p;
}

/*
 * Put pages for the slots around `e` into the cache, locked, in slot order; `wanted` is
 * already there and is the batch's last if the window ends before it. Returns how
 * many stand in batch[]. Neighbours are allocated as `how` says; the caller sleeps if that does.
 */
static unsigned gather(swap_entry e, struct page *wanted, struct page *batch[], enum gfp how)
{
	unsigned area = swap_entry_area(e), n = 0;
	uint32_t slot = block_start(swap_entry_slot(e)), end = slot + swap_rules.readahead;
	bool placed = false;

	for (; slot < end; slot++) {
		swap_entry around = swap_entry_make(area, slot);
		struct page *p;

		if (swap_rules.window == WINDOW_HOLE && slot > 0 && swap_slot_is_hole(around))
			break;
		if (readahead_is_off(n))
			break;
		p = around.v == e.v ? wanted : slot > 0 ? neighbour(around, how) : NULL;
		placed |= p == wanted;
		if (p)
			batch[n++] = p;
	}
	if (!placed)
		batch[n++] = wanted;
	return n;
}

/* Read all pages of the batch, if there are any, as one plugged burst. The reference to `wanted`
 * (NULL: none is wanted yet) stays the caller's. */
static void read_batch(struct page *batch[], unsigned n, const struct page *wanted)
{
	if (n == 0)
		return;			/* as mostly when a page was found */
	block_plug();
	for (unsigned i = 0; i < n; i++) {
		struct page *p = batch[i];

		lru_insert(p, p == wanted ? lru_rules.wanted : lru_rules.around);
		swap_read_start(p);
		if (p != wanted)
			page_drop(p);
	}
	block_unplug();
}

/*
 * The page of `e`, with a reference: from the swap cache, or a new one whose read is started
 * together with its neighbours' (gather()); *major is set then, and the page may still be
 * locked. The caller's PTE (or object entry) holds a count of the slot, so that the slot stays
 * what it is. If no page can be entered, then either there is no memory (NULL is returned), or
 * somebody entered his while we slept for ours: that one is found. v->mm's mmap_lock held, if `v` is
 * given; no spinlock, no page lock; sleeps.
 */
struct page *swap_read(swap_entry e, struct vma *v, vaddr_t addr, bool *major)
{
	enum gfp how = swap_rules.window == WINDOW_HOLE ? GFP_USER : GFP_SPARE;
	bool pattern = v && swap_rules.window == WINDOW_PATTERN;
	struct page *batch[BATCH_MAX];
	struct page *p;

	if (swap_rules.window == WINDOW_22)
		return swap_read_22(e, major);
	p = swap_cache_find(e);
	if (p) {
		TRACE(SWAP_FOUND, page_pfn(p), e.v, 0);
		if (pattern)
			read_batch(batch, pattern_read_on(v, addr, batch), NULL);
		return p;
	}
	p = swap_new_cached_page(e, GFP_USER);
	if (!p)
		return swap_cache_find(e);
	*major = true;
	read_batch(batch, pattern ? pattern_gather(v, addr, p, batch) :
		   gather(e, p, batch, how), p);
	return p;
}

/* See swap.h. The caller's PTE (or object entry) holds a count of the slot. */
bool swap_read_ahead(swap_entry e)
{
	struct page *batch[BATCH_MAX];
	struct page *p;

	if (!swap_worth_reading(e))
		return true;
	p = swap_new_cached_page(e, GFP_SPARE);
	if (!p)
		return !swap_worth_reading(e);
	COUNT(swap_readahead);
	read_batch(batch, gather(e, p, batch, GFP_SPARE), NULL);
	return true;
}

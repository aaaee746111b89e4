/*
 * Frames: the page array, zones, the buddy allocator.
 *
 * Free memory is kept in blocks of 2^order frames whose first frame's number is a
 * multiple of 2^order. Taking splits a larger block, giving merges a block with its
 * buddy as long as that is free: the frame number that differs in bit `order` alone.
 * frame.9 to frame.11 (mm/frame.h) hold whenever frames_lock is free.
 *
 * Entry points: frame_init() at boot; page_alloc(), page_free(); frame_take() and
 * frame_give() for the reclaim policy.
 */
#include "kernel/counters.h"
#include "kernel/panic.h"
#include "kernel/printk.h"
#include "kernel/string.h"
#include "kernel/time.h"
#include "kernel/trace.h"
#include "mm/alloc_fail.h"
#include "mm/frame.h"
#include "mm/reclaim.h"

/* What a frame's last user may leave set; anything else is a fault of his. */
enum {
	PG_LEFT = PG_DIRTY | PG_REFERENCED | PG_UPTODATE | PG_ERROR | PG_ACTIVE | PG_ANON |
		  PG_RECLAIM | PG_BLOCK | PG_NORMAL | PG_CLEAN | PG_AGE_MASK,
};
#define KERNEL_LOAD_PADDR (1u << 20)

struct page *pages;
pfn_t page_count;
static uint32_t ram_frames;		/* all of RAM below 896 MiB */
struct zone zones[ZONE_COUNT];

/* Which end of its list a block enters. */
enum block_end { BLOCK_FIRST, BLOCK_LAST };

/* Put a block on its list. frames_lock held. */
static void block_insert(struct zone *z, struct page *p, unsigned order, enum block_end end)
{
	page_set(p, PG_BUDDY);
	p->private = order;
	if (end == BLOCK_LAST)
		list_insert_tail(&z->free_list[order], &p->lru);
	else
		list_insert(&z->free_list[order], &p->lru);
}

/* Take a block off its list. frames_lock held. */
static void block_remove(struct page *p)
{
	list_remove(&p->lru);
	page_clear(p, PG_BUDDY);
	p->private = 0;
}

/* The lowest order from `order` up that `z` has a free block of, or FRAME_ORDERS. */
static unsigned order_available(const struct zone *z, unsigned order)
{
	while (order < FRAME_ORDERS && list_empty(&z->free_list[order]))
		order++;
	return order;
}

/*
 * Take a block of 2^order frames from zone `z`, ignoring watermarks. The head's count is
 * 1; a block of more than one frame is marked PG_BLOCK. Returns NULL if there is none.
 * Any context; takes frames_lock.
 */
struct page *frame_take(struct zone *z, unsigned order)
{
	uint32_t irq = spin_lock_irq(&z->frames_lock);
	unsigned at = order_available(z, order);
	struct page *p = NULL;

	if (at < FRAME_ORDERS) {
		p = list_first(&z->free_list[at], struct page, lru);
		block_remove(p);
		while (at > order) {
			at--;
			block_insert(z, p + (1u << at), at, BLOCK_FIRST);
		}
		z->free -= 1u << order;
		p->count = 1;
		if (order > 0) {
			page_set(p, PG_BLOCK);
			p->private = order;
		}
	}
	spin_unlock_irq(&z->frames_lock, irq);
	return p;
}

/* The buddy of the block at `pfn` if it is free as a whole, else NULL. */
static struct page *free_buddy(const struct zone *z, pfn_t pfn, unsigned order)
{
	pfn_t buddy = pfn ^ (1u << order);
	struct page *p;

	if (buddy < z->start || buddy >= z->end)
		return NULL;
	p = pfn_page(buddy);
	return page_is(p, PG_BUDDY) && p->private == order ? p : NULL;
}

/* Merge a free block with its buddies and put the result on its list. frames_lock held. */
static void block_merge(struct zone *z, pfn_t pfn, unsigned order, enum block_end end)
{
	struct page *buddy;

	z->free += 1u << order;
	while (order < FRAME_ORDERS - 1 && (buddy = free_buddy(z, pfn, order)) != NULL) {
		block_remove(buddy);
		pfn &= ~(1u << order);
		order++;
	}
	block_insert(z, pfn_page(pfn), order, end);
}

/*
 * Give a block of 2^order frames, nobody's by now (frame.1), to its zone; it is merged
 * with its buddies. A zone that gets frames back is worth scanning again, whoever freed
 * them (as in 2.6.5's free_pages_bulk). Any context; takes frames_lock.
 */
void frame_give(struct page *p, unsigned order)
{
	struct zone *z = page_zone(p);
	pfn_t pfn = page_pfn(p);
	uint32_t irq;

	KASSERT2(p->count == 0 && p->mapcount == 0 && !p->mapping, "frame.1", pfn, p->flags);
	KASSERT2((p->flags & ~PG_NORMAL) == 0, "frame.1", pfn, p->flags);
	KASSERT2((pfn & ((1u << order) - 1)) == 0, "frame.9", pfn, order);
	irq = spin_lock_irq(&z->frames_lock);
	block_merge(z, pfn, order, BLOCK_FIRST);
	z->scanned_since_freed = 0;
	z->all_unreclaimable = false;
	spin_unlock_irq(&z->frames_lock, irq);
}

/* A block from the highest zone allowed that has one, down to the last frame: all there
 * is before the reclaim policy is chosen. */
static struct page *take_anywhere(enum gfp flags, unsigned order)
{
	struct page *p = NULL;

	if (!(flags & GFP_DMA))
		p = frame_take(&zones[ZONE_NORMAL], order);
	return p ? p : frame_take(&zones[ZONE_DMA], order);
}

/*
 * Take a block of 2^order frames, with one reference (to the head, above order 0).
 * The policy decides about watermarks, reclaim and the OOM killer. Returns NULL when
 * nothing is to be had. GFP_WAIT sleeps: no spinlock held, and no lock of a page that
 * reclaim could want.
 */
struct page *page_alloc(enum gfp flags, unsigned order)
{
	struct page *p;

	KASSERT2(order < FRAME_ORDERS, "frame: order", order, flags);
	if (flags & GFP_WAIT)
		KASSERT(!lock_any_spin_held(), "lock.2");
	if (alloc_fails())
		return NULL;
	p = reclaim ? reclaim->alloc(flags, order) : take_anywhere(flags, order);
	if (!p)
		return NULL;
	COUNT_ADD(pgalloc, 1u << order);
	TRACE(ALLOC, page_pfn(p), order, flags);
	if (flags & GFP_ZERO) {
		page_zero(page_address(p));
		for (unsigned i = 1; i < 1u << order; i++)
			page_zero(page_address(p + i));
	}
	return p;
}

/*
 * Give a block back: its only reference is the caller's (or went just now, in
 * page_drop()). It must be in no cache, list or page table any more. Any context.
 */
void page_free(struct page *p, unsigned order)
{
	KASSERT2(p->count <= 1 && p->mapcount == 0, "frame.1", page_pfn(p), p->count);
	KASSERT2((p->flags & ~PG_LEFT) == 0, "frame.1", page_pfn(p), p->flags);
	KASSERT2(page_is(p, PG_BLOCK) ? p->private == order : order == 0,
		 "frame: order of a block", page_pfn(p), order);
	COUNT_ADD(pgfree, 1u << order);
	TRACE(FREE, page_pfn(p), order, 0);
	page_clear(p, PG_LEFT & ~PG_NORMAL);
	p->count = 0;
	p->private = 0;
	p->mapping = NULL;
	frame_give(p, order);
}

/* Frames free in all zones. */
uint32_t frames_free(void)
{
	return zones[ZONE_DMA].free + zones[ZONE_NORMAL].free;
}

/* Frames that the kernel manages: RAM less kernel image, page array and holes. */
uint32_t frames_total(void)
{
	return zones[ZONE_DMA].present + zones[ZONE_NORMAL].present;
}

/* Frames of RAM that are nobody's: kernel image, page array, page 0, the zero page. */
uint32_t frames_reserved(void)
{
	return ram_frames - frames_total();
}

/* ---- Boot ---- */

static void zone_init(struct zone *z, const char *name, pfn_t start, pfn_t end)
{
	z->name = name;
	z->start = start;
	z->end = MAX(start, end);
	spin_init(&z->frames_lock, RANK_FRAMES);
	spin_init(&z->lru_lock, RANK_LRU);
	for (unsigned order = 0; order < FRAME_ORDERS; order++)
		list_init(&z->free_list[order]);
	list_init(&z->active);
	list_init(&z->inactive);
	list_init(&z->clean);
	z->present = z->free = 0;
	z->active_count = z->inactive_count = z->clean_count = z->inactive_here = 0;
}

/* A place for the page array: the lowest in RAM from `first_free` up. */
static paddr_t array_place(const struct ram_range *ram, unsigned count, paddr_t first_free,
			   uint32_t bytes)
{
	for (unsigned i = 0; i < count; i++) {
		paddr_t at = PAGE_UP(MAX(ram[i].start, first_free));

		if (at < ram[i].end && bytes <= ram[i].end - at)
			return at;
	}
	panic("no room for %u bytes of page descriptors above %#x", bytes, first_free);
}

/*
 * Give [start, end) to the buddy lists in the largest blocks that fit. Which end of its
 * list a block enters is drawn by lot (seed=), so that the order in which a run sees
 * frames isn't the same accident every time.
 */
static void add_ram(pfn_t start, pfn_t end)
{
	while (start < end) {
		struct page *p = pfn_page(start);
		struct zone *z = page_zone(p);
		unsigned order = FRAME_ORDERS - 1;

		while ((start & ((1u << order) - 1)) || (1u << order) > MIN(end, z->end) - start)
			order--;
		for (unsigned i = 0; i < 1u << order; i++)
			page_clear(p + i, PG_RESERVED);
		block_merge(z, start, order, random_u32() & 1 ? BLOCK_LAST : BLOCK_FIRST);
		z->present += 1u << order;
		start += 1u << order;
	}
}

/*
 * Make page array and zones; see mm/frame.h. `ram` has `count` entries. Called once,
 * before anything is allocated; the linear map must already reach the page array.
 */
void frame_init(const struct ram_range *ram, unsigned count, paddr_t first_free)
{
	uint32_t bytes;
	paddr_t array, kept_end;

	page_count = ram[count - 1].end >> PAGE_SHIFT;
	bytes = PAGE_UP(page_count * sizeof(*pages));
	array = array_place(ram, count, MAX(first_free, KERNEL_LOAD_PADDR), bytes);
	kept_end = array + bytes;
	ram_frames = 0;
	pages = paddr_address(array);
	memset(pages, 0, bytes);
	for (pfn_t pfn = 0; pfn < page_count; pfn++) {
		pages[pfn].flags = PG_RESERVED | (pfn >= ZONE_DMA_END_PFN ? PG_NORMAL : 0);
		list_init(&pages[pfn].lru);
	}
	zone_init(&zones[ZONE_DMA], "DMA", 0, MIN(page_count, ZONE_DMA_END_PFN));
	zone_init(&zones[ZONE_NORMAL], "NORMAL", ZONE_DMA_END_PFN, page_count);
	for (unsigned i = 0; i < count; i++) {
		pfn_t start = MAX(ram[i].start, PAGE_SIZE) >> PAGE_SHIFT;
		pfn_t end = ram[i].end >> PAGE_SHIFT;

		ram_frames += end - (ram[i].start >> PAGE_SHIFT);
		add_ram(start, MIN(end, KERNEL_LOAD_PADDR >> PAGE_SHIFT));
		add_ram(MAX(start, kept_end >> PAGE_SHIFT), end);
	}
	printk("memory: %u KiB free of %u KiB, %u KiB of page descriptors\n",
	       frames_free() << (PAGE_SHIFT - 10), page_count << (PAGE_SHIFT - 10),
	       bytes >> 10);
}

/* The reserved frame of `p` becomes an allocated one with one reference: a boot module's
 * frame that an object takes over. */
void frame_unreserve(struct page *p)
{
	KASSERT2(page_is(p, PG_RESERVED), "frame.8", page_pfn(p), p->flags);
	page_clear(p, PG_RESERVED);
	p->count = 1;
	page_zone(p)->present++;
}

/* The frame of `p`, which has one reference, is counted as ours no more and never freed. */
void frame_reserve(struct page *p)
{
	KASSERT2(p->count == 1 && p->mapcount == 0, "frame.8", page_pfn(p), p->flags);
	page_set(p, PG_RESERVED);
	page_zone(p)->present--;
}

/*
 * Frames: zones, watermarks, the buddy allocator.
 *
 * frame.9   a free block of order k begins at a pfn that is a multiple of 2^k
 * frame.10  two free buddies of one order don't exist (they would be one)
 * frame.11  zone.free is the sum of its free blocks
 */
#ifndef MM_FRAME_H
#define MM_FRAME_H

#include "kernel/lock.h"
#include "mm/page.h"

enum { FRAME_ORDERS = 11 };		/* blocks of 1 to 1024 frames */
enum zone_kind { ZONE_DMA, ZONE_NORMAL, ZONE_COUNT };
#define ZONE_DMA_END_PFN (16u << 20 >> PAGE_SHIFT)

struct zone {
	const char *name;
	pfn_t	    start, end;		/* [start, end); constant after boot */
	uint32_t    present;		/* frames in it that are RAM and ours */

	struct spinlock frames_lock;	/* RANK_FRAMES */
	struct list	free_list[FRAME_ORDERS];
	uint32_t	free;

	uint32_t min, low, high;	/* watermarks, in frames; set by the policy */

	struct spinlock lru_lock;	/* RANK_LRU */
	struct list	active, inactive, clean;
	uint32_t	active_count, inactive_count, clean_count;
	uint32_t	inactive_here;	/* pages of this zone on an inactive list, whosever */

	/* The policy's (mm/reclaim/): scan debts, last priority, give-up mark. The last two
	 * are cleared when a frame of the zone is freed. */
	uint32_t scan_active, scan_inactive;
	uint32_t prev_priority;
	uint32_t scanned_since_freed;
	bool	 all_unreclaimable;
};
extern struct zone zones[ZONE_COUNT];
/* The zone that the frame of `p` lies in. */
static inline struct zone *page_zone(const struct page *p)
{
	return page_is(p, PG_NORMAL) ? &zones[ZONE_NORMAL] : &zones[ZONE_DMA];
}

enum gfp {
	GFP_ATOMIC = 0,			/* may not sleep: fails early            */
	GFP_WAIT   = BIT(0),		/* may sleep and reclaim                 */
	GFP_DMA    = BIT(1),		/* below 16 MiB                          */
	GFP_ZERO   = BIT(2),		/* contents are zeros                    */
	GFP_NOFAIL_SMALL = BIT(3),	/* for the kernel: a killed caller may take it
					 * from the reserve                      */
	GFP_SPARE = BIT(4),		/* only from what is free above the watermark:
					 * neither reclaims nor touches the reserve */
	GFP_NOFS = BIT(5),		/* its reclaim begins no write and waits for none:
					 * asked of 2.4's policies only          */
	GFP_KERNEL = GFP_WAIT,
	GFP_USER   = GFP_WAIT,
};

/* Take a block of 2^order frames, count 1 each page for order 0, head only above.
 * NULL when there is none: after reclaim and the OOM killer's say if GFP_WAIT.
 * GFP_WAIT sleeps: no spinlock, and no page lock of a page that reclaim could want. */
struct page *page_alloc(enum gfp flags, unsigned order);
void page_free(struct page *p, unsigned order);
/* Frames free in all zones. */
uint32_t frames_free(void);
/* Frames that the kernel manages (RAM less kernel image and holes). */
uint32_t frames_total(void);
/* Frames of RAM that it doesn't: kernel image, page array, page 0, the zero page. */
uint32_t frames_reserved(void);

/* The fast part, without reclaim, watermarks, counters or trace: the policy's alloc()
 * (mm/reclaim/) and page_alloc() before there is a policy are built on it.
 * frame_take(): count as page_alloc() gives it, contents anything, NULL if the zone has
 * no such block. frame_give(): count 0, no flags. Interrupt context. */
struct page *frame_take(struct zone *z, unsigned order);
void frame_give(struct page *p, unsigned order);

/*
 * RAM as boot found it: sorted, page aligned, below 896 MiB. Makes the page array, from
 * `first_free` up, and the zones, and gives the buddy lists all RAM but page 0 and
 * [1 MiB, end of the page array): kernel and modules lie there, below first_free.
 */
struct ram_range { paddr_t start, end; };
void frame_init(const struct ram_range *ram, unsigned count, paddr_t first_free);
/* A reserved frame becomes one of ours, held once (boot modules); and the other way
 * round, for ever (the zero page). */
void frame_unreserve(struct page *p);
void frame_reserve(struct page *p);

/* Check frame.1, frame.5 and frame.7 to frame.11; prints each violation, returns how
 * many. frame.2, 3, 4 and 6 need page tables, lists and slots: mm/audit.c. */
unsigned frame_check(void);

#endif

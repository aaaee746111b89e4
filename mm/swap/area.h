/*
 * Inside mm/swap/: what an area is made of. Everything else uses mm/swap.h.
 *
 * Counts and cache pointers live in single frames behind a directory, so that no large
 * contiguous block is needed to take an area into service.
 *
 *            swap_on             swap_off            emptied
 *   AREA_OFF --------> AREA_ON ----------> AREA_LEAVING ----> AREA_OFF
 *                         ^                    | doesn't fit, killed, called off
 *                         +--------------------+
 */
#ifndef MM_SWAP_AREA_H
#define MM_SWAP_AREA_H

#include "drivers/block.h"
#include "kernel/lock.h"
#include "mm/swap.h"
#include "mm/swap/rules.h"

enum area_state { AREA_OFF, AREA_ON, AREA_LEAVING };

/* The header is looked at again before the first write: somebody may have used the
 * partition for something else since swapon. */
enum header_state { HEADER_UNCHECKED, HEADER_CHECKING, HEADER_GOOD, HEADER_FOREIGN };

enum {
	COUNTS_PER_FRAME = PAGE_SIZE / sizeof(uint16_t),
	CACHE_PER_FRAME	 = PAGE_SIZE / sizeof(struct page *),
	SWAP_UUID_BYTES	 = 16,
	FAILED_WRITES_MAX = 32,		/* in a row: then new pages go to other areas */
};

/* A run of swap.cluster slots; the allocator fills one before it goes to another. */
struct slot_run {
	uint16_t free;
	uint16_t usable;		/* not the header, not bad */
};

/* s: swap_lock   m: swapon_lock   c: constant while AREA_ON or AREA_LEAVING */
struct swap_area {
	enum area_state	   state;	/* s and m */
	struct block_dev  *dev;		/* c */
	int32_t		   priority;	/* c  higher is used first */
	uint32_t	   size;	/* c  in slots, slot 0 (the header) included */
	uint32_t	   free, used, bad; /* s  swap.2; the header counts as bad */

	uint16_t	 **counts;	/* s  by slot: 0 free, else swap.3, or SLOT_BAD */
	struct page	***cache;	/* s  by slot: the page that holds its contents */
	struct slot_run	  *runs;	/* s  [run_count] */
	uint32_t	   run_count;	/* c */
	uint32_t	   next;	/* s  where the search goes on */
	uint32_t	   cluster_left; /* s  slots until the search starts anew (2.2, 2.4) */
	uint64_t	   turn;	/* s  when it last gave a slot: round robin */
	uint32_t	   cache_only;	/* s  slots whose only holder is the cache */
	uint32_t	   steal_hand;	/* s  where the next slot is stolen from */

	enum header_state  header;	/* only threads that sleep in swap_area_writable() */
	uint32_t	   failed_writes; /* in a row, interrupts off */
	bool		   stays;	/* swapoff was called off: no memory */
	struct page	  *header_page;	/* c  buffer for that check: no allocation then */
	uint8_t		   uuid[SWAP_UUID_BYTES]; /* c */
};

extern struct swap_area swap_areas[SWAP_AREAS_MAX];
extern struct spinlock	swap_lock;	/* RANK_SWAP */
extern struct mutex	swapon_lock;	/* RANK_SWAPON */

static inline uint16_t slot_count(const struct swap_area *a, uint32_t slot)
{
	return a->counts[slot / COUNTS_PER_FRAME][slot % COUNTS_PER_FRAME];
}

static inline struct page *slot_page(const struct swap_area *a, uint32_t slot)
{
	return a->cache[slot / CACHE_PER_FRAME][slot % CACHE_PER_FRAME];
}

static inline unsigned swap_area_number(const struct swap_area *a)
{
	return (unsigned)(a - swap_areas);
}

static inline struct swap_area *swap_entry_to_area(swap_entry e)
{
	return &swap_areas[swap_entry_area(e)];
}

/* May the area give slots to new pages? */
bool swap_area_takes(const struct swap_area *a);
/* Is the area of `e` being emptied by swapoff? */
bool swap_area_leaves(swap_entry e);
/* The area of `e` if the slot is in use, else NULL. swap_lock held. */
struct swap_area *swap_entry_in_use(swap_entry e);

/* ---- slots.c: the map of one area ---- */
int  slots_create(struct swap_area *a, uint32_t size);	/* -ENOMEM. Sleeps */
void slots_destroy(struct swap_area *a);
void slots_mark_bad(struct swap_area *a, uint32_t slot);/* a free one; swap_lock held */
/* Set count and cache pointer of a slot; keeps free, used, bad and cache_only true.
 * swap_lock held. */
void slot_set(struct swap_area *a, uint32_t slot, uint16_t count, struct page *p);
/* Take a free slot: count 1, no page. False: none. swap_lock held. */
bool slots_take(struct swap_area *a, uint32_t *slot);
/* The first free slot of `a` from `from` up; a->size: none. swap_lock held. */
uint32_t slots_first_free(const struct swap_area *a, uint32_t from);
/* swap.search=: the next free slot of `a`, which has one, and where the search goes on after it.
 * swap_lock held. */
uint32_t slots_search_runs(struct swap_area *a);	/* search_runs.c */
uint32_t slots_search_22(struct swap_area *a);		/* search_22.c */
uint32_t slots_search_24(struct swap_area *a);		/* search_24.c */

/* ---- areas.c ---- */
/* What a header says; `why` is set with -EINVAL. */
struct swap_header_info {
	uint32_t    size;		/* slots, header included */
	uint32_t    bad_count;
	const uint32_t *bad;		/* [bad_count], points into the page */
	const uint8_t  *uuid;
	const char *why;
};
int  swap_header_parse(const void *header, sector_t sectors, struct swap_header_info *info);
/* May the area be written to? Reads its header again the first time. Sleeps. */
bool swap_area_writable(struct swap_area *a);

/* ---- cache.c ---- */
/* Enter a locked page that will be read from `e`; takes one count of the slot and one
 * of the page. False: the slot is free by now, or has a page. */
bool swap_cache_add_read(struct page *p, swap_entry e);

/* ---- io.c ---- */
/* Start reading a locked page of the swap cache; unlocked when it's done. May sleep. */
void swap_read_start(struct page *p);
/* Would a write have to wait for those under way? */
bool swap_congested(void);
/* Are so many pages under way (swap_rules.in_flight) that the next is to be waited for? */
bool swap_in_flight_full(void);
uint32_t swap_writes_pending(void);
uint32_t swap_reads_pending(void);

/* ---- readahead.c, readahead_22.c: swap.window= ---- */
struct page *swap_read_22(swap_entry e, bool *major);	/* as swap_read() */
/* Are too few frames free to guess, with `more` pages about to be read? */
bool readahead_is_off(uint32_t more);
/* The first slot of the aligned block of swap.readahead slots that holds `slot`. */
uint32_t block_start(uint32_t slot);
/* Is the slot of `e` one that nothing can be read from: free, bad or beyond the area? */
bool swap_slot_is_hole(swap_entry e);

/* ---- relocate.c ---- */
/* Move a locked, unmapped page whose slot can't be written, or leaves, to another slot, in
 * all PTEs too. False: no slot, or somebody's entry can't be found. Never sleeps. */
bool swap_relocate(struct page *p);

/* ---- steal.c ---- */
uint32_t swap_slots_stealable(void);

#endif

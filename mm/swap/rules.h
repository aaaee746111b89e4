/*
 * The rules of swap in force: what kernels of different times did differently about slots
 * and neighbours. A reclaim policy brings those of its time (mm/reclaim.h); each can be set
 * by a parameter of its own, whatever the policy.
 */
#ifndef MM_SWAP_RULES_H
#define MM_SWAP_RULES_H

#include "kernel/types.h"

/* swap.free=: does a swap-in of a page's only user free the slot? docs/history.md 2.5, 2.6, 3.1. */
enum slot_rule {
	SLOTS_KEEP,		/* never                                                */
	SLOTS_WRITE,		/* if it is a write                                     */
	SLOTS_80,		/* ... or pages of the cache are over 80 % of all slots */
	SLOTS_FULL,		/* if more than 80 % of the slots are in use            */
	SLOTS_50,		/* if more than half of the slots are in use            */
	SLOTS_ALWAYS,
	SLOT_RULES
};

/* What asks that: a fault on the slot's entry that reads or writes, or the first write to a page
 * that came back by a read and kept its slot. */
enum slot_use { SLOT_READ, SLOT_WRITE, SLOT_LATER_WRITE };

/* swap.search=: which free slot is next (mm/swap/search_*.c). */
enum slot_search { SEARCH_RUNS, SEARCH_22, SEARCH_24, SLOT_SEARCHES };

/* swap.window=: which neighbours are read with a page (mm/swap/readahead.c). */
enum read_window {
	WINDOW_ALIGNED,		/* the aligned block around it, holes left out          */
	WINDOW_HOLE,		/* ... up to the first hole (2.2 to 2.6)                */
	WINDOW_PATTERN,		/* where the faults are going (mm/swap/pattern.c)       */
	WINDOW_22,		/* ... or slot under I/O, as 2.2 read (readahead_22.c)  */
	READ_WINDOWS
};

enum {
	READAHEAD_MAX = 64,	/* pages */
	READAHEAD_BY_RAM = 0,	/* Linux 2.4: 8, with less than 16 MiB 4 */
	READAHEAD_BY_RAM_22 = READAHEAD_MAX + 1, /* 2.2: 16, below 32 MiB 8, below 16 MiB 4 */
};

struct swap_rules {
	uint32_t	 cluster;	/* swap.cluster=: slots of a run       */
	uint32_t	 readahead;	/* swap.readahead=: pages of a window  */
	bool		 readahead_limit;/* swap.readahead_limit=: none while free frames
					 * are below the mean of low and high  */
	uint32_t	 in_flight;	/* swap pages under way before one is waited for; 0: no limit */
	bool		 write_ends_first; /* a fault on a page that is being written waits */
	bool		 steal;		/* swap.steal=: see mm/swap/steal.c    */
	enum slot_rule	 free;
	enum slot_search search;
	enum read_window window;
};
extern struct swap_rules swap_rules;	/* in force; constant after boot */

/* Those of `era`, but for what the command line says. Once, before areas are made. */
void swap_rules_init(const struct swap_rules *era);
/* A page came back, and this PTE is its only user: does the slot go now? */
bool swap_rule_frees(enum slot_use use);

#endif

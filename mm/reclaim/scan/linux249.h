/* Inside mm/reclaim/: the two files of reclaim=2.4.9 (docs/history.md 3.1). */
#ifndef MM_RECLAIM_LINUX249_H
#define MM_RECLAIM_LINUX249_H

#include "mm/reclaim/policies.h"

enum {
	LINUX249_PRIORITY = 6,		/* DEF_PRIORITY: a part of 1/64 */
	AGE_START = 2,			/* of a page that is new */
};

/* For whom reclaim works, and what came of it. */
struct linux249_round {
	bool kswapd;
	bool moved;			/* a page came nearer to its end: aged, inactive, written */
};

/* ---- linux249_lists.c ---- */

/* Look at the PTEs of some mms: of the running thread's first. Takes spinlocks; lets others run. */
void linux249_swap_out(void);
/* Age a part of the active pages; those that are old and unmapped become inactive. */
void linux249_refill(struct linux249_round *r);
/* Write, or call clean, a part of the inactive pages. Sleeps for a bio. */
void linux249_launder(struct linux249_round *r);
/* Free the oldest clean page of `z`. False: there is none. Never sleeps. */
bool linux249_reclaim_page(struct zone *z, bool kswapd);

/* ---- linux249.c ---- */

/* One more page was wanted, or had: docs/history.md 3.1. */
void linux249_press(void);

#endif

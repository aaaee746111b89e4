/* The parts of reclaim=2.2 (linux22.c). Each step is a page of progress, or false: none. */
#ifndef MM_RECLAIM_LINUX22_H
#define MM_RECLAIM_LINUX22_H

#include "mm/reclaim.h"

enum { LINUX22_IN_FLIGHT = 32 };	/* SWAP_CLUSTER_MAX: swap pages under way unwaited */

bool linux22_clock(struct scan_control *sc);		/* clock22.c */
bool linux22_objects_out(struct scan_control *sc);
bool linux22_swap_out(struct scan_control *sc);		/* swapout22.c */
/* Write `p`, locked, mapped by nobody and in the swap cache, now; drops the caller's reference.
 * False: it must leave its slot and there is no other. Sleeps. */
bool linux22_write(struct page *p);

#endif

/* The map of all slots at a moment, for the host: swap.map=oom,SECONDS,... */
#ifndef MM_SWAP_MAP_H
#define MM_SWAP_MAP_H

#include "kernel/types.h"

/* Read the parameter; words that are neither are refused in the log. Before the clock runs. */
void swap_map_init(void);
/* Is a map wanted when somebody is killed for want of memory? */
bool swap_map_at_oom(void);
/* The first moment after `after` at which a map is wanted; `never` if there is none. */
ns_t swap_map_due(ns_t after, ns_t never);
/* Write the map to port 0xE9 (docs/formats.md, "While the machine runs"). Allocates nothing.
 * False, and nothing was written: the running thread holds a spinlock, so that something may be
 * half changed. Interrupts off. */
bool swap_map_write(const char *cause);

#endif

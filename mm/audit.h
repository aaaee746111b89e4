/* The audit: frames, PTEs, reverse map, LRU lists, slots and caches agree. */
#ifndef MM_AUDIT_H
#define MM_AUDIT_H

#include "kernel/types.h"

/* Run every check; prints one line "INV name.N: sentence: figures" for each violation.
 * Returns how many. The kernel doesn't switch threads meanwhile. */
unsigned audit(void);
/* For checks: count and print one. */
unsigned audit_violation(const char *invariant, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Break the n-th invariant of a table on purpose, for the tests of the audit. 0, 1 (nothing
 * there to break), or -1 (no such one). The machine is not to be trusted afterwards. */
int audit_break(unsigned n);
struct abi_memory;
void mm_memory_info(struct abi_memory *m);
void mm_init(void);			/* objects, zero page, reclaim; after frame_init() */

#endif

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
/* Break an invariant on purpose, for the tests of the audit: `n` counts through the
 * list (kernel/breakage.h). OK, -EINVAL if there is no such one, -ENOENT if there
 * is nothing to break just now. The machine isn't trusted afterwards. */
int audit_break(unsigned n);
/* Lose something on purpose (LOSE_*), for the tests of the leak detector. OK, -EINVAL,
 * -ENOMEM. Sleeps. */
int memory_lose(unsigned what);

struct abi_memory;
struct abi_frame;
/* What the frames [0, count) are used for, and whose they are as far as page tables and objects
 * tell; mm/frame_info.c. Never sleeps. */
void frames_describe(struct abi_frame *rows, uint32_t count);
/* The pages of `o` that are nobody's so far are `owner`'s. */
struct object;
void frames_of_object(struct abi_frame *rows, uint32_t count, struct object *o, int32_t owner);
void mm_memory_info(struct abi_memory *m);
void mm_init(void);			/* objects, zero page, reclaim; after frame_init() */

#endif

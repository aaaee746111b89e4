/* Allocations that fail on purpose, so that tests walk every error path of the kernel. */
#ifndef MM_ALLOC_FAIL_H
#define MM_ALLOC_FAIL_H

#include "kernel/types.h"

/* The so many'th allocation from now on, of frames or of an object of a slab, by any thread,
 * finds no memory; then all is as before. 0: none does. */
extern uint32_t alloc_fail_in;

/* Is this the one? Asked by each allocation, once. */
static inline bool alloc_fails(void)
{
	return alloc_fail_in > 0 && --alloc_fail_in == 0;
}

/* Set it; returns how many were still to come before: 0 if the last one has failed. */
uint32_t alloc_fail_set(uint32_t n);

#endif

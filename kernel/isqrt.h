/* The integer square root. */
#ifndef KERNEL_ISQRT_H
#define KERNEL_ISQRT_H

#include "kernel/types.h"

/* The largest number whose square is at most `n`. */
static inline uint32_t isqrt(uint32_t n)
{
	uint32_t root = 0;

	for (uint32_t bit = 1u << 15; bit; bit >>= 1)
		if ((root + bit) * (root + bit) <= n)
			root += bit;
	return root;
}

#endif

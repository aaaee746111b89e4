/* The linear map: the kernel sees all of RAM below 896 MiB at KERNEL_BASE. The host tests
 * have a header of their own in its place, where RAM is an arena. */
#ifndef MM_LINEAR_H
#define MM_LINEAR_H

#include "kernel/types.h"

#define KERNEL_BASE	0xc0000000u

/* Where the kernel sees physical address `pa`, and back. */
static inline void *paddr_address(paddr_t pa)
{
	return (void *)(uintptr_t)(KERNEL_BASE + pa);
}

static inline paddr_t address_paddr(const void *kernel_address)
{
	return (paddr_t)(uintptr_t)kernel_address - KERNEL_BASE;
}

#endif

/* Host shim of mm/linear.h: RAM is an arena, made by shim_ram(). */
#ifndef MM_LINEAR_H
#define MM_LINEAR_H

#include "kernel/types.h"

#define KERNEL_BASE	0xc0000000u

extern char *shim_arena;

static inline void *paddr_address(paddr_t pa)
{
	return shim_arena + pa;
}

static inline paddr_t address_paddr(const void *kernel_address)
{
	return (paddr_t)((const char *)kernel_address - shim_arena);
}

#endif

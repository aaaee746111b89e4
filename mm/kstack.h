/* Where kernel stacks lie; shared by mm/kernel_map.c, which makes their page tables,
 * and mm/kstack.c, which fills them. */
#ifndef MM_KSTACK_H
#define MM_KSTACK_H

#include "kernel/types.h"

#define KSTACK_BASE	0xf8000000u
enum {
	KSTACK_SPACING	       = 16 << 10,	/* the lower part of each is a hole */
	KSTACKS_PER_TABLE      = (4 << 20) / KSTACK_SPACING,
	KSTACK_TABLES_MAX      = 4,
};

/* Page tables for stacks on a machine whose RAM ends at `ram_end`: 256 stacks below
 * 32 MiB, 1024 above. */
unsigned kstack_tables(paddr_t ram_end);

#endif

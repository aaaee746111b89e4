/* What the boot loader told us, copied out of its memory before anything overwrites it. */
#ifndef KERNEL_BOOT_H
#define KERNEL_BOOT_H

#include "kernel/types.h"
#include "mm/frame.h"

enum { BOOT_RAM_MAX = 32, BOOT_MODULES_MAX = 4, BOOT_CMDLINE_BYTES = 1024 };

struct boot_module {
	paddr_t start, end;		/* [start, end), start page aligned */
};

struct boot_info {
	struct ram_range   ram[BOOT_RAM_MAX];	/* sorted, page aligned, without overlaps,
						 * below 896 MiB */
	unsigned	   ram_count;
	struct boot_module modules[BOOT_MODULES_MAX];
	unsigned	   module_count;
	char		   cmdline[BOOT_CMDLINE_BYTES];	/* without the kernel's file name */
	paddr_t		   kernel_start, kernel_end;
	paddr_t		   first_free;	/* behind kernel, modules and early page tables */
};
extern struct boot_info boot;

/* Copy what the loader left at physical address `info` into `boot`. */
void boot_read(uint32_t magic, paddr_t info);
/* A frame for a page table, before frame_init(): moves first_free. Panics if none. */
paddr_t boot_frame_alloc(void);
/* The frame at `at`, seen through a window of one page until the next call. For the
 * time before the linear map is complete. */
void *boot_window(paddr_t at);

#endif

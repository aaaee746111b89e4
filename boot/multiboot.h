/* What a multiboot 1 loader leaves: the Multiboot Specification 0.6.96, section 3.3. */
#ifndef BOOT_MULTIBOOT_H
#define BOOT_MULTIBOOT_H

#include "kernel/types.h"

#define MULTIBOOT_LOADER_MAGIC 0x2badb002u

enum multiboot_flag {
	MULTIBOOT_HAS_MEM     = BIT(0), MULTIBOOT_HAS_CMDLINE = BIT(2),
	MULTIBOOT_HAS_MODULES = BIT(3), MULTIBOOT_HAS_MMAP    = BIT(6),
};

struct multiboot_info {
	uint32_t flags;
	uint32_t mem_lower, mem_upper;		/* KiB from 0, KiB from 1 MiB */
	uint32_t boot_device;
	uint32_t cmdline;
	uint32_t mods_count, mods_addr;
	uint32_t syms[4];
	uint32_t mmap_length, mmap_addr;
};

struct multiboot_module {
	uint32_t start, end, string, reserved;
};

enum { MULTIBOOT_RAM = 1 };			/* any other type is not for us */
struct multiboot_mmap_entry {
	uint32_t size;				/* of what follows */
	uint64_t base, length;
	uint32_t type;
} __attribute__((packed));

#endif

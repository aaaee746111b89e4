/* What the kernel needs of ELF for its one program. Figures: System V ABI, "Object
 * Files", and its i386 supplement. */
#ifndef KERNEL_ELF_H
#define KERNEL_ELF_H

#include "kernel/types.h"

struct elf_header {
	uint8_t	 ident[16];
	uint16_t type, machine;
	uint32_t version, entry;
	uint32_t program_offset, section_offset;
	uint32_t flags;
	uint16_t header_bytes, program_bytes, program_count;
	uint16_t section_bytes, section_count, section_names;
};
_Static_assert(sizeof(struct elf_header) == 52, "ELF32");

struct elf_segment {
	uint32_t type, offset, address, physical;
	uint32_t file_bytes, memory_bytes;
	uint32_t flags, align;
};
_Static_assert(sizeof(struct elf_segment) == 32, "ELF32");

enum {
	ELF_CLASS = 4, ELF_DATA = 5, ELF_VERSION = 6,	/* indices in ident */
	ELF_CLASS_32 = 1, ELF_DATA_LITTLE = 1, ELF_VERSION_CURRENT = 1,
	ELF_TYPE_EXEC = 2, ELF_MACHINE_386 = 3,
	ELF_SEGMENT_LOAD = 1,
	ELF_FLAG_EXEC = 1, ELF_FLAG_WRITE = 2, ELF_FLAG_READ = 4,
};

#endif

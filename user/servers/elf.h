/* Programs: the part of ELF that Clockhand loads. */
#ifndef SERVERS_ELF_H
#define SERVERS_ELF_H

#include <stdint.h>

enum { ELF_SEGMENTS_MAX = 8 };

struct elf_segment {
	uint32_t address, bytes;	/* in memory, not rounded */
	uint32_t offset, file_bytes;	/* in the file */
	uint32_t prot;			/* PROT_* */
};

struct elf_program {
	uint32_t entry;
	uint32_t end;			/* first page after the last segment */
	unsigned count;
	struct elf_segment segments[ELF_SEGMENTS_MAX];
};

/* Segments may lie in [ELF_LOWEST, ELF_HIGHEST): above page 0, below mmap's. */
#define ELF_LOWEST	0x00001000u
#define ELF_HIGHEST	0x40000000u

/*
 * Read and check the headers of a program of `bytes` bytes, whose first `have` are
 * at `head` (4-byte aligned) and hold all headers: static, i386,
 * little-endian, loadable segments in rising order that share no page, lie in the
 * file and in the bounds above; only writable ones may be longer in memory than in
 * the file; the entry lies in an executable one. OK or -ENOEXEC. Pure.
 */
int elf_check(struct elf_program *out, const void *head, uint32_t have, uint32_t bytes);

#endif

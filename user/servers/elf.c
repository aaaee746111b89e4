/* Reading ELF headers: nothing in the file is believed before it is checked.
 * Layout: System V ABI, "Object Files" and its Intel386 supplement. */
#include <string.h>
#include "kernel/abi/errno.h"
#include "kernel/abi/mman.h"
#include "user/servers/elf.h"

#define PAGE		4096u
#define PAGE_DOWN(a)	((a) & ~(PAGE - 1))
#define PAGE_UP(a)	PAGE_DOWN((a) + PAGE - 1)

struct elf_header {
	uint8_t	 ident[16];
	uint16_t type, machine;
	uint32_t version, entry, phoff, shoff, flags;
	uint16_t ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};

struct elf_phdr {
	uint32_t type, offset, vaddr, paddr, filesz, memsz, flags, align;
};

enum {
	ET_EXEC = 2, EM_386 = 3, PHNUM_MAX = 16,
	PT_LOAD = 1, PT_DYNAMIC = 2, PT_INTERP = 3,
	PF_X = 1, PF_W = 2, PF_R = 4,
};

static int header_ok(const struct elf_header *h, uint32_t have)
{
	static const uint8_t ident[7] = { 0x7f, 'E', 'L', 'F', 1, 1, 1 };

	return memcmp(h->ident, ident, sizeof(ident)) == 0 &&
		h->type == ET_EXEC && h->machine == EM_386 && h->version == 1 &&
		h->phentsize == sizeof(struct elf_phdr) &&
		h->phnum > 0 && h->phnum <= PHNUM_MAX && h->phoff % 4 == 0 &&
		h->phoff <= have && h->phnum * sizeof(struct elf_phdr) <= have - h->phoff;
}

static uint32_t prot_of(uint32_t flags)
{
	return (flags & PF_R ? PROT_READ : 0) | (flags & PF_W ? PROT_WRITE : 0) |
		(flags & PF_X ? PROT_EXEC : 0);
}

/* Check one PT_LOAD against the file and against what lies before it. */
static int segment_add(struct elf_program *p, const struct elf_phdr *ph, uint32_t bytes)
{
	struct elf_segment *s = &p->segments[p->count];

	if (ph->memsz == 0)
		return OK;
	if (p->count == ELF_SEGMENTS_MAX || ph->filesz > ph->memsz ||
	    ph->offset > bytes || ph->filesz > bytes - ph->offset)
		return -ENOEXEC;
	if (ph->vaddr < ELF_LOWEST || ph->vaddr >= ELF_HIGHEST ||
	    ph->memsz > ELF_HIGHEST - ph->vaddr || PAGE_DOWN(ph->vaddr) < p->end)
		return -ENOEXEC;
	if (!(ph->flags & PF_W) &&
	    (ph->memsz != ph->filesz || (ph->vaddr - ph->offset) % PAGE != 0))
		return -ENOEXEC;
	s->address = ph->vaddr;
	s->bytes = ph->memsz;
	s->offset = ph->offset;
	s->file_bytes = ph->filesz;
	s->prot = prot_of(ph->flags);
	p->end = PAGE_UP(ph->vaddr + ph->memsz);
	p->count++;
	return OK;
}

static int entry_ok(const struct elf_program *p)
{
	for (unsigned i = 0; i < p->count; i++) {
		const struct elf_segment *s = &p->segments[i];

		if ((s->prot & PROT_EXEC) && p->entry >= s->address &&
		    p->entry - s->address < s->bytes)
			return 1;
	}
	return 0;
}

int elf_check(struct elf_program *out, const void *head, uint32_t have, uint32_t bytes)
{
	const struct elf_header *h = head;
	const struct elf_phdr *ph;

	memset(out, 0, sizeof(*out));
	if (have < sizeof(*h) || have > bytes || !header_ok(h, have))
		return -ENOEXEC;
	ph = (const struct elf_phdr *)((const char *)head + h->phoff);
	for (unsigned i = 0; i < h->phnum; i++) {
		int error = OK;

		if (ph[i].type == PT_DYNAMIC || ph[i].type == PT_INTERP)
			error = -ENOEXEC;
		else if (ph[i].type == PT_LOAD)
			error = segment_add(out, &ph[i], bytes);
		if (error != OK)
			return error;
	}
	out->entry = h->entry;
	return entry_ok(out) ? OK : -ENOEXEC;
}

/*
 * The ELF headers that proc accepts, and thousands that were damaged at random: what is
 * accepted must keep the promises of elf.h.
 * links: user/servers/elf.c
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kernel/abi/errno.h"
#include "kernel/abi/mman.h"
#include "user/servers/elf.h"

enum { PAGE = 4096, FILE_BYTES = 3 * PAGE, ROUNDS = 200000 };

static uint32_t image[PAGE / 4];
static int cases, failed;

static void tap(int ok, const char *name, const char *text)
{
	cases++;
	failed += !ok;
	printf("%sok %d %s  %s\n", ok ? "" : "not ", cases, name, text);
}

static void put16(unsigned at, uint16_t v) { memcpy((char *)image + at, &v, 2); }
static void put32(unsigned at, uint32_t v) { memcpy((char *)image + at, &v, 4); }

static void put_segment(unsigned n, uint32_t offset, uint32_t vaddr, uint32_t filesz,
			uint32_t memsz, uint32_t flags)
{
	uint32_t ph[8] = { 1, offset, vaddr, vaddr, filesz, memsz, flags, PAGE };

	memcpy((char *)image + 52 + 32 * n, ph, sizeof(ph));
}

/* A program as ours are: text with the headers, then data and bss. */
static void good_image(void)
{
	memset(image, 0, sizeof(image));
	memcpy(image, "\177ELF\1\1\1", 7);
	put16(16, 2), put16(18, 3), put32(20, 1);
	put32(24, 0x08048100), put32(28, 52);
	put16(40, 52), put16(42, 32), put16(44, 2);
	put_segment(0, 0, 0x08048000, 0x1800, 0x1800, 5);
	put_segment(1, 0x1800, 0x0804a800, 0x400, 0x2000, 6);
}

static int check(struct elf_program *p)
{
	return elf_check(p, image, PAGE, FILE_BYTES);
}

/* Does an accepted program keep what elf.h says? */
static int promises_kept(const struct elf_program *p)
{
	uint32_t floor = ELF_LOWEST;

	if (p->count == 0 || p->count > ELF_SEGMENTS_MAX)
		return 0;
	for (unsigned i = 0; i < p->count; i++) {
		const struct elf_segment *s = &p->segments[i];

		if ((s->address & ~0xfffu) < floor || s->bytes == 0 ||
		    (uint64_t)s->address + s->bytes > ELF_HIGHEST ||
		    s->file_bytes > s->bytes || (uint64_t)s->offset + s->file_bytes > FILE_BYTES)
			return 0;
		if (!(s->prot & PROT_WRITE) && (s->file_bytes != s->bytes ||
						(s->address - s->offset) % PAGE != 0))
			return 0;
		floor = (s->address + s->bytes + PAGE - 1) & ~0xfffu;
	}
	return p->end == floor;
}

static int refused(void)
{
	struct elf_program p;

	return check(&p) == -ENOEXEC;
}

static void single_faults(void)
{
	static const struct { unsigned at; uint32_t value; const char *name, *text; } faults[] = {
		{ 0, 0x46454c7e, "host-elf-02", "another magic" },
		{ 16, 0x00030003, "host-elf-03", "a shared object" },
		{ 18, 0x003e, "host-elf-04", "another machine" },
		{ 28, 0x7ffffffc, "host-elf-05", "headers behind the file" },
		{ 24, 0x0804b000, "host-elf-06", "an entry in the data" },
		{ 52 + 8, 0, "host-elf-07", "text at page 0" },
		{ 52 + 16, 0x4000, "host-elf-08", "text longer than the file" },
		{ 52 + 4, 0xfffff000, "host-elf-09", "an offset that wraps" },
		{ 84 + 8, 0x08049800, "host-elf-10", "segments that share a page" },
		{ 84 + 20, 0xf8000000, "host-elf-11", "bss into the kernel" },
		{ 84 + 0, 3, "host-elf-12", "an interpreter" },
	};

	for (unsigned i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		good_image();
		put32(faults[i].at, faults[i].value);
		tap(refused(), faults[i].name, faults[i].text);
	}
}

int main(void)
{
	const char *seed = getenv("SEED");
	struct elf_program p;
	int kept = 1, accepted = 0;

	good_image();
	tap(check(&p) == OK && p.count == 2 && p.end == 0x0804d000 && promises_kept(&p),
	    "host-elf-01", "a program as ours are is accepted");
	single_faults();
	srand(seed ? (unsigned)atoi(seed) : 1);
	for (int i = 0; i < ROUNDS; i++) {
		good_image();
		for (int n = rand() % 4; n >= 0; n--)
			put32((unsigned)rand() % 116 & ~3u, (uint32_t)rand() << (rand() % 20) & -1u);
		if (check(&p) == OK) {
			accepted++;
			kept &= promises_kept(&p);
		}
	}
	tap(kept && accepted > 0, "host-elf-13", "damaged headers: what is accepted is sound");
	printf("1..%d\n", cases);
	return failed != 0;
}

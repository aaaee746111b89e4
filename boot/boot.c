/*
 * Copies what the loader left into struct boot_info, before anything is allocated:
 * memory, modules, command line. The loader's structures may lie anywhere below 4 GiB;
 * they are read through boot_window(), because only the first 4 MiB are mapped.
 *
 * boot.1  ranges in boot.ram are sorted, page aligned, don't overlap or touch, and lie
 *         in [4 KiB, 896 MiB)
 * boot.2  first_free is page aligned and lies behind the kernel, every module, and
 *         every frame that boot_frame_alloc() gave
 */
#include "boot/multiboot.h"
#include "kernel/boot.h"
#include "kernel/panic.h"
#include "kernel/printk.h"
#include "kernel/string.h"

enum {
	RAM_START = PAGE_SIZE,		/* frame 0 holds the BIOS's interrupt table */
	RAM_LIMIT = 896 << 20,		/* what the linear map has room for */
	LOW_END = 640 << 10, HIGH_START = 1 << 20,
	MMAP_ENTRIES_MAX = 256,
};

extern char image_start[], image_end[];

struct boot_info boot;

static paddr_t image_paddr(const char *symbol)
{
	return (paddr_t)(uintptr_t)symbol - KERNEL_BASE;
}

/* Copy n bytes of physical memory. */
static void phys_read(void *to, paddr_t from, size_t n)
{
	while (n != 0) {
		size_t piece = MIN(n, (size_t)(PAGE_SIZE - (from & ~PAGE_MASK)));

		memcpy(to, boot_window(from), piece);
		to = (char *)to + piece;
		from += piece;
		n -= piece;
	}
}

/* ---- RAM ---- */

static void ram_insert_at(unsigned i, paddr_t start, paddr_t end)
{
	if (boot.ram_count == BOOT_RAM_MAX) {
		printk("boot: more than %u ranges of RAM; [%#x, %#x) is left out\n",
		       BOOT_RAM_MAX, start, end);
		return;
	}
	memmove(&boot.ram[i + 1], &boot.ram[i], (boot.ram_count - i) * sizeof(boot.ram[0]));
	boot.ram[i] = (struct ram_range){ start, end };
	boot.ram_count++;
}

static void ram_remove_at(unsigned i)
{
	boot.ram_count--;
	memmove(&boot.ram[i], &boot.ram[i + 1], (boot.ram_count - i) * sizeof(boot.ram[0]));
}

/* Enter [start, end), merged with what it touches (boot.1). */
static void ram_add(paddr_t start, paddr_t end)
{
	unsigned i = 0;

	while (i < boot.ram_count && boot.ram[i].end < start)
		i++;
	while (i < boot.ram_count && boot.ram[i].start <= end) {
		start = MIN(start, boot.ram[i].start);
		end = MAX(end, boot.ram[i].end);
		ram_remove_at(i);
	}
	ram_insert_at(i, start, end);
}

/* Take [start, end) out of all ranges. From the last one down: what is inserted or
 * removed at i moves only those that were looked at. */
static void ram_cut(paddr_t start, paddr_t end)
{
	for (unsigned i = boot.ram_count; i-- > 0;) {
		struct ram_range r = boot.ram[i];

		if (r.end <= start || r.start >= end)
			continue;
		ram_remove_at(i);
		if (r.end > end)
			ram_insert_at(i, end, r.end);
		if (r.start < start)
			ram_insert_at(i, r.start, start);
	}
}

/* The loader says that `length` bytes at `base` are RAM, or are not. RAM shrinks to
 * whole pages, holes grow to them. Returns the bytes above our limit. */
static uint64_t ram_entry(uint64_t base, uint64_t length, bool usable)
{
	uint64_t end = base + length, lost = 0;

	if (end < base)
		end = UINT64_MAX;
	if (usable && end > RAM_LIMIT)
		lost = end - MAX(base, (uint64_t)RAM_LIMIT);
	base = CLAMP(base, (uint64_t)RAM_START, (uint64_t)RAM_LIMIT);
	end = CLAMP(end, (uint64_t)RAM_START, (uint64_t)RAM_LIMIT);
	if (usable && PAGE_UP((paddr_t)base) < PAGE_DOWN((paddr_t)end))
		ram_add(PAGE_UP((paddr_t)base), PAGE_DOWN((paddr_t)end));
	else if (!usable && base < end)
		ram_cut(PAGE_DOWN((paddr_t)base), PAGE_UP((paddr_t)end));
	return lost;
}

/* One pass over the loader's map: RAM first, then the holes, which win. */
static uint64_t ram_pass(const struct multiboot_info *mb, bool usable)
{
	struct multiboot_mmap_entry e;
	uint64_t lost = 0;
	paddr_t at = mb->mmap_addr;

	for (unsigned i = 0; i < MMAP_ENTRIES_MAX &&
	     at - mb->mmap_addr + sizeof(e) <= mb->mmap_length; i++) {
		phys_read(&e, at, sizeof(e));
		if ((e.type == MULTIBOOT_RAM) == usable)
			lost += ram_entry(e.base, e.length, usable);
		at += e.size + sizeof(e.size);
	}
	return lost;
}

static void read_ram(const struct multiboot_info *mb)
{
	uint64_t lost = 0;

	if (mb->flags & MULTIBOOT_HAS_MMAP) {
		lost = ram_pass(mb, true);
		ram_pass(mb, false);
	} else if (mb->flags & MULTIBOOT_HAS_MEM) {
		ram_entry(0, MIN(mb->mem_lower << 10, (uint32_t)LOW_END), true);
		lost = ram_entry(HIGH_START, (uint64_t)mb->mem_upper << 10, true);
	}
	if (boot.ram_count == 0)
		panic("the boot loader told us of no memory (multiboot flags %#x)", mb->flags);
	for (unsigned i = 1; i < boot.ram_count; i++)
		KASSERT2(boot.ram[i - 1].end < boot.ram[i].start, "boot.1",
			 boot.ram[i - 1].end, boot.ram[i].start);
	if (lost != 0)
		printk("boot: %u MiB of RAM lie above 896 MiB and are not used\n",
		       (unsigned)(lost >> 20));
}

/* ---- Modules and command line ---- */

static void read_modules(const struct multiboot_info *mb)
{
	struct multiboot_module m;

	if (!(mb->flags & MULTIBOOT_HAS_MODULES))
		return;
	for (uint32_t i = 0; i < mb->mods_count; i++) {
		if (i == BOOT_MODULES_MAX) {
			printk("boot: only the first %u modules are used\n", BOOT_MODULES_MAX);
			break;
		}
		phys_read(&m, mb->mods_addr + i * sizeof(m), sizeof(m));
		boot.first_free = MAX(boot.first_free, PAGE_UP(m.end));
		if (m.start & ~PAGE_MASK)
			panic("boot module %u begins at %#x, not on a page", i, m.start);
		boot.modules[boot.module_count++] = (struct boot_module){ m.start, m.end };
	}
}

/* QEMU's -kernel passes "FILE words", GRUB may pass the path or not: a first word
 * without '=' is a file name. */
static void read_cmdline(const struct multiboot_info *mb)
{
	char *text = boot.cmdline;
	size_t n = 0, first;

	if (!(mb->flags & MULTIBOOT_HAS_CMDLINE))
		return;
	do
		phys_read(&text[n], mb->cmdline + n, 1);
	while (text[n] != 0 && ++n < BOOT_CMDLINE_BYTES - 1);
	if (text[n] != 0)
		printk("boot: the command line is cut to %u characters\n", (unsigned)n);
	text[n] = 0;

	for (first = 0; text[first] != 0 && text[first] != ' '; first++)
		if (text[first] == '=')
			return;
	while (text[first] == ' ')
		first++;
	memmove(text, text + first, n - first + 1);
}

void boot_read(uint32_t magic, paddr_t info)
{
	struct multiboot_info mb;

	if (magic != MULTIBOOT_LOADER_MAGIC)
		panic("not started by a multiboot loader: magic %#x", magic);
	phys_read(&mb, info, sizeof(mb));
	boot.kernel_start = image_paddr(image_start);
	boot.kernel_end = image_paddr(image_end);
	boot.first_free = boot.kernel_end;
	read_cmdline(&mb);
	read_modules(&mb);
	read_ram(&mb);
}

paddr_t boot_frame_alloc(void)
{
	for (unsigned i = 0; i < boot.ram_count; i++) {
		paddr_t at = MAX(boot.first_free, boot.ram[i].start);

		if (at + PAGE_SIZE <= boot.ram[i].end) {
			boot.first_free = at + PAGE_SIZE;
			return at;
		}
	}
	panic("no memory behind the kernel and its modules, which end at %#x",
	      boot.first_free);
}

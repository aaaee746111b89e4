/*
 * What a loader may leave: memory maps with holes, overlaps and nonsense, no map at all,
 * modules, command lines. The map is compared with one bit a page, worked out apart.
 * links: boot/boot.c mm/frame.c mm/page.c
 */
#include <stdlib.h>
#include <string.h>

#include "boot/multiboot.h"
#include "kernel/boot.h"
#include "shim.h"

enum {
	LOADER_BYTES = 64 << 10,	/* the loader's structures lie in these */
	INFO = 0x1ff0,			/* across a page's end, as everything below */
	MAP = 0x2ff4, MODULES = 0x4ff8, LINE = 0x5ffa,
	ENTRY_EXTRA = 4,		/* entries may be longer than we know */
	LIMIT_PAGES = 896 << 8,
};

/* Where the host's linker puts them means nothing. */
char image_start[1] __attribute__((aligned(4096))), image_end[1] __attribute__((aligned(4096)));

static char loader[LOADER_BYTES];
static struct multiboot_info mb;
static uint32_t map_bytes;
static uint8_t truth[LIMIT_PAGES];

/* As the kernel's, it shows the one page. */
void *boot_window(paddr_t at)
{
	CHECK(at < LOADER_BYTES);
	return loader + at % LOADER_BYTES;
}

static void fresh(void)
{
	memset(&boot, 0, sizeof(boot));
	memset(&mb, 0, sizeof(mb));
	memset(loader, 0x5a, sizeof(loader));
	map_bytes = 0;
}

static void map_entry(uint64_t base, uint64_t length, uint32_t type)
{
	struct multiboot_mmap_entry e = {
		.size = sizeof(e) - sizeof(e.size) + ENTRY_EXTRA,
		.base = base, .length = length, .type = type,
	};

	memcpy(loader + MAP + map_bytes, &e, sizeof(e));
	map_bytes += sizeof(e) + ENTRY_EXTRA;
	mb.flags |= MULTIBOOT_HAS_MMAP;
	mb.mmap_addr = MAP;
	mb.mmap_length = map_bytes;
}

static void command_line(const char *text)
{
	strcpy(loader + LINE, text);
	mb.flags |= MULTIBOOT_HAS_CMDLINE;
	mb.cmdline = LINE;
}

static void read_it(void)
{
	memcpy(loader + INFO, &mb, sizeof(mb));
	boot_read(MULTIBOOT_LOADER_MAGIC, INFO);
}

static bool range_is(unsigned i, paddr_t start, paddr_t end)
{
	return i < boot.ram_count && boot.ram[i].start == start && boot.ram[i].end == end;
}

static void test_maps(void)
{
	fresh();
	map_entry(0, 0x9fc00, 1);
	map_entry(0x9fc00, 0x400, 2);
	map_entry(0x100000, 0x3ee0000, 1);
	map_entry(0xfffc0000u, 0x40000, 2);
	read_it();
	CHECK(boot.ram_count == 2 && range_is(0, 0x1000, 0x9f000) && range_is(1, 0x100000, 0x3fe0000));
	tap_checks("boot-map-01", "a PC's map: pages only, the first one left out");

	fresh();
	map_entry(0xf00000, 0x100000, 2);
	map_entry(0x100000, 0x4000000, 1);
	map_entry(0x2000800, 0x800, 3);
	read_it();
	CHECK(boot.ram_count == 3 && range_is(0, 0x100000, 0xf00000));
	CHECK(range_is(1, 0x1000000, 0x2000000) && range_is(2, 0x2001000, 0x4100000));
	tap_checks("boot-map-02", "holes win over the RAM around them, whole pages of them");

	fresh();
	map_entry(0x100000, 0x20000000, 1);
	map_entry(0x30000000, 0x20000000, 1);
	map_entry(0x100000000ull, 0x40000000, 1);
	read_it();
	CHECK(boot.ram_count == 2 && range_is(1, 0x30000000, 896u << 20));
	tap_checks("boot-map-03", "what lies above 896 MiB is left alone");

	fresh();
	map_entry(0x100000, 0x400000, 1);
	map_entry(0xfffffffffffff000ull, 0x2000, 1);
	map_entry(0x200000, 0, 2);
	map_entry(0x300100, 0x100, 1);
	read_it();
	CHECK(boot.ram_count == 1 && range_is(0, 0x100000, 0x500000));
	tap_checks("boot-map-04", "entries that wrap, are empty or less than a page do no harm");
}

static void test_without_map(void)
{
	fresh();
	mb.flags = MULTIBOOT_HAS_MEM;
	mb.mem_lower = 639;
	mb.mem_upper = 15 * 1024 + 3;
	read_it();
	CHECK(boot.ram_count == 2 && range_is(0, 0x1000, 0x9f000) && range_is(1, 0x100000, 0x1000000));
	tap_checks("boot-mem-01", "without a map mem_lower and mem_upper count, the hole at 640 KiB stays");

	fresh();
	mb.flags = MULTIBOOT_HAS_MEM;
	mb.mem_lower = 0xffffffff;
	mb.mem_upper = 0xffffffff;
	read_it();
	CHECK(boot.ram_count == 2 && boot.ram[0].end <= 640u << 10 && range_is(1, 0x100000, 896u << 20));
	tap_checks("boot-mem-02", "huge figures reach no further than the hole and the limit");
}

/* Set the pages of [base, base + length) in `truth` to `value`, rounded as the rule says. */
static void truth_set(uint64_t base, uint64_t length, bool usable)
{
	uint64_t first = usable ? (base + PAGE_SIZE - 1) / PAGE_SIZE : base / PAGE_SIZE;
	uint64_t end = usable ? (base + length) / PAGE_SIZE : (base + length + PAGE_SIZE - 1) / PAGE_SIZE;

	if (length == 0)
		return;
	for (uint64_t i = first; i < end && i < LIMIT_PAGES; i++)
		truth[i] = usable;
}

static void test_random(void)
{
	enum { ENTRIES = 12, UNIT = 1 << 10 };
	struct { uint64_t base, length; uint32_t type; } e[ENTRIES];

	for (unsigned round = 0; round < 2000; round++) {
		unsigned pages = 0;

		fresh();
		memset(truth, 0, sizeof(truth));
		for (unsigned i = 0; i < ENTRIES; i++) {
			e[i].base = (uint64_t)shim_random(2000) * UNIT;
			e[i].length = (uint64_t)shim_random(400) * UNIT;
			e[i].type = i == 0 ? 1 : 1 + shim_random(3);
			map_entry(e[i].base, e[i].length, e[i].type);
		}
		map_entry(8 << 20, 1 << 20, 1);
		for (unsigned pass = 0; pass < 2; pass++)
			for (unsigned i = 0; i < ENTRIES; i++)
				if ((e[i].type == 1) == (pass == 0))
					truth_set(e[i].base, e[i].length, pass == 0);
		truth_set(8 << 20, 1 << 20, true);
		truth[0] = 0;
		read_it();
		for (unsigned i = 0; i < boot.ram_count; i++) {
			CHECK(boot.ram[i].start < boot.ram[i].end);
			CHECK(i == 0 || boot.ram[i - 1].end < boot.ram[i].start);
			for (paddr_t a = boot.ram[i].start; a < boot.ram[i].end; a += PAGE_SIZE, pages++)
				CHECK(truth[a / PAGE_SIZE]);
		}
		for (unsigned i = 0; i < LIMIT_PAGES; i++)
			pages -= truth[i];
		CHECK(pages == 0);
	}
	tap_checks("boot-map-05", "random maps agree with one bit a page");
}

static void test_words(void)
{
	static const struct { const char *given, *wanted; } lines[] = {
		{ "/boot/clockhand log=console seed=7", "log=console seed=7" },
		{ "clockhand", "" }, { "", "" }, { "lab=1 seed=2", "lab=1 seed=2" },
		{ "clockhand   overcommit=1", "overcommit=1" },
	};

	for (unsigned i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		fresh();
		map_entry(0x100000, 0x400000, 1);
		command_line(lines[i].given);
		read_it();
		CHECK(strcmp(boot.cmdline, lines[i].wanted) == 0);
	}
	tap_checks("boot-line-01", "the kernel's name is taken off the command line, if it is there");

	fresh();
	map_entry(0x100000, 0x400000, 1);
	memset(loader + LINE, 'x', 3000);
	loader[LINE + 1] = '=';
	loader[LINE + 3000] = 0;
	mb.flags |= MULTIBOOT_HAS_CMDLINE;
	mb.cmdline = LINE;
	read_it();
	CHECK(strlen(boot.cmdline) == BOOT_CMDLINE_BYTES - 1);
	tap_checks("boot-line-02", "a line that is too long is cut");
}

static void test_modules(void)
{
	struct multiboot_module m[BOOT_MODULES_MAX + 2] = { { 0 } };

	fresh();
	map_entry(0x100000, 0x4000000, 1);
	for (unsigned i = 0; i < BOOT_MODULES_MAX + 2; i++)
		m[i] = (struct multiboot_module){ 0x800000 + i * 0x10000, 0x800000 + i * 0x10000 + 0x1234, 0, 0 };
	memcpy(loader + MODULES, m, sizeof(m));
	mb.flags |= MULTIBOOT_HAS_MODULES;
	mb.mods_addr = MODULES;
	mb.mods_count = BOOT_MODULES_MAX + 2;
	read_it();
	CHECK(boot.module_count == BOOT_MODULES_MAX);
	CHECK(boot.modules[1].start == 0x810000 && boot.modules[1].end == 0x811234);
	CHECK(boot.first_free % PAGE_SIZE == 0);
	CHECK(boot.first_free >= boot.modules[BOOT_MODULES_MAX - 1].end);
	tap_checks("boot-module-01", "modules are kept, too many are told, free memory lies behind them");

	fresh();
	map_entry(0x100000, 0x100000, 1);
	map_entry(0x400000, 0x100000, 1);
	read_it();
	boot.first_free = 0x1ff000;
	CHECK(boot_frame_alloc() == 0x1ff000 && boot_frame_alloc() == 0x400000);
	CHECK(boot.first_free == 0x401000);
	tap_checks("boot-frame-01", "early frames lie in RAM, on this side of a hole and on the other");
}

/* boot.1 is asserted: ranges that overlap were there before the loader's are read. */
static void test_assertion(void)
{
	const char *words;

	fresh();
	map_entry(0x5000000, 0x100000, 1);
	boot.ram_count = 2;
	boot.ram[0] = (struct ram_range){ 0x100000, 0x400000 };
	boot.ram[1] = (struct ram_range){ 0x300000, 0x500000 };
	words = shim_panic_of(read_it);
	CHECK(words && strstr(words, "INV boot.1:"));
	tap_checks("boot-ram-01", "overlapping ranges of RAM are told with their number");
}

int main(void)
{
	shim_seed(shim_run_seed());
	test_maps();
	test_without_map();
	test_random();
	test_words();
	test_modules();
	test_assertion();
	return tap_done();
}

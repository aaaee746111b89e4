/*
 * The kernel half of every address space, made once: all of RAM at KERNEL_BASE, and
 * the page tables of the kernel stacks. Its page-directory entries never change after
 * linear_map_init(), so that each mm copies them at birth and shares the tables.
 *
 *   0xc0000000  the first 4 MiB   boot_table, 4 KiB pages: the image's text and
 *                                 constants read-only, the boot stack's guard a hole
 *   ...         the rest of RAM   4 MiB pages where the CPU has them, else tables
 *   0xf8000000  kernel stacks     tables, filled by mm/kstack.c
 *
 * Tables come from boot_frame_alloc(), before there is an allocator; they are written
 * through boot_window(), because they may lie where nothing is mapped yet. Their frames are
 * reserved for ever, like the image's.
 */
#include "kernel/boot.h"
#include "kernel/cpu.h"
#include "kernel/string.h"
#include "mm/kstack.h"
#include "mm/pgtable.h"

enum { LARGE_SHIFT = 22 };
#define LARGE_BYTES (1u << LARGE_SHIFT)

extern pte_t boot_pgdir[], boot_table[], boot_stack_guard[];
extern char text_start[], readonly_end[];

pte_t *kernel_pgdir = boot_pgdir;

static uint32_t global_bit(void)
{
	return cpu_has(CPU_PGE) ? PTE_GLOBAL : 0;
}

static unsigned table_index(uintptr_t addr)
{
	return (unsigned)(addr - KERNEL_BASE) >> PAGE_SHIFT;
}

/* Entries of boot_table: everything writable but the image's constant part. The window
 * (page 0) goes back to what it was; boot_window() is not used after this. */
static void map_first_table(void)
{
	unsigned guard = table_index((uintptr_t)boot_stack_guard);

	for (unsigned i = 0; i < TABLE_ENTRIES; i++) {
		bool readonly = i >= table_index((uintptr_t)text_start) &&
			i < table_index((uintptr_t)readonly_end);

		boot_table[i] = pte_make(i, PTE_PRESENT | global_bit() |
					 (readonly ? 0 : PTE_WRITE));
	}
	boot_table[guard] = 0;
}

/* A page table for the directory entry of `addr`, whose first `count` entries map frames
 * from `first` on; the rest is empty. */
static void make_table(uintptr_t addr, pfn_t first, unsigned count)
{
	paddr_t frame = boot_frame_alloc();
	pte_t *table = boot_window(frame);

	for (unsigned i = 0; i < TABLE_ENTRIES; i++)
		table[i] = i >= count ? 0 :
			pte_make(first + i, PTE_PRESENT | PTE_WRITE | global_bit());
	kernel_pgdir[addr >> LARGE_SHIFT] = frame | PTE_PRESENT | PTE_WRITE;
}

/* Map [LARGE_BYTES, end) of RAM. A 4 MiB page that reaches beyond RAM could cover a
 * device, so the last piece gets a table. */
static void map_rest(paddr_t end)
{
	for (paddr_t at = LARGE_BYTES; at < end; at += LARGE_BYTES) {
		uintptr_t addr = KERNEL_BASE + at;

		if (cpu_has(CPU_PSE) && end - at >= LARGE_BYTES)
			kernel_pgdir[addr >> LARGE_SHIFT] =
				at | PTE_PRESENT | PTE_WRITE | PTE_LARGE | global_bit();
		else
			make_table(addr, at >> PAGE_SHIFT,
				   MIN(end - at, LARGE_BYTES) >> PAGE_SHIFT);
	}
}

void linear_map_init(void)
{
	paddr_t end = boot.ram[boot.ram_count - 1].end;

	map_rest(end);
	for (unsigned i = 0; i < kstack_tables(end); i++)
		make_table(KSTACK_BASE + i * LARGE_BYTES, 0, 0);
	map_first_table();
	__asm__ volatile("movl %%cr3, %%eax; movl %%eax, %%cr3" : : : "eax", "memory");
}

/*
 * Physical memory before the linear map is complete: one page at a time, through a PTE
 * of the table that maps the first 4 MiB.
 */
#include "kernel/boot.h"
#include "mm/pgtable.h"

enum { WINDOW = 0 };	/* index in boot_table of the window's page */

extern pte_t boot_table[];

void *boot_window(paddr_t at)
{
	boot_table[WINDOW] = PAGE_DOWN(at) | PTE_PRESENT | PTE_WRITE;
	__asm__ volatile("invlpg (%0)" : : "r"(KERNEL_BASE) : "memory");
	return (void *)(uintptr_t)(KERNEL_BASE + (at & ~PAGE_MASK));
}

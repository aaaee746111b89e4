/*
 * Kernel stacks: KSTACK_BYTES each, at the upper end of KSTACK_SPACING bytes of address
 * space, so that below each lies a hole. Running into it faults, the fault finds no
 * stack to be reported on, and the double fault names the thread.
 *
 * kstack.1  a set bit in `used` <=> the stack's frames are mapped
 *
 * Called by threads only (allocation sleeps), so the bitmap needs no lock.
 */
#include "kernel/boot.h"
#include "kernel/panic.h"
#include "kernel/string.h"
#include "kernel/thread.h"
#include "mm/frame.h"
#include "mm/kstack.h"
#include "mm/pgtable.h"

enum {
	KSTACK_PAGES = KSTACK_BYTES / PAGE_SIZE,
	KSTACKS_MAX = KSTACK_TABLES_MAX * KSTACKS_PER_TABLE,
	SMALL_RAM = 32 << 20,
	WORD_BITS = 32,
};

extern char boot_stack_guard[], boot_stack_top[], fault_stack[], fault_stack_top[];

static uint32_t used[KSTACKS_MAX / WORD_BITS];

unsigned kstack_tables(paddr_t ram_end)
{
	return ram_end < SMALL_RAM ? 1 : KSTACK_TABLES_MAX;
}

static uint32_t kstack_top_of(unsigned n)
{
	return KSTACK_BASE + (n + 1) * KSTACK_SPACING;
}

/* The PTE of an address in the stacks' area; its table was made at boot. */
static pte_t *kstack_pte(uint32_t addr)
{
	paddr_t table = kernel_pgdir[addr >> 22] & PAGE_MASK;

	return (pte_t *)(uintptr_t)(KERNEL_BASE + table) + (addr >> PAGE_SHIFT & 1023);
}

static bool is_used(unsigned n)
{
	return (used[n / WORD_BITS] & BIT(n % WORD_BITS)) != 0;
}

/* The lowest free stack; -1 if all are taken. */
static int find_free(void)
{
	unsigned count = kstack_tables(boot.ram[boot.ram_count - 1].end) * KSTACKS_PER_TABLE;

	for (unsigned w = 0; w < count / WORD_BITS; w++)
		if (used[w] != UINT32_MAX)
			return (int)(w * WORD_BITS) + __builtin_ctz(~used[w]);
	return -1;
}

static void kstack_page_unmap(uint32_t addr)
{
	pte_t *pte = kstack_pte(addr);
	struct page *p = pfn_page(pte_pfn(*pte));

	*pte = 0;
	__asm__ volatile("invlpg (%0)" : : "r"(addr) : "memory");
	page_clear(p, PG_KSTACK);
	page_free(p, 0);
}

/*
 * Map a new kernel stack of KSTACK_PAGES frames (PG_KSTACK) at the lowest free place, and mark
 * that used (kstack.1); from the top down, present and writable. Returns its upper end, or NULL
 * if memory or places have run out, and then nothing is kept. Called by threads without
 * locks; sleeps for memory, so the place is chosen after the last allocation.
 */
void *kstack_alloc(void)
{
	struct page *p[KSTACK_PAGES];
	unsigned got = 0;
	uint32_t top;
	int n;

	for (; got < KSTACK_PAGES; got++) {
		p[got] = page_alloc(GFP_KERNEL, 0);
		if (p[got] == NULL)
			goto fail;
	}
	n = find_free();		/* after the last sleep: nobody else takes it */
	if (n < 0)
		goto fail;
	used[n / WORD_BITS] |= BIT(n % WORD_BITS);
	top = kstack_top_of((unsigned)n);
	for (unsigned i = 0; i < KSTACK_PAGES; i++) {
		page_set(p[i], PG_KSTACK);
		*kstack_pte(top - (i + 1) * PAGE_SIZE) =
			pte_make(page_pfn(p[i]), PTE_PRESENT | PTE_WRITE);
	}
	return (void *)(uintptr_t)top;
fail:
	while (got-- != 0)
		page_free(p[got], 0);
	return NULL;
}

void kstack_free(void *top)
{
	uint32_t t = (uint32_t)(uintptr_t)top;
	unsigned n = (t - KSTACK_BASE) / KSTACK_SPACING - 1;

	KASSERT2(n < KSTACKS_MAX && is_used(n) && t == kstack_top_of(n), "kstack.1", t, n);
	for (unsigned i = 0; i < KSTACK_PAGES; i++)
		kstack_page_unmap(t - (i + 1) * PAGE_SIZE);
	used[n / WORD_BITS] &= ~BIT(n % WORD_BITS);
}

pfn_t kstack_frame(const void *top, unsigned n)
{
	uint32_t addr = (uint32_t)(uintptr_t)top - (n + 1) * PAGE_SIZE;

	return n < KSTACK_PAGES && addr >= KSTACK_BASE ? pte_pfn(*kstack_pte(addr)) : 0;
}

static bool between(uint32_t addr, const char *start, const char *end)
{
	return addr >= (uint32_t)(uintptr_t)start && addr < (uint32_t)(uintptr_t)end;
}

bool kstack_contains(uint32_t addr)
{
	uint32_t offset = addr - KSTACK_BASE;

	if (between(addr, boot_stack_guard + PAGE_SIZE, boot_stack_top) ||
	    between(addr, fault_stack, fault_stack_top))
		return true;
	return addr >= KSTACK_BASE && offset / KSTACK_SPACING < KSTACKS_MAX &&
		is_used(offset / KSTACK_SPACING) &&
		offset % KSTACK_SPACING >= KSTACK_SPACING - KSTACK_BYTES;
}

const char *kstack_guard_hit(vaddr_t addr)
{
	uint32_t offset = addr - KSTACK_BASE;
	bool hit = between(addr, boot_stack_guard, boot_stack_guard + PAGE_SIZE) ||
		(addr >= KSTACK_BASE && offset / KSTACK_SPACING < KSTACKS_MAX &&
		 offset % KSTACK_SPACING < KSTACK_SPACING - KSTACK_BYTES);

	if (!hit)
		return NULL;
	return current != NULL ? current->name : "boot";
}

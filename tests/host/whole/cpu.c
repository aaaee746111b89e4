/*
 * A CPU that keeps every translation as long as it may: what the kernel changes without a
 * flush is used in its old form, and the stress test's contents tell. One address space is
 * loaded; loading another forgets all, as on a 486.
 */
#include <stdio.h>

#include "kernel/abi/errno.h"
#include "kernel/panic.h"
#include "machine.h"
#include "mm/fault.h"
#include "shim.h"

enum { TLB_ENTRIES = 64, FAULTS_MAX = 200 };

static struct tlb_entry {
	bool	valid, write, dirty;
	vaddr_t page;
	pfn_t	pfn;
} tlb[TLB_ENTRIES];

struct mm *pgtable_loaded;
static pte_t shared_half[TABLE_ENTRIES];
pte_t *kernel_pgdir = shared_half;

static struct tlb_entry *entry_of(vaddr_t addr)
{
	return &tlb[addr >> PAGE_SHIFT & (TLB_ENTRIES - 1)];
}

static void forget_all(void)
{
	for (unsigned i = 0; i < TLB_ENTRIES; i++)
		tlb[i].valid = false;
}

void tlb_flush_page(struct mm *mm, vaddr_t addr)
{
	struct tlb_entry *e = entry_of(addr);

	if (mm == pgtable_loaded && e->page == PAGE_DOWN(addr))
		e->valid = false;
}

void tlb_flush_mm(struct mm *mm)
{
	if (mm == pgtable_loaded)
		forget_all();
}

/* Run as a thread of `mm`. */
static void load(struct mm *mm)
{
	if (mm == pgtable_loaded)
		return;
	pgtable_loaded = mm;
	forget_all();
}

void pgtable_leave(struct mm *mm)
{
	if (mm != pgtable_loaded)
		return;
	pgtable_loaded = NULL;
	forget_all();
}

/* The walk of the page tables, with the bits it sets. False: a fault. */
static bool walk(struct mm *mm, vaddr_t addr, enum fault_access access)
{
	uint32_t needs = PTE_PRESENT | PTE_USER | (access == FAULT_WRITE ? PTE_WRITE : 0);
	pte_t *pte = pte_find(mm, addr);

	if (!pte || (*pte & needs) != needs)
		return false;
	*pte |= PTE_ACCESSED | (access == FAULT_WRITE ? PTE_DIRTY : 0);
	*entry_of(addr) = (struct tlb_entry){ true, (*pte & PTE_WRITE) != 0,
					      (*pte & PTE_DIRTY) != 0, PAGE_DOWN(addr),
					      pte_pfn(*pte) };
	return true;
}

/* Where the word at `addr` is, for this access; NULL and *error. */
static uint32_t *translate(struct mm *mm, vaddr_t addr, enum fault_access access, int *error)
{
	struct tlb_entry *e = entry_of(addr);

	for (unsigned i = 0; i < FAULTS_MAX; i++) {
		load(mm);
		if (e->valid && e->page == PAGE_DOWN(addr) &&
		    (access == FAULT_READ || (e->write && e->dirty)))
			return (uint32_t *)((char *)page_address(pfn_page(e->pfn)) +
					    (addr & ~PAGE_MASK));
		if (walk(mm, addr, access))
			continue;
		*error = mm_fault(mm, addr, access);
		if (*error)
			return NULL;
	}
	panic("cpu: the access to %#x faults for ever", addr);
}

int cpu_load(struct mm *mm, vaddr_t addr, uint32_t *value)
{
	int error = OK;
	uint32_t *word = translate(mm, addr, FAULT_READ, &error);

	if (word)
		*value = *word;
	return error;
}

int cpu_store(struct mm *mm, vaddr_t addr, uint32_t value)
{
	int error = OK;
	uint32_t *word = translate(mm, addr, FAULT_WRITE, &error);

	if (word)
		*word = value;
	return error;
}

static bool stale(const struct tlb_entry *e)
{
	const pte_t *pte = pte_find(pgtable_loaded, e->page);

	return !pte || !(*pte & PTE_PRESENT) || pte_pfn(*pte) != e->pfn ||
	       (e->write && !(*pte & PTE_WRITE)) || (e->dirty && !(*pte & PTE_DIRTY));
}

unsigned cpu_check_tlb(void)
{
	unsigned bad = 0;

	for (unsigned i = 0; i < TLB_ENTRIES && pgtable_loaded; i++) {
		if (!tlb[i].valid || !stale(&tlb[i]))
			continue;
		printf("# the TLB maps %#x to pfn %#x, write %u, dirty %u; its PTE doesn't\n",
		       tlb[i].page, tlb[i].pfn, tlb[i].write, tlb[i].dirty);
		bad++;
	}
	return bad;
}

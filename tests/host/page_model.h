/*
 * The model of address spaces that tests/host/vma.c compares the real ones with: what each page
 * of a window is, may and holds. Included by one program once.
 */
#ifndef PAGE_MODEL_H
#define PAGE_MODEL_H

#include "mm/alloc_fail.h"
#include "shim.h"
#include "spaces.h"

/* ---- The model ---- */

enum { WINDOW_PAGES = 256, STEPS = 6000 };
#define WINDOW 0x40000000u		/* crosses a page table's border at + 4 MiB - 512 KiB */
#define WINDOW_START (WINDOW + 0x400000u - 0x80000u)

enum kind { FREE, ANON, PRIVATE, SHARED };
struct model_page {
	enum kind kind;
	uint8_t	  prot;
	bool	  may_write;		/* PROT_WRITE may be asked for later */
	bool	  locked;
	uint32_t  object_page;
	bool	  touched;		/* ANON, PRIVATE: has a value of its own */
	uint32_t  value;
};
static struct space {
	struct mm **mm;			/* its place in mms[] */
	struct model_page page[WINDOW_PAGES];
} spaces[SPACES];
static uint32_t object_value[OBJECT_PAGES];
static uint32_t next_value = 1;

static vaddr_t page_addr(unsigned i) { return WINDOW_START + i * PAGE_SIZE; }

/* What a read of model page `i` must find. */
static uint32_t model_value(const struct model_page *m)
{
	if (m->kind == SHARED || (m->kind == PRIVATE && !m->touched))
		return object_value[m->object_page];
	return m->touched ? m->value : 0;
}

/* ---- What went wrong on purpose, and what that allows ---- */

static bool let_fail;			/* allocations fail now and then */

/* Did an allocation fail, and the call for that reason? */
static bool no_memory(int64_t result)
{
	return let_fail && alloc_fail_in == 0 && (result == -ENOMEM || result == -EAGAIN);
}

/* Did any? Then locked pages may be missing, as mremap and mprotect don't say. */
static bool all_went_well(void)
{
	return !let_fail || alloc_fail_in > 0;
}

/* Locked memory that may be written to is copied when it is filled; how far that went shows. */
static void note_copies(struct space *s)
{
	for (unsigned i = 0; i < WINDOW_PAGES; i++) {
		struct model_page *m = &s->page[i];
		const pte_t *pte = pte_find(*s->mm, page_addr(i));
		struct page *p = pte && pte_present(*pte) ? pfn_page(pte_pfn(*pte)) : NULL;

		if (m->kind != PRIVATE || m->touched || !p || !page_is(p, PG_ANON))
			continue;
		CHECK(m->locked);
		m->value = model_value(m);
		m->touched = true;
	}
}

/* Every locked page in the range that can be reached is in memory, and writable if private
 * and allowed. */
static void check_filled(struct space *s, unsigned first, unsigned pages)
{
	for (unsigned i = first; i < first + pages; i++) {
		struct model_page *m = &s->page[i];
		const pte_t *pte = pte_find(*s->mm, page_addr(i));

		if (m->kind == FREE || m->prot == PROT_NONE || !m->locked)
			continue;
		if (CHECK(pte && (*pte & PTE_PRESENT)) && m->kind != SHARED && (m->prot & PROT_WRITE))
			CHECK(*pte & PTE_WRITE);
	}
}

/* Is none of the range unmapped? *none: a page of it is out of reach. */
static bool model_covered(struct space *s, unsigned first, unsigned pages, bool *none)
{
	*none = false;
	for (unsigned i = first; i < first + pages; i++) {
		if (s->page[i].kind == FREE)
			return false;
		*none |= s->page[i].prot == PROT_NONE;
	}
	return true;
}

#endif

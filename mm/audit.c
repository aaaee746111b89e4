/*
 * The audit: do frames, PTEs, reverse map, LRU lists, slots and caches agree?
 *
 * Each part of mm/ checks its own structures (frame_check(), rmap_check(), ...). What
 * needs the PTEs of all address spaces and the words of all objects is here: mapcounts and
 * slot counts are *used up* by one sweep over all of them, compared with what should be left,
 * and put back by a second sweep. So the audit needs no memory, even when there is none.
 *
 * Interrupts are off all the time: nothing moves. It takes no locks that it could find
 * taken, since it runs in a thread that holds none.
 */
#include "mm/audit.h"
#include "drivers/block.h"
#include "kernel/panic.h"
#include "kernel/printk.h"
#include "kernel/thread.h"
#include "mm/frame.h"
#include "mm/lru.h"
#include "mm/object.h"
#include "mm/rmap.h"
#include "mm/slab.h"
#include "mm/swap/area.h"
#include "mm/vma.h"

unsigned audit_violation(const char *invariant, const char *fmt, ...)
{
	char text[192];
	va_list ap;

	va_start(ap, fmt);
	kvsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	printk("INV %s: %s\n", invariant, text);
	return 1;
}

/* ---- The sweep ---- */

/* Which way the sweep counts, and what it can't count. */
struct sweep {
	uint32_t step;			/* added to each counter: -1 or 1 */
	unsigned strays;		/* PTEs and object entries that name no slot or frame */
};

static void sweep_slot(struct sweep *s, swap_entry e)
{
	struct swap_area *a = swap_entry_area(e) < SWAP_AREAS_MAX ? swap_entry_to_area(e) : NULL;
	uint32_t slot = swap_entry_slot(e);

	if (!a || a->state == AREA_OFF || slot >= a->size) {
		s->strays++;
		return;
	}
	a->counts[slot / COUNTS_PER_FRAME][slot % COUNTS_PER_FRAME] += (uint16_t)s->step;
}

static void sweep_pte(struct mm *mm, vaddr_t addr, pte_t *pte, void *arg)
{
	struct sweep *s = arg;

	(void)mm;
	(void)addr;
	if (pte_is_swap(*pte))
		sweep_slot(s, pte_swap_entry(*pte));
	else if (!pte_present(*pte) || pte_pfn(*pte) >= page_count)
		s->strays++;
	else if (!page_is(pfn_page(pte_pfn(*pte)), PG_RESERVED))
		pfn_page(pte_pfn(*pte))->mapcount += s->step;
}

static swap_entry sweep_object_entry(swap_entry e, void *arg)
{
	sweep_slot(arg, e);
	return e;
}

static unsigned sweep_all(uint32_t step)
{
	struct sweep s = { .step = step };
	struct mm *mm;

	objects_for_each_entry(sweep_object_entry, &s);

	list_for_each(mm, &mm_all, all_link)
		pte_for_each(mm, sweep_pte, &s);
	return s.strays;
}

static void name_mapper(struct vma *v, vaddr_t addr, void *arg)
{
	(void)arg;
	printk("  the reverse map shows it at %#x (vma %#x-%#x)\n", addr, v->start, v->end);
}

/* frame.2, after the sweep: nothing is left of any mapcount. */
static unsigned check_mapcounts_used_up(void)
{
	unsigned bad = 0;

	for (pfn_t pfn = 0; pfn < page_count; pfn++) {
		struct page *p = pfn_page(pfn);

		if (p->mapcount == 0)
			continue;
		bad += audit_violation("frame.2", "mapcount is the number of PTEs: pfn %#x, "
				       "mapcount - PTEs = %d, flags %#x", pfn,
				       (int32_t)p->mapcount, p->flags);
		rmap_for_each(p, name_mapper, NULL);
	}
	return bad;
}

/* swap.3, after the sweep: only the cache's count is left. */
static unsigned check_slots_used_up(const struct swap_area *a)
{
	unsigned bad = 0;

	for (uint32_t slot = 1; slot < a->size; slot++) {
		uint16_t left = slot_count(a, slot), cached = slot_page(a, slot) ? 1 : 0;

		if (left == SLOT_BAD && !cached)
			continue;
		if (left != cached)
			bad += audit_violation("swap.3", "a slot's count equals its PTEs and object "
					       "entries plus the swap cache: %s slot %u, count - holders = %d, cache %u",
					       a->dev->name, slot, (int16_t)left, cached);
	}
	return bad;
}

static unsigned check_by_sweep(void)
{
	unsigned bad = 0, strays;

	strays = sweep_all(UINT32_MAX);
	bad += check_mapcounts_used_up();
	for (unsigned i = 0; i < SWAP_AREAS_MAX; i++)
		if (swap_areas[i].state != AREA_OFF)
			bad += check_slots_used_up(&swap_areas[i]);
	sweep_all(1);
	if (strays)
		bad += audit_violation("pt.2", "%u PTEs or object entries name neither a frame nor a slot", strays);
	return bad;
}

/* ---- Pages, one by one ---- */

static void count_mapper(struct vma *v, vaddr_t addr, void *arg)
{
	(void)v;
	(void)addr;
	(*(uint32_t *)arg)++;
}

static unsigned check_page(struct page *p)
{
	uint32_t holders = p->mapcount + (page_is(p, PG_SWAPCACHE) ? 1 : 0) +
			   (page_is(p, PG_OBJECT) ? 1 : 0);
	uint32_t reached = 0;
	unsigned bad = 0;

	if (p->count < holders)
		bad += audit_violation("frame.3", "pfn %#x: count %u, holders %u", page_pfn(p),
				       p->count, holders);
	if (page_is(p, PG_WRITEBACK) && p->count < holders + 1)
		bad += audit_violation("frame.7", "pfn %#x is being written: count %u, holders %u",
				       page_pfn(p), p->count, holders);
	if (p->mapcount == 0)
		return bad;
	rmap_for_each(p, count_mapper, &reached);
	if (reached != p->mapcount)
		bad += audit_violation("rmap.1", "every PTE of a page is reached from it: pfn %#x, "
				       "mapcount %u, reached %u", page_pfn(p), p->mapcount, reached);
	return bad;
}

static unsigned check_pages(void)
{
	unsigned bad = 0, mapped = 0, anon = 0;

	for (pfn_t pfn = 0; pfn < page_count; pfn++) {
		struct page *p = pfn_page(pfn);

		bad += check_page(p);
		mapped += p->mapcount > 0;
		anon += p->mapcount > 0 && page_is(p, PG_ANON);
	}
	if (mapped != rmap_mapped_pages() || anon != rmap_mapped_anon())
		bad += audit_violation("frame.2", "%u pages are mapped, %u anonymous; "
				       "counted %u, %u", mapped, anon, rmap_mapped_pages(),
				       rmap_mapped_anon());
	return bad;
}

/* See audit.h. Holds no lock and takes none that it could find taken; doesn't sleep. */
unsigned audit(void)
{
	uint32_t irq = irq_save();
	unsigned bad = 0;
	struct mm *mm;

	bad += frame_check();
	bad += slab_check();
	list_for_each(mm, &mm_all, all_link)
		bad += mm_check(mm);
	bad += object_check();
	bad += rmap_check();
	bad += lru_check();
	bad += swap_check();
	bad += check_pages();
	bad += check_by_sweep();
	bad += block_check();
	irq_restore(irq);
	return bad;
}

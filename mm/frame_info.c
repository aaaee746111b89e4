/*
 * What each frame is used for, and by whom: SYSINFO_FRAMES, for the leak detector.
 *
 * The state is in the descriptor. Whose a frame is no descriptor says, so the page tables of
 * all address spaces are walked; what they don't map is claimed by threads, handles and boot
 * modules (kernel/sysinfo.c). What nobody claims then is lost.
 */
#include "kernel/abi/sysinfo.h"
#include "kernel/string.h"
#include "kernel/task.h"
#include "mm/audit.h"
#include "mm/frame.h"
#include "mm/object_tree.h"
#include "mm/slab.h"
#include "mm/vma.h"

struct describing {
	struct abi_frame *rows;
	uint32_t	  count;
};

/* State and `what` of the block that begins with `p`, as far as its descriptor tells. */
static struct abi_frame describe(const struct page *p)
{
	struct abi_frame f = { .state = FRAME_HELD, .owner = FRAME_OF_NOBODY };

	f.mapcount = (uint16_t)MIN(p->mapcount, 0xffffu);
	if (page_is(p, PG_BUDDY))
		f.state = FRAME_FREE;
	else if (page_is(p, PG_RESERVED))
		f = (struct abi_frame){ .state = FRAME_RESERVED, .owner = FRAME_OF_KERNEL };
	else if (page_is(p, PG_SLAB))
		f = (struct abi_frame){ .state = FRAME_SLAB, .owner = FRAME_OF_KERNEL,
					.what = slab_cache_number(p->mapping) << 16 | p->index };
	else if (page_is(p, PG_TABLE))
		f.state = FRAME_TABLE;
	else if (page_is(p, PG_KSTACK))
		f.state = FRAME_KSTACK;
	else if (page_is(p, PG_OBJECT)) {
		f.state = FRAME_OBJECT;
		f.what = p->index;
	} else if (page_is(p, PG_ANON))
		f.state = FRAME_ANON;
	else if (page_is(p, PG_SWAPCACHE)) {
		f.state = FRAME_CACHED;
		f.owner = FRAME_OF_KERNEL;	/* it goes when it is in the way */
		f.what = p->private;
	} else
		f.what = page_is(p, PG_BLOCK) ? p->private : 0;
	return f;
}

static int32_t owner_of(const struct mm *mm)
{
	return mm->task ? mm->task->pid : FRAME_OF_SPACE;
}

/* The first who is found to have it. */
static void claim(const struct describing *d, pfn_t pfn, int32_t owner)
{
	if (pfn < d->count && d->rows[pfn].owner == FRAME_OF_NOBODY)
		d->rows[pfn].owner = owner;
}

static void claim_mapped(struct mm *mm, vaddr_t addr, pte_t *pte, void *arg)
{
	const struct describing *d = arg;
	struct abi_frame *f;

	if (pte_is_swap(*pte) || pte_pfn(*pte) >= d->count)
		return;
	f = &d->rows[pte_pfn(*pte)];
	if (f->state == FRAME_ANON && f->owner == FRAME_OF_NOBODY)
		f->what = addr;
	claim(d, pte_pfn(*pte), owner_of(mm));
}

/* Page directory and page tables of one mm. */
static void claim_tables(struct mm *mm, const struct describing *d)
{
	claim(d, address_paddr(mm->pgdir) >> PAGE_SHIFT, owner_of(mm));
	for (vaddr_t addr = 0; addr < USER_END; addr = pgtable_next(addr)) {
		const pte_t *table = pte_find(mm, addr);
		pfn_t pfn = table ? address_paddr(table) >> PAGE_SHIFT : d->count;

		if (pfn >= d->count)
			continue;
		claim(d, pfn, owner_of(mm));
		d->rows[pfn].what = addr;
	}
}

/* See audit.h. Interrupts may come: nothing that is looked at changes in them. */
void frames_describe(struct abi_frame *rows, uint32_t count)
{
	struct describing d = { .rows = rows, .count = count };
	struct mm *mm;
	pfn_t pfn = 0;

	while (pfn < count) {
		const struct page *p = pfn_page(pfn);
		uint32_t frames = page_is(p, PG_BUDDY | PG_BLOCK) ? 1u << p->private : 1;

		for (; frames > 0 && pfn < count; frames--, pfn++)
			rows[pfn] = describe(p);
	}
	list_for_each(mm, &mm_all, all_link) {
		claim_tables(mm, &d);
		pte_for_each(mm, claim_mapped, &d);
	}
}

/* See audit.h. */
void frames_of_object(struct abi_frame *rows, uint32_t count, struct object *o, int32_t owner)
{
	struct describing d = { .rows = rows, .count = count };
	uint32_t index = 0;
	void *word;

	spin_lock(&o->lock);
	for (; (word = radix_next(&o->tree, &index)) != NULL; index++)
		if (!word_is_entry(word))
			claim(&d, page_pfn(word), owner);
	spin_unlock(&o->lock);
}

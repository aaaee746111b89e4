/* Breaking frame.1 to frame.11 and kstack.1 (kernel/breakage.h). */
#include "kernel/breakage.h"
#include "mm/frame.h"
#include "mm/pgtable.h"

/* The first page that has all of `with` and none of `without`, or NULL. */
static struct page *find_page(uint32_t with, uint32_t without)
{
	for (pfn_t pfn = 0; pfn < page_count; pfn++) {
		struct page *p = pfn_page(pfn);

		if ((p->flags & with) == with && !(p->flags & without))
			return p;
	}
	return NULL;
}

static bool break_free(void)
{
	struct page *p = find_page(PG_BUDDY, 0);

	if (p)
		p->mapcount = 1;
	return p;
}

static bool break_mapcount(void)
{
	struct page *p = find_page(PG_ANON, 0);

	if (p)
		p->mapcount++;
	return p;
}

/* A page with several references loses one. (With none left, the next fork or exit would
 * find it before the audit does.) */
static bool break_count(void)
{
	for (pfn_t pfn = 0; pfn < page_count; pfn++) {
		struct page *p = pfn_page(pfn);

		if (page_is(p, PG_ANON) && p->mapcount > 0 && p->count > 1) {
			p->count--;
			return true;
		}
	}
	return false;
}

static bool break_lru_flag(void)
{
	struct page *p = find_page(PG_LRU, 0);

	if (p)
		page_clear(p, PG_LRU);
	return p;
}

static bool break_lru_list(void)
{
	struct page *p = find_page(PG_LRU, 0);

	if (p)
		p->flags ^= PG_ACTIVE;
	return p;
}

/* A page table, which nobody looks at closely before the audit does. */
static struct page *table_page(void)
{
	return find_page(PG_TABLE, PG_RESERVED);
}

static bool break_mapping(void)
{
	struct page *p = table_page();

	if (p)
		p->mapping = p;
	return p;
}

static bool mark_table(uint32_t flag)
{
	struct page *p = table_page();

	if (p)
		page_set(p, flag);
	return p;
}

static bool break_cache_flag(void) { return mark_table(PG_SWAPCACHE); }

static bool break_buffer(void) { return mark_table(PG_BUFFER); }

static bool break_writeback(void) { return mark_table(PG_WRITEBACK); }

static bool break_state(void)
{
	struct page *p = table_page();

	if (p)
		page_set(p, PG_KSTACK);
	return p;
}

/* A free block whose place would do for its order, but not for the next. */
static bool break_alignment(void)
{
	for (pfn_t pfn = 0; pfn < page_count; pfn++) {
		struct page *p = pfn_page(pfn);

		if (page_is(p, PG_BUDDY) && p->private < FRAME_ORDERS - 1 && pfn & 1u << p->private) {
			p->private++;
			return true;
		}
	}
	return false;
}

/* A free block becomes two halves. */
static bool break_buddies(void)
{
	for (pfn_t pfn = 0; pfn < page_count; pfn++) {
		struct page *p = pfn_page(pfn);
		struct list *halves = &page_zone(p)->free_list[p->private ? p->private - 1 : 0];

		if (!page_is(p, PG_BUDDY) || p->private == 0)
			continue;
		p->private--;
		list_remove(&p->lru);
		list_insert(halves, &p->lru);
		p += 1u << p->private;
		p->private = pfn_page(pfn)->private;
		page_set(p, PG_BUDDY);
		list_insert(halves, &p->lru);
		return true;
	}
	return false;
}

static bool break_zone_free(void)
{
	zones[ZONE_DMA].free++;
	return true;
}

static bool break_kstack(void)
{
	kstack_free((void *)(uintptr_t)(PAGE_SIZE));
	return true;
}

const struct breakage break_frames[] = {
	{ "frame.1",  "raised the mapcount of a free frame",	break_free },
	{ "frame.2",  "raised a mapcount",			break_mapcount },
	{ "frame.3",  "lowered the count of a mapped page",	break_count },
	{ "frame.4",  "cleared PG_LRU of a listed page",	break_lru_flag },
	{ "frame.4",  "flipped PG_ACTIVE of a listed page",	break_lru_list },
	{ "frame.5",  "gave a page table a mapping",		break_mapping },
	{ "frame.6",  "set PG_SWAPCACHE of a page table",	break_cache_flag },
	{ "frame.7",  "set PG_WRITEBACK of a page table",	break_writeback },
	{ "frame.8",  "made a page table a kernel stack too",	break_state },
	{ "frame.9",  "raised the order of a free block",	break_alignment },
	{ "frame.10", "halved a free block",			break_buddies },
	{ "frame.11", "raised a zone's sum of free frames",	break_zone_free },
	{ "frame.12", "set PG_BUFFER of a page table",		break_buffer },
	{ "kstack.1", "freed a stack that is none",		break_kstack },
	{ NULL, NULL, NULL }
};

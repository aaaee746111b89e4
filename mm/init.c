/* The start of memory management behind frame_init(), and its figures. */
#include "kernel/abi/sysinfo.h"
#include "kernel/boot.h"
#include "kernel/panic.h"
#include "kernel/printk.h"
#include "kernel/string.h"
#include "mm/audit.h"
#include "mm/fault.h"
#include "mm/object.h"
#include "mm/reclaim.h"
#include "mm/rmap.h"
#include "mm/slab.h"
#include "mm/swap.h"

/* The zero page, the boot modules as objects, and the reclaim policy. Once, after
 * frame_init(); panics without memory. */
void mm_init(void)
{
	zero_page = page_alloc(GFP_ZERO, 0);
	if (!zero_page)
		panic("no memory for the zero page");
	page_set(zero_page, PG_UPTODATE);
	frame_reserve(zero_page);
	for (unsigned i = 0; i < boot.module_count; i++) {
		const struct boot_module *m = &boot.modules[i];
		struct object *o = object_from_frames(m->start >> PAGE_SHIFT, m->end - m->start);

		if (!o)
			panic("no memory for boot module %u of %u bytes", i, m->end - m->start);
		object_add_boot_module(o);
	}
	reclaim_init();
}

/* The figures that take a look at every frame. */
static void count_frames(struct abi_memory *m)
{
	pfn_t pfn = 0;

	while (pfn < page_count) {
		const struct page *p = pfn_page(pfn);
		uint32_t block = page_is(p, PG_BUDDY | PG_BLOCK) ? 1u << p->private : 1;

		if (page_is(p, PG_TABLE))
			m->page_tables += block;
		if (page_is(p, PG_KSTACK))
			m->kernel_stacks += block;
		if (page_is(p, PG_DIRTY))
			m->dirty += block;
		if (page_is(p, PG_WRITEBACK))
			m->writeback += block;
		pfn += block;
	}
}

/* Fill in how memory is used, in pages. Never sleeps. */
void mm_memory_info(struct abi_memory *m)
{
	memset(m, 0, sizeof(*m));
	m->total = frames_total();
	m->free = frames_free();
	m->anon_mapped = rmap_mapped_anon();
	m->objects = objects_frames();
	m->objects_swapped = objects_swapped();
	m->frames = page_count;
	m->swap_cached = swap_cached_pages();
	m->slab = slab_frames();
	m->reserved = frames_reserved();
	m->swap_total = swap_slots_total();
	m->swap_free = swap_slots_free();
	m->committed = commit_total();
	m->rmap_bytes = rmap_bytes();
	for (unsigned i = 0; i < ZONE_COUNT; i++) {
		m->active += zones[i].active_count;
		m->inactive += zones[i].inactive_count + zones[i].clean_count;
		m->min += zones[i].min;
		m->low += zones[i].low;
		m->high += zones[i].high;
	}
	count_frames(m);
}

/* For break.c of the maps that find a page's PTEs through its index: rmap.1 and vma.5. */
#ifndef MM_RMAP_BREAK_INDEX_H
#define MM_RMAP_BREAK_INDEX_H

#include "mm/page.h"

/* The reverse map looks for a page where it isn't. */
static inline bool break_index(void)
{
	for (pfn_t pfn = 0; pfn < page_count; pfn++) {
		if (page_is(pfn_page(pfn), PG_ANON)) {
			pfn_page(pfn)->index += 1u << 19;
			return true;
		}
	}
	return false;
}

#endif

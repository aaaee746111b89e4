/* What the anon_vma reverse map adds to page, vma and mm (docs/history.md 6.1). */
#ifndef RMAP_TYPES_H
#define RMAP_TYPES_H

#include "kernel/list.h"

struct anon_vma;

struct rmap_page { };			/* page->mapping is the anon_vma, page->index the offset */
struct rmap_vma {
	struct anon_vma *anon_vma;	/* NULL: no anonymous page yet */
	struct list	 link;		/* anon_vma->vmas, RANK_RMAP */
};
struct rmap_mm { };

#endif

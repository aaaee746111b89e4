/* What the anonmm reverse map adds to page, vma and mm (docs/history.md 5.2). */
#ifndef RMAP_TYPES_H
#define RMAP_TYPES_H

struct anonmm;

struct rmap_page { };			/* page->mapping is the anonmm, page->index the address */
struct rmap_vma { };
struct rmap_mm {
	struct anonmm *anonmm;		/* never NULL between mm_create() and mm_destroy() */
};

#endif

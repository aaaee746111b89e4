/*
 * What common.c, object.c and a variant say to each other.
 *
 * A walk calls `visit` for every (mm, address) that may map the page, until walk->left is
 * 0 (all PTEs were found) or walk->fail. It gives the vma there if it knows it, else NULL.
 * It never sleeps.
 */
#ifndef MM_RMAP_WALK_H
#define MM_RMAP_WALK_H

#include "mm/rmap.h"

typedef void (*rmap_visit)(struct page *p, struct mm *mm, struct vma *v, vaddr_t addr,
			   struct rmap_walk *w);

/* The variant's: candidates for an anonymous page. */
void rmap_walk_anon(struct page *p, rmap_visit visit, struct rmap_walk *w);
/* object.c: candidates for a page of an object, in every build. */
void rmap_walk_object(struct page *p, rmap_visit visit, struct rmap_walk *w);

/* The last PTE of `p` is gone: it is nobody's private memory any more (frame.5). */
static inline void rmap_page_forget(struct page *p)
{
	page_clear(p, PG_ANON);
	p->mapping = NULL;
	p->index = 0;
}

static inline bool rmap_walk_goes_on(const struct rmap_walk *w)
{
	return w->left > 0 && !w->fail;
}

#endif

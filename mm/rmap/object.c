/*
 * Reverse mapping of objects' pages: the object lists its vmas, and each of them
 * shows a window of the object's pages. The same code in every build.
 */
#include "kernel/counters.h"
#include "mm/object.h"
#include "mm/rmap/walk.h"

/*
 * Visit every vma of p's object whose window holds the page. The object's lock is
 * only tried (whoever holds it may be adding this very page): busy sets w->again.
 * The page is locked, so that it can't leave the object. Never sleeps.
 */
void rmap_walk_object(struct page *p, rmap_visit visit, struct rmap_walk *w)
{
	struct object *o = p->mapping;
	struct vma *v;

	if (!spin_trylock(&o->lock)) {
		w->again = true;
		return;
	}
	list_for_each(v, &o->vmas, object_link) {
		uint32_t vma_pages = (v->end - v->start) >> PAGE_SHIFT;
		uint32_t offset = p->index - v->object_page;

		if (!rmap_walk_goes_on(w))
			break;
		COUNT(rmap_probes);
		if (p->index >= v->object_page && offset < vma_pages)
			visit(p, v->mm, v, v->start + (offset << PAGE_SHIFT), w);
	}
	spin_unlock(&o->lock);
}

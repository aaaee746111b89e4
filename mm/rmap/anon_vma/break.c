/* Breaking the invariants of this reverse map (kernel/breakage.h). */
#include "kernel/breakage.h"
#include "mm/rmap/anon_vma/anon_vma.h"
#include "mm/rmap/break_index.h"
#include "mm/vma.h"

/* Some vma with anonymous pages, or NULL. */
static struct vma *find_listed(void)
{
	struct mm *mm;
	struct vma *v;

	list_for_each(mm, &mm_all, all_link) {
		list_for_each(v, &mm->vmas, link) {
			if (v->rmap.anon_vma)
				return v;
		}
	}
	return NULL;
}

/* A vma that no mm has any more; it is empty, so that walks take no notice of it. */
static bool break_gone_vma(void)
{
	static struct vma gone;
	struct vma *v = find_listed();

	if (!v)
		return false;
	gone.mm = v->mm;
	gone.rmap.anon_vma = v->rmap.anon_vma;
	list_insert_tail(&v->rmap.anon_vma->vmas, &gone.rmap.link);
	return true;
}

static bool break_list(void)
{
	struct vma *v = find_listed();

	if (v)
		v->rmap.anon_vma = NULL;
	return v;
}

static bool break_empty(void)
{
	return anon_vma_create();
}

const struct breakage rmap_breakages[] = {
	{ "rmap.1", "changed the index of an anonymous page",	break_index },
	{ "vma.5",  "the same",					break_index },
	{ "rmap.2", "listed a vma that is gone",		break_gone_vma },
	{ "rmap.3", "made a listed vma forget its anon_vma",	break_list },
	{ "rmap.4", "made an anon_vma without vmas",		break_empty },
	{ 0 }
};

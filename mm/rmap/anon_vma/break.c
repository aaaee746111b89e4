/* Breaking rmap.N of the anon_vma reverse map (kernel/breakage.h). */
#include "kernel/breakage.h"
#include "mm/frame.h"
#include "mm/rmap.h"
#include "mm/vma.h"

static bool break_index(void)
{
	for (pfn_t pfn = 0; pfn < page_count; pfn++) {
		struct page *p = pfn_page(pfn);

		if (page_is(p, PG_ANON)) {
			p->index += 1u << 19;
			return true;
		}
	}
	return false;
}

/* A vma with anonymous pages. */
static struct vma *find_vma(void)
{
	struct mm *mm;
	struct vma *v;

	list_for_each(mm, &mm_all, all_link)
		list_for_each(v, &mm->vmas, link)
			if (v->rmap.anon_vma)
				return v;
	return NULL;
}

static bool break_list(void)
{
	struct vma *v = find_vma();

	if (v)
		list_remove(&v->rmap.link);
	return v;
}

/* An anon_vma loses its only vma. */
static bool break_last(void)
{
	struct mm *mm;
	struct vma *v;

	list_for_each(mm, &mm_all, all_link)
		list_for_each(v, &mm->vmas, link)
			if (v->rmap.anon_vma && v->rmap.link.next == v->rmap.link.prev) {
				list_remove(&v->rmap.link);
				return true;
			}
	return false;
}

const struct breakage break_rmap[] = {
	{ "rmap.1", "changed the index of a mapped page",	break_index },
	{ "rmap.3", "took a vma off its anon_vma's list",	break_list },
	{ "rmap.4", "took the only vma off an anon_vma's list",	break_last },
	{ NULL, NULL, NULL }
};

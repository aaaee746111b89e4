/* Breaking the invariants of the build without a reverse map (kernel/breakage.h). */
#include "kernel/breakage.h"
#include "mm/rmap/scan/scan.h"
#include "mm/vma.h"

/* Some anonymous page, or NULL. */
static struct page *find_anon(void)
{
	for (pfn_t pfn = 0; pfn < page_count; pfn++) {
		if (page_is(pfn_page(pfn), PG_ANON))
			return pfn_page(pfn);
	}
	return NULL;
}

/* A search finds all PTEs that there are; so there is one less than the page knows of. */
static bool break_reach(void)
{
	struct page *p = find_anon();

	if (p)
		p->mapcount++;
	return p;
}

static bool break_marker(void)
{
	struct page *p = find_anon();

	if (p)
		p->mapping = p;
	return p;
}

static bool break_hint(void)
{
	struct page *p = find_anon();

	if (p)
		p->index++;
	return p;
}

const struct breakage rmap_breakages[] = {
	{ "rmap.1", "made a page know of a PTE too many",	break_reach },
	{ "rmap.9", "took the marker from an anonymous page",	break_marker },
	{ "rmap.9", "made a page's hint an odd address",	break_hint },
	{ 0 }
};

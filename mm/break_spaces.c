/* Breaking vma.1 to vma.4, tree.N, mm.N and pt.N (kernel/breakage.h). What is broken belongs to
 * another address space than the caller's, where that goes, so that it still runs into the audit. */
#include "kernel/breakage.h"
#include "kernel/task.h"
#include "mm/frame.h"
#include "mm/vma.h"

enum { RED, BLACK };

/* An address space that isn't ours. */
static struct mm *other_mm(void)
{
	struct mm *mm;

	list_for_each(mm, &mm_all, all_link)
		if (mm != current_task()->mm && mm->vma_count > 1)
			return mm;
	return NULL;
}

/* Its first vma with (or without) an object and at least `count` pages. */
static struct vma *find_vma(struct mm *mm, bool object, uint32_t count)
{
	struct vma *v;

	list_for_each(v, &mm->vmas, link)
		if ((v->object != NULL) == object && vma_pages(v) >= count &&
		    !(v->flags & VMA_GROWSDOWN))
			return v;
	return NULL;
}

static bool break_bounds(void)
{
	list_first(&other_mm()->vmas, struct vma, link)->start += 16;
	return true;
}

static bool break_list(void)
{
	other_mm()->vma_count++;
	return true;
}

/* A vma is split for nothing. */
static bool break_merge(void)
{
	struct mm *mm = other_mm();
	struct vma *v = find_vma(mm, false, 2);

	return v && vma_split(v, v->start + PAGE_SIZE);
}

static bool break_object_link(void)
{
	struct vma *v = find_vma(other_mm(), true, 1);

	if (v)
		list_remove(&v->object_link);
	return v;
}

static bool break_total(void)
{
	other_mm()->total_pages++;
	return true;
}

static bool break_locked(void)
{
	other_mm()->locked_pages++;
	return true;
}

static bool break_rss(void)
{
	other_mm()->rss++;
	return true;
}

static bool break_colour(void)
{
	struct tree_node *root = other_mm()->vma_tree.root;
	struct tree_node *child = root->left ? root->left : root->right;

	root->colour = child->colour = RED;
	return true;
}

static bool break_height(void)
{
	struct tree_node *root = other_mm()->vma_tree.root;
	struct tree_node *child = root->left ? root->left : root->right;

	child->colour = child->colour == RED ? BLACK : RED;
	return true;
}

struct place { pte_t *pte; };

static void note_page(struct mm *mm, vaddr_t addr, pte_t *pte, void *arg)
{
	struct place *found = arg;

	(void)mm;
	(void)addr;
	if (pte_present(*pte) && page_is(pfn_page(pte_pfn(*pte)), PG_ANON))
		found->pte = pte;
}

/* A PTE of an anonymous page. */
static pte_t *find_pte(void)
{
	struct place found = { NULL };

	pte_for_each(other_mm(), note_page, &found);
	return found.pte;
}

/* A vma allows nothing any more, but its PTEs do. */
static bool break_protection(void)
{
	struct vma *v = find_vma(other_mm(), false, 1);

	if (v)
		v->flags &= ~(uint32_t)VMA_PROT;
	return v;
}

static bool break_frame(void)
{
	struct page *p = frame_take(&zones[ZONE_DMA], 0);
	pte_t *pte = find_pte();

	if (!p || !pte)
		return false;
	p->count = 0;
	frame_give(p, 0);
	*pte = pte_make(page_pfn(p), *pte & ~PAGE_MASK);
	return true;
}

static bool break_entry(void)
{
	pte_t *pte = find_pte();

	if (pte)
		*pte = pte_from_swap(swap_entry_make(SWAP_AREAS_MAX - 1, 1));
	return pte;
}

const struct breakage break_spaces[] = {
	{ "vma.1",  "moved the start of a vma by 16 bytes",	break_bounds },
	{ "vma.2",  "counted one vma too many",			break_list },
	{ "vma.3",  "split a vma",				break_merge },
	{ "vma.4",  "took a vma off its object's list",		break_object_link },
	{ "tree.1", "made the root and its child red",		break_colour },
	{ "tree.2", "changed the colour of one node",		break_height },
	{ "mm.1",   "raised total_pages",			break_total },
	{ "mm.2",   "raised rss",				break_rss },
	{ "mm.3",   "raised locked_pages",			break_locked },
	{ "pt.1",   "let a PTE name a free frame",		break_frame },
	{ "pt.2",   "let a PTE name a slot that nobody uses",	break_entry },
	{ "pt.3",   "took all rights from a vma and not from its PTEs", break_protection },
	{ NULL, NULL, NULL }
};

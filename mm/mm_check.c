/*
 * The audit's part about one address space: vma.1 to vma.5, mm.1 to mm.3, pt.1 to pt.3 and the
 * tree's own tree.1, tree.2.
 */
#include "mm/audit.h"
#include "mm/object.h"
#include "mm/rmap.h"
#include "mm/swap.h"
#include "mm/vma.h"

/* Black nodes on the way down from `n`, counting vmas on the way; a red-black fault is
 * told. Depth is bounded by twice the logarithm of VMA_COUNT_MAX. */
static unsigned check_subtree(const struct tree_node *n, uint32_t *vmas, unsigned *bad)
{
	const struct vma *v;
	unsigned left, right;

	if (!n)
		return 0;
	v = container_of(n, struct vma, node);
	++*vmas;
	left = check_subtree(n->left, vmas, bad);
	right = check_subtree(n->right, vmas, bad);
	if (left != right)
		*bad += audit_violation("tree.2", "all paths have as many black nodes: vma %#x, "
			"%u and %u", v->start, left, right);
	if (n->colour == 0 && ((n->left && n->left->colour == 0) ||
			       (n->right && n->right->colour == 0)))
		*bad += audit_violation("tree.1", "a red node's children are black: vma %#x",
					v->start);
	if ((n->left && n->left->parent != n) || (n->right && n->right->parent != n))
		*bad += audit_violation("tree.2", "children know their parent: vma %#x", v->start);
	return left + (n->colour != 0);
}

/* vma.1 and vma.4 of one vma; vma.2 and vma.3 against the one before it. vma.3 not while somebody
 * is in the middle of a change (mremap takes vmas apart, and sleeps). */
static unsigned check_vma(struct mm *mm, const struct vma *v, const struct vma *before)
{
	unsigned bad = 0;
	const struct vma *found = vma_at(mm, v->start);

	if (v->start >= v->end || (v->start | v->end) & ~PAGE_MASK || v->start < USER_START ||
	    v->end > USER_END || v->mm != mm)
		bad += audit_violation("vma.1", "bounds in order, aligned, in user space: "
				       "%#x-%#x", v->start, v->end);
	if ((before && before->end > v->start) || found != v)
		bad += audit_violation("vma.2", "no overlap, list and tree agree: %#x-%#x",
				       v->start, v->end);
	if (before && !mm->mmap_lock.owner && vma_can_merge(before, v))
		bad += audit_violation("vma.3", "mergeable neighbours are merged: %#x-%#x and "
			"%#x-%#x", before->start, before->end, v->start, v->end);
	if ((v->object != NULL) == list_empty(&v->object_link))
		bad += audit_violation("vma.4", "on object->vmas if it has an object: %#x-%#x",
				       v->start, v->end);
	return bad;
}

/* What the PTEs of an mm add up to. */
struct pte_sums { uint32_t present, swapped; };

/* pt.3, unless somebody is in the middle of changing the protection. */
static unsigned check_reach(const struct mm *mm, const struct vma *v, vaddr_t addr, pte_t e)
{
	if (mm->mmap_lock.owner || pte_is_none(e) == !(v->flags & VMA_PROT))
		return 0;
	return audit_violation("pt.3", "a PTE is out of reach exactly if its vma allows nothing: "
			       "%#x holds %#x, vma flags %#x", addr, e, v->flags);
}

/* pt.1 to pt.3 and vma.5 of one PTE that isn't 0. */
static unsigned check_pte(struct mm *mm, vaddr_t addr, pte_t e, struct pte_sums *sums)
{
	struct vma *v = vma_at(mm, addr);
	struct page *p;

	if (!v)
		return audit_violation("pt.1", "a PTE lies in a vma: %#x holds %#x", addr, e);
	if (pte_is_swap(e)) {
		sums->swapped++;
		if (swap_count(pte_swap_entry(e)) == 0)
			return audit_violation("pt.2", "a swap entry's slot is in use: %#x "
				"holds %#x", addr, e);
		return 0;
	}
	if (!pte_present(e))
		return audit_violation("pt.2", "not present means 0 or a swap entry: %#x holds "
			"%#x", addr, e);
	if (pte_pfn(e) >= page_count || pfn_page(pte_pfn(e))->count == 0)
		return audit_violation("pt.1", "a present PTE's frame is RAM and not free: %#x "
			"holds %#x", addr, e);
	p = pfn_page(pte_pfn(e));
	if (!page_is(p, PG_RESERVED))
		sums->present++;
	if (page_is(p, PG_ANON) && !rmap_page_fits(p, v, addr))
		return audit_violation("vma.5", "the reverse map finds an anonymous page where "
			"a PTE maps it: pfn %#x at %#x, index %#x", pte_pfn(e), addr, p->index);
	return check_reach(mm, v, addr, e);
}

/* All PTEs of the user half against rss and swap_ptes (mm.2). */
static unsigned check_ptes(struct mm *mm)
{
	struct pte_sums sums = { 0, 0 };
	unsigned bad = 0;
	vaddr_t addr = 0;

	while (addr < USER_END) {
		const pte_t *pte = pte_find(mm, addr);

		if (!pte) {
			addr = pgtable_next(addr);
			continue;
		}
		if (*pte)
			bad += check_pte(mm, addr, *pte, &sums);
		addr += PAGE_SIZE;
	}
	if (sums.present != mm->rss || sums.swapped != mm->swap_ptes)
		bad += audit_violation("mm.2", "rss and swap_ptes count the PTEs: %u and %u, "
			"found %u and %u", mm->rss, mm->swap_ptes, sums.present, sums.swapped);
	return bad;
}

/* Check one mm; prints each violation, returns how many. Nothing may sleep meanwhile. Whoever
 * holds mmap_lock may sleep in the middle of his work: then vma.3 and pt.3 are left out. */
unsigned mm_check(struct mm *mm)
{
	const struct vma *v, *before = NULL;
	uint32_t in_list = 0, in_tree = 0, total = 0, locked = 0;
	unsigned bad = 0;

	list_for_each(v, &mm->vmas, link) {
		bad += check_vma(mm, v, before);
		total += vma_pages(v);
		locked += v->flags & VMA_LOCKED ? vma_pages(v) : 0;
		in_list++;
		before = v;
	}
	check_subtree(mm->vma_tree.root, &in_tree, &bad);
	if (in_list != in_tree || in_list != mm->vma_count)
		bad += audit_violation("vma.2", "list and tree hold the same vmas: %u and %u, "
			"counted %u", in_list, in_tree, mm->vma_count);
	if (total != mm->total_pages)
		bad += audit_violation("mm.1", "total_pages is the sum of the vmas: %u, found %u",
				       mm->total_pages, total);
	if (locked != mm->locked_pages)
		bad += audit_violation("mm.3", "locked_pages is the sum of the locked vmas: %u, "
				       "found %u", mm->locked_pages, locked);
	return bad + check_ptes(mm);
}

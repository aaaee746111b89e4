"""The audit's part about address spaces and mapped pages: mm/mm_check.c, mm/rmap/ and the sweep of
mm/audit.c."""
from .machine import PAGE
from .spaces import Pte
from .words import x

USER_START = PAGE               # nothing is ever mapped at page 0: kernel/usercopy.h
RED = 0                         # enum tree_node.colour: mm/tree.c


def check_spaces(view):
    """vma.1 to vma.5, mm.1 to mm.3, pt.1 to pt.3, tree.1 and tree.2 of every mm."""
    for mm in view.m.mms():
        yield from _mm(view, mm)


def _mm(view, mm):
    vmas, in_tree = view.spaces.vmas(mm), []
    before = None
    broken = []
    _subtree(view.m, mm.vma_tree.root, in_tree, broken)
    for v in vmas:
        yield from _vma(view, mm, v, before, in_tree)
        before = v
    yield from broken
    if len(vmas) != len(in_tree) or len(vmas) != mm.vma_count:
        yield "vma.2", f"list and tree hold the same vmas: {len(vmas)} and {len(in_tree)}, counted {mm.vma_count}"
    total = sum(view.spaces.pages(v) for v in vmas)
    if total != mm.total_pages:
        yield "mm.1", f"total_pages is the sum of the vmas: {mm.total_pages}, found {total}"
    locked_flag = view.m.constant("VMA_LOCKED")
    locked = sum(view.spaces.pages(v) for v in vmas if v.flags & locked_flag)
    if locked != mm.locked_pages:
        yield "mm.3", f"locked_pages is the sum of the locked vmas: {mm.locked_pages}, found {locked}"
    yield from _ptes(view, mm, vmas)


def _subtree(m, node, found, broken):
    """Black nodes on the way down from `node`; its vmas, by address, go to `found`."""
    if node is None:
        return 0
    v = m.holder("vma", "node", node.address)
    left = _subtree(m, node.left, found, broken)
    found.append(v)
    right = _subtree(m, node.right, found, broken)
    if left != right:
        broken.append(("tree.2", f"all paths have as many black nodes: vma {x(v.start)}, {left} and {right}"))
    children = [c for c in (node.left, node.right) if c]
    if node.colour == RED and any(c.colour == RED for c in children):
        broken.append(("tree.1", f"a red node's children are black: vma {x(v.start)}"))
    if any(c.parent != node for c in children):
        broken.append(("tree.2", f"children know their parent: vma {x(v.start)}"))
    return left + (node.colour != RED)


def _vma(view, mm, v, before, in_tree):
    place = f"{x(v.start)}-{x(v.end)}"
    if v.start >= v.end or (v.start | v.end) % PAGE or v.start < USER_START or v.end > view.spaces.user_end or v.mm != mm:
        yield "vma.1", f"bounds in order, aligned, in user space: {place}"
    if before is not None and before.end > v.start or v not in in_tree:
        yield "vma.2", f"no overlap, list and tree agree: {place}"
    if before is not None and mm.mmap_lock.owner is None and _can_merge(view, before, v):    # else it may be in the middle of a change
        yield "vma.3", f"mergeable neighbours are merged: {x(before.start)}-{x(before.end)} and {place}"
    if (v.object is not None) == view.m.list_empty(v.object_link):
        yield "vma.4", f"on object->vmas if it has an object: {place}"


def _can_merge(view, front, back):
    """vma_can_merge() of mm/vma.c."""
    pages = view.spaces.pages(front)
    if front.end != back.start or front.flags != back.flags or front.object != back.object:
        return False
    if front.flags & view.m.constant("VMA_GROWSDOWN"):
        return False
    if front.object is not None and front.object_page + pages != back.object_page:
        return False
    return view.rmap.variant.can_merge(front, back, pages)


def _ptes(view, mm, vmas):
    present = swapped = 0
    for addr, pte in view.spaces.ptes(mm):
        v = next((v for v in vmas if v.start <= addr < v.end), None)
        if v is None:
            yield "pt.1", f"a PTE lies in a vma: {x(addr)} holds {x(pte.value)}"
            continue
        if pte.is_swap():
            swapped += 1
        elif pte.pfn < view.frames.count and view.frames.page(pte.pfn).count and \
                not view.frames.has(view.frames.page(pte.pfn), "RESERVED"):
            present += 1
        yield from _pte(view, v, addr, pte)
    if (present, swapped) != (mm.rss, mm.swap_ptes):
        yield "mm.2", (f"rss and swap_ptes count the PTEs: {mm.rss} and {mm.swap_ptes}, found {present} "
                       f"and {swapped}")


def _pte(view, v, addr, pte: Pte):
    if pte.is_swap():
        if view.slot_count(pte.entry) == 0:
            yield "pt.2", f"a swap entry's slot is in use: {x(addr)} holds {x(pte.value)}"
        return
    if pte.pfn >= view.frames.count or view.frames.page(pte.pfn).count == 0:
        yield "pt.1", f"a present PTE's frame is RAM and not free: {x(addr)} holds {x(pte.value)}"
        return
    allowed = v.flags & (view.m.constant("VMA_READ") | view.m.constant("VMA_WRITE") | view.m.constant("VMA_EXEC"))
    if pte.is_none() != (allowed == 0) and v.mm.mmap_lock.owner is None:    # else it may be changing
        yield "pt.3", (f"a PTE is out of reach exactly if its vma allows nothing: {x(addr)} holds {x(pte.value)}, "
                       f"vma flags {x(v.flags)}")
    page = view.frames.page(pte.pfn)
    if view.frames.has(page, "ANON") and not view.rmap.variant.fits(page, v, addr):
        yield "vma.5", (f"the reverse map finds an anonymous page where a PTE maps it: pfn {x(page.pfn)} at {x(addr)}, "
                        f"index {x(page.index)}")


def check_rmap(view):
    """rmap.2 to rmap.4, as far as the variant has them."""
    return view.rmap.variant.check()


def check_pages(view):
    """frame.3, frame.7, rmap.1, and the sums of mapped pages."""
    frames, mapped, anon = view.frames, 0, 0
    for page in frames.all():
        holders = page.mapcount + frames.has(page, "SWAPCACHE") + frames.has(page, "OBJECT")
        if page.count < holders:
            yield "frame.3", f"pfn {x(page.pfn)}: count {page.count}, holders {holders}"
        if frames.has(page, "WRITEBACK") and page.count < holders + 1:
            yield "frame.7", f"pfn {x(page.pfn)} is being written: count {page.count}, holders {holders}"
        if page.mapcount == 0:
            continue
        mapped += 1
        anon += frames.has(page, "ANON")
        reached = sum(1 for _ in view.rmap.mappers(page))
        if reached != page.mapcount:
            yield "rmap.1", (f"every PTE of a page is reached from it: pfn {x(page.pfn)}, mapcount {page.mapcount}, "
                             f"reached {reached}")
    told = view.m.variable("mapped_pages", "mm/rmap/common.c"), view.m.variable("mapped_anon", "mm/rmap/common.c")
    if (mapped, anon) != told:
        yield "frame.2", f"{mapped} pages are mapped, {anon} anonymous; counted {told[0]}, {told[1]}"


def check_mapcounts(view):
    """frame.2 and pt.2, by a sweep over all PTEs."""
    strays = len(view.sweep.strays)
    for page in view.frames.all():
        found = 0 if view.frames.has(page, "RESERVED") else len(view.sweep.frames.get(page.pfn, ()))
        if page.mapcount != found:
            yield "frame.2", (f"mapcount is the number of PTEs: pfn {x(page.pfn)}, mapcount - PTEs = "
                              f"{page.mapcount - found}, flags {x(page.flags)}")
    strays += sum(len(ptes) for pfn, ptes in view.sweep.frames.items() if pfn >= view.frames.count)
    for holders in (view.sweep.slots, view.entries):
        strays += sum(len(who) for (area, slot), who in holders.items()
                      if area not in view.areas or slot >= view.areas[area].size)
    if strays:
        yield "pt.2", f"{strays} PTEs or object entries name neither a frame nor a slot"

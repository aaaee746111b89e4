"""From a page to the PTEs that map it, the way the kernel's reverse map goes.

Each reverse mapping is a class: it says at which (mm, address) a page may be mapped. Which one a kernel
has, it says itself (rmap_name). Pages of objects are found through the object's vmas in every build.
"""
from . import VmError
from .machine import PAGE_SHIFT


class AnonVma:
    """A page points to an anon_vma, which lists the vmas; index is an offset (docs/history.md 6)."""

    name = "anon_vma"

    def __init__(self, m, spaces):
        self.m, self.spaces = m, spaces

    def candidates(self, page):
        """(mm, vma, address) where an anonymous page may be mapped."""
        anon_vma = self.m.struct("anon_vma", page.mapping)
        for vma in self.m.each(anon_vma.vmas, "vma", "rmap.link"):
            offset = page.index - vma.pgoff
            if 0 <= offset < self.spaces.pages(vma):
                yield vma.mm, vma, vma.start + (offset << PAGE_SHIFT)

    @staticmethod
    def fits(page, vma, addr):
        """Would the reverse map find the page at `addr` of `vma`? (rmap_page_fits)"""
        anon_vma = vma.rmap.anon_vma
        return anon_vma is not None and page.mapping == anon_vma.address and \
            page.index == vma.pgoff + ((addr - vma.start) >> PAGE_SHIFT)

    @staticmethod
    def can_merge(front, back, front_pages):
        a, b = front.rmap.anon_vma, back.rmap.anon_vma
        return (a == b or a is None or b is None) and front.pgoff + front_pages == back.pgoff

    def check(self):
        """rmap.3 and rmap.4: (invariant, words)."""
        listed = 0
        for a in self.m.each(self.m.variable("all_anon_vmas"), "anon_vma", "link"):
            if self.m.list_empty(a.vmas):
                yield "rmap.4", "an anon_vma without vmas"
            for vma in self.m.each(a.vmas, "vma", "rmap.link"):
                listed += 1
                if vma.rmap.anon_vma != a:
                    yield "rmap.3", f"vma {vma.start:#x}-{vma.end:#x} is on a foreign list"
        if listed != self.m.variable("linked_vma_count"):
            yield "rmap.3", f"{listed} vmas are linked, {self.m.variable('linked_vma_count')} were counted"

    def describe(self, page):
        return f"anon_vma {page.mapping:#x}, linear page {page.index:#x}"


class AnonMm:
    """A page points to an anonmm, one of a family born by exec; index is its address in all of them
    (docs/history.md 5)."""

    name = "anonmm"

    def __init__(self, m, spaces):
        self.m, self.spaces = m, spaces

    def _members(self, anonmm):
        """The family of `anonmm`: its head, then who hangs on the head's ring."""
        head = anonmm.head
        yield head
        yield from self.m.each(head.list, "anonmm", "list")

    def candidates(self, page):
        for member in self._members(self.m.struct("anonmm", page.mapping)):
            if member.mm is not None:
                yield member.mm, self.spaces.vma_at(member.mm, page.index), page.index

    def fits(self, page, vma, addr):
        """(The family is the page's and the mm's.)"""
        return page.index == addr and self.m.struct("anonmm", page.mapping).head == vma.mm.rmap.anonmm.head

    @staticmethod
    def can_merge(_front, _back, _front_pages):
        return True

    def check(self):
        for mm in self.m.mms():
            if mm.rmap.anonmm.mm != mm:
                yield "rmap.2", f"the anonmm of mm {mm.address:#x} is another's"

    def describe(self, page):
        return f"anonmm {page.mapping:#x}, address {page.index:#x}"


VARIANTS = {cls.name: cls for cls in (AnonVma, AnonMm)}


class Rmap:
    """The reverse mapping of machine `m`, checked against the page tables PTE by PTE."""

    def __init__(self, m, frames, spaces):
        self.m, self.frames, self.spaces = m, frames, spaces
        name = m.variable("rmap_name")
        if name not in VARIANTS:
            raise VmError(f"vmview knows no reverse mapping {name}; it knows {', '.join(VARIANTS)}")
        self.variant = VARIANTS[name](m, spaces)

    def _object_candidates(self, page):
        for vma in self.m.each(self.m.struct("object", page.mapping).vmas, "vma", "object_link"):
            offset = page.index - vma.object_page
            if 0 <= offset < self.spaces.pages(vma):
                yield vma.mm, vma, vma.start + (offset << PAGE_SHIFT)

    def candidates(self, page):
        """Where the page may be mapped."""
        if self.frames.has(page, "ANON"):
            return self.variant.candidates(page)
        if self.frames.has(page, "OBJECT"):
            return self._object_candidates(page)
        return iter(())

    def mappers(self, page):
        """(mm, vma, address, Pte) of those candidates whose PTE does map the page."""
        for mm, vma, addr in self.candidates(page):
            pte = self.spaces.pte(mm, addr)
            if pte and pte.maps() and pte.pfn == page.pfn and not pte.is_swap():
                yield mm, vma, addr, pte

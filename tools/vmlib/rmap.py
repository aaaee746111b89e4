"""From a page to the PTEs that map it, the way the kernel's reverse map goes.

Each reverse mapping is a class: it says at which (mm, address) a page may be mapped. Which one a kernel
has, it says itself (rmap_name). Pages of objects are found through the object's vmas in every build.
"""
import functools

from . import VmError
from .machine import PAGE, PAGE_SHIFT
from .words import x


class AnonVma:
    """A page points to an anon_vma, which lists the vmas; index is an offset (docs/history.md 6)."""

    name = "anon_vma"

    def __init__(self, m, frames, spaces):
        self.m, self.frames, self.spaces = m, frames, spaces

    def candidates(self, page):
        """(mm, vma, address) where an anonymous page may be mapped."""
        anon_vma = self.m.struct("anon_vma", page.mapping)
        for vma in self.m.each(anon_vma.vmas, "vma", "rmap.link"):
            offset = page.index - vma.pgoff & 0xffffffff
            if offset < self.spaces.pages(vma):
                yield vma.mm, vma, vma.start + (offset << PAGE_SHIFT)

    @staticmethod
    def fits(page, vma, addr):
        """Would the reverse map find the page at `addr` of `vma`? (rmap_page_fits)"""
        anon_vma = vma.rmap.anon_vma
        return anon_vma is not None and page.mapping == anon_vma.address and \
            page.index == vma.pgoff + ((addr - vma.start) >> PAGE_SHIFT) & 0xffffffff

    @staticmethod
    def can_merge(front, back, front_pages):
        a, b = front.rmap.anon_vma, back.rmap.anon_vma
        return (a == b or a is None or b is None) and front.pgoff + front_pages & 0xffffffff == back.pgoff

    def check(self):
        """rmap.2 to rmap.4: (invariant, words)."""
        vmas = {v.address: v for mm in self.m.mms() for v in self.spaces.vmas(mm)}
        listed = 0
        for a in self.m.each(self.m.variable("all_anon_vmas"), "anon_vma", "link"):
            if self.m.list_empty(a.vmas):
                yield "rmap.4", "an anon_vma without vmas"
            for vma in self.m.each(a.vmas, "vma", "rmap.link"):
                if vma.rmap.anon_vma != a:
                    yield "rmap.3", f"vma {x(vma.start)}-{x(vma.end)} is on a foreign list"
                if vma.address in vmas:
                    listed += 1
                elif vma.mm.mmap_lock.owner is None:        # else on its way in or out (mremap)
                    yield "rmap.2", f"vma {x(vma.start)}-{x(vma.end)} is listed, but no mm has it"
        linked = sum(v.rmap.anon_vma is not None for v in vmas.values())
        if listed != linked:
            yield "rmap.3", f"{listed} vmas are on lists, {linked} say that they are"

    def describe(self, page):
        return f"anon_vma {page.mapping:#x}, linear page {page.index:#x}"


class AnonMm:
    """A page points to an anonmm, one of a family born by exec; index is its address in all of them
    (docs/history.md 5)."""

    name = "anonmm"

    def __init__(self, m, frames, spaces):
        self.m, self.frames, self.spaces = m, frames, spaces

    def _members(self, anonmm):
        """The family of `anonmm`, itself first: the ring that they are all on."""
        yield anonmm
        yield from self.m.each(anonmm.ring, "anonmm", "ring")

    def candidates(self, page):
        for member in self._members(self.m.struct("anonmm", page.mapping)):
            if member.mm is not None:
                yield member.mm, self.spaces.vma_at(member.mm, page.index), page.index

    def fits(self, page, vma, addr):
        return page.index == addr and self.m.struct("anonmm", page.mapping).head == vma.mm.rmap.anonmm.head

    @staticmethod
    def can_merge(_front, _back, _front_pages):
        return True

    def check(self):
        """rmap.2 and rmap.5 to rmap.8: (invariant, words)."""
        families = {}
        for mm in self.m.mms():
            own = mm.rmap.anonmm
            if own.mm != mm:
                yield "rmap.8", f"an mm and its anonmm point to each other: rss {mm.rss}"
            families.setdefault(own, None)
            families.update(dict.fromkeys(self._members(own)))
        counts = self._page_counts()
        for a in families:
            yield from self._check_one(a, counts.get(a.address, 0))
        exist = self.m.variable("anonmm_count")
        if len(families) != exist:
            yield "rmap.2", f"an anonmm goes when mm and pages go: {len(families)} found, {exist} exist"

    def _page_counts(self):
        """anonmm's address -> anonymous pages that point to it."""
        counts = {}
        for page in self.frames.all():
            if self.frames.has(page, "ANON"):
                counts[page.mapping] = counts.get(page.mapping, 0) + 1
        return counts

    def _check_one(self, a, pages):
        after = next(self.m.each(a.ring, "anonmm", "ring"), a)
        if after.head != a.head or self.m.memory.word(after.ring.address + 4) != a.ring.address:
            yield "rmap.6", f"all on a ring have the same head: {x(a.head.address)} and {x(after.head.address)}"
        if a.mm is None and a.count <= (a == a.head):
            yield "rmap.7", f"an anonmm without mm and pages: count {a.count}"
        wanted = (a.mm is not None) + (sum(1 for _ in self._members(a)) if a == a.head else 0)
        if a.count - pages != wanted:
            yield "rmap.5", f"an anonmm counts mm, pages and members: count - pages = {a.count - pages}, mm and members {wanted}"

    def describe(self, page):
        return f"anonmm {page.mapping:#x}, address {page.index:#x}"


class Scan:
    """Nothing is kept: a page's PTEs are those that a search of all page tables finds. index, the address of its first
    mapping, only says where the kernel looks before it searches (docs/history.md 6.8)."""

    name = "scan"

    def __init__(self, m, frames, spaces):
        self.m, self.frames, self.spaces = m, frames, spaces

    @functools.cached_property
    def _places(self):
        """pfn -> (mm, address) of every PTE that names it."""
        found = {}
        for mm in self.m.mms():
            for addr, pte in self.spaces.ptes(mm):
                if not pte.is_swap():
                    found.setdefault(pte.pfn, []).append((mm, addr))
        return found

    def candidates(self, page):
        for mm, addr in self._places.get(page.pfn, ()):
            yield mm, self.spaces.vma_at(mm, addr), addr

    @staticmethod
    def fits(_page, _vma, _addr):
        return True

    @staticmethod
    def can_merge(_front, _back, _front_pages):
        return True

    def check(self):
        """rmap.9: (invariant, words)."""
        marker = self.m.debug.variable("scan_marker")[0]
        for page in self.frames.all():
            if self.frames.has(page, "ANON") and (page.mapping != marker or page.index >= self.spaces.user_end or page.index % PAGE):
                yield "rmap.9", (f"an anonymous page has the marker and an address of user space: pfn {x(page.pfn)}, "
                                 f"mapping {x(page.mapping)}, index {x(page.index)}")

    def describe(self, page):
        return f"none kept, first mapped at {page.index:#x}"


VARIANTS = {cls.name: cls for cls in (AnonVma, AnonMm, Scan)}


class Rmap:
    """The reverse mapping of machine `m`, checked against the page tables PTE by PTE."""

    def __init__(self, m, frames, spaces):
        self.m, self.frames, self.spaces = m, frames, spaces
        name = m.variable("rmap_name")
        if name not in VARIANTS:
            raise VmError(f"vmview knows no reverse mapping {name}; it knows {', '.join(VARIANTS)}")
        self.variant = VARIANTS[name](m, frames, spaces)

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

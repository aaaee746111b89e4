"""Address spaces: vmas and page tables. What a PTE means is told in mm/pgtable.h."""
import struct

from .machine import PAGE, PAGE_SHIFT

FRAME_MASK = ~(PAGE - 1) & 0xffffffff
SWAP_TAG = 2                    # the two lowest bits of a swap entry: slot << 8 | area << 2 | 2


class Pte:
    """One page table entry."""

    __slots__ = ("value", "bits")

    def __init__(self, value, bits):
        self.value, self.bits = value, bits

    def is_none(self):
        """Does it map a page that nobody may touch (PROT_NONE)?"""
        return self.value != 0 and not self.value & (self.bits["PTE_PRESENT"] | self.bits["PTE_WRITE"])

    def maps(self):
        return bool(self.value & self.bits["PTE_PRESENT"]) or self.is_none()

    def is_swap(self):
        return self.value & 3 == SWAP_TAG

    @property
    def pfn(self):
        return self.value >> PAGE_SHIFT

    @property
    def entry(self):
        """(area, slot) of a swap entry."""
        return entry_of(self.value)


def entry_of(word):
    return word >> 2 & 31, word >> 8


class Spaces:
    """All address spaces of machine `m`."""

    def __init__(self, m):
        self.m = m
        self.bits = m.debug.enum("pte_bit")
        self.table_shift = m.constant("TABLE_SHIFT")
        self.entries = m.constant("TABLE_ENTRIES")
        self.user_end = m.base
        self._vmas = {}

    def vmas(self, mm):
        """Its vmas in the order of the list; read once."""
        if mm.address not in self._vmas:
            self._vmas[mm.address] = list(self.m.each(mm.vmas, "vma", "link"))
        return self._vmas[mm.address]

    def vma_at(self, mm, addr):
        return next((v for v in self.vmas(mm) if v.start <= addr < v.end), None)

    @staticmethod
    def pages(vma):
        return (vma.end - vma.start) >> PAGE_SHIFT

    # ---- Page tables ----

    def _table(self, address):
        return struct.unpack(f"<{self.entries}I", self.m.memory.read(address, self.entries * 4))

    def tables(self, mm):
        """(first address, directory entry, the table's entries) of the tables of the user half."""
        pgdir = mm.pgdir
        if not pgdir:
            return
        for i, entry in enumerate(self._table(pgdir)[:self.user_end >> self.table_shift]):
            if entry & self.bits["PTE_PRESENT"]:
                yield i << self.table_shift, entry, self._table(self.m.base + (entry & FRAME_MASK))

    def ptes(self, mm):
        """(address, Pte) of every PTE of the user half that isn't 0."""
        for first, _entry, table in self.tables(mm):
            yield from self.table_ptes(first, table)

    def table_ptes(self, first, table):
        """The same of one table, for addresses from `first` on."""
        for i, value in enumerate(table):
            if value:
                yield first + (i << PAGE_SHIFT), Pte(value, self.bits)

    def pte(self, mm, addr):
        """The Pte of `addr`, or None if there is no table for it."""
        if addr >= self.user_end or not mm.pgdir:
            return None
        return self.kernel_pte(mm.pgdir, addr)

    def kernel_pte(self, pgdir, addr):
        """The same in a directory of one's choice, and for any address."""
        entry = self.m.memory.word(pgdir + (addr >> self.table_shift) * 4)
        if not entry & self.bits["PTE_PRESENT"]:
            return None
        place = self.m.base + (entry & FRAME_MASK) + (addr >> PAGE_SHIFT & (self.entries - 1)) * 4
        return Pte(self.m.memory.word(place), self.bits)

    def pte_flags(self, pte):
        """The bits of a PTE that maps a page, by name."""
        text = self.m.flags("pte_bit", pte.value & (PAGE - 1), "PTE_").lower()
        return f"none {text}".strip() if pte.is_none() else text

    # ---- One look at every PTE of the machine ----

    def sweep(self):
        """Sweep: who maps each frame and who names each slot, found without the reverse map."""
        return Sweep(self)


class Sweep:
    """`frames`: pfn -> [(mm, address, Pte)]; `slots`: (area, slot) -> [(mm, address)]; `strays`: the rest."""

    def __init__(self, spaces):
        self.frames, self.slots, self.strays = {}, {}, []
        for mm in spaces.m.mms():
            for addr, pte in spaces.ptes(mm):
                if pte.is_swap():
                    self.slots.setdefault(pte.entry, []).append((mm, addr))
                elif pte.maps():
                    self.frames.setdefault(pte.pfn, []).append((mm, addr, pte))
                else:
                    self.strays.append((mm, addr, pte))

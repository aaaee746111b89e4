"""The page array: every frame of RAM and the one state it is in (frame.8)."""
import struct
from typing import NamedTuple

from . import VmError

# As frame.8 has them; the first flag that a frame has says its state.
STATES = (("RESERVED", "reserved"), ("SLAB", "slab"), ("TABLE", "page table"), ("KSTACK", "kernel stack"),
          ("OBJECT", "object"), ("ANON", "anonymous"))
FREE, HELD = "free", "held"
AGE_SHIFT = 24                  # PG_AGE_SHIFT of mm/page.h, a macro: debug information doesn't have it
ALL_STATES = [FREE] + [words for _, words in STATES] + [HELD]


class Frame(NamedTuple):
    """What struct page says of frame `pfn`."""
    pfn: int
    flags: int
    count: int
    mapcount: int
    mapping: int
    index: int
    private: int


class Frames:
    """The page array of machine `m`."""

    def __init__(self, m):
        self.m = m
        self.count = m.variable("page_count")
        self.array, type_ = m.variable("pages").address, m.debug.struct("page")
        self.bytes = type_.size
        self.words = [type_.offset(name) // 4 for name in Frame._fields[1:]]
        self._all = []
        self.flag = {name[3:]: bit for name, bit in m.debug.enum("page_flag").items()}
        self.multiple = self.flag["BUDDY"] | self.flag["BLOCK"]

    def _frame(self, pfn, data):
        words = struct.unpack(f"<{self.bytes // 4}I", data)
        return Frame(pfn, *(words[i] for i in self.words))

    def page(self, pfn):
        """The Frame of that number."""
        if not 0 <= pfn < self.count:
            raise VmError(f"no such pfn: {pfn:#x} (there are {self.count:#x})")
        if self._all:
            return self._all[pfn]
        return self._frame(pfn, self.m.memory.read(self.array + pfn * self.bytes, self.bytes))

    def all(self):
        """All Frames by number, read at once."""
        if not self._all:
            data = self.m.memory.read(self.array, self.count * self.bytes)
            self._all = [self._frame(pfn, data[pfn * self.bytes:(pfn + 1) * self.bytes]) for pfn in range(self.count)]
        return self._all

    def at(self, address):
        """The Frame whose descriptor lies at `address`. VmError if none does."""
        pfn, rest = divmod(address - self.array, self.bytes)
        if rest or not 0 <= pfn < self.count:
            raise VmError(f"{address:#x} is no page descriptor")
        return self.page(pfn)

    def listed(self, head):
        """The Frames on a list of pages, in order."""
        return (self.at(page.address) for page in self.m.each(head, "page", "lru"))

    def has(self, page, *names):
        """Has it any of the flags named?"""
        return any(page.flags & self.flag[name] for name in names)

    def size(self, page):
        """How many frames the descriptor speaks for."""
        return 1 << (page.private & 31) if page.flags & self.multiple else 1

    def blocks(self):
        """(frames, Frame) over all of RAM: a free or allocated block at once, else frame by frame."""
        pages, pfn = self.all(), 0
        while pfn < self.count:
            size = self.size(pages[pfn])
            yield size, pages[pfn]
            pfn += size

    def state(self, page):
        """Of a frame that isn't inside a block of more."""
        flags = page.flags
        if flags & self.flag["BUDDY"]:
            return FREE
        for name, words in STATES:
            if flags & self.flag[name]:
                return words
        return HELD

    def block_of(self, pfn):
        """(frames, Frame) of the block that frame `pfn` lies in: its own, or one that begins further down."""
        own = self.page(pfn)
        for order in range(self.m.constant("FRAME_ORDERS")):
            page = self.page(pfn & ~((1 << order) - 1))
            if page.flags & self.multiple and page.pfn + self.size(page) > pfn:
                return self.size(page), page
            if own.count:
                break
        return 1, own

    def zone(self, page):
        which = "ZONE_NORMAL" if self.has(page, "NORMAL") else "ZONE_DMA"
        return self.zones()[self.m.constant(which)]

    def zones(self):
        return list(self.m.variable("zones"))

    def sums(self):
        """{state: frames}."""
        sums = dict.fromkeys(ALL_STATES, 0)
        for size, page in self.blocks():
            sums[self.state(page)] += size
        return sums

    def flag_names(self, page):
        age = page.flags >> AGE_SHIFT
        names = self.m.flags("page_flag", page.flags & ((1 << AGE_SHIFT) - 1), "PG_")
        return f"{names} age {age}" if age else names

    def list_of(self, page):
        """Which list of its zone a page with PG_LRU is on."""
        return "active" if self.has(page, "ACTIVE") else "clean" if self.has(page, "CLEAN") else "inactive"

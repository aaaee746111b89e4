"""Slab caches: objects in use and free, slab by slab (mm/slab.c)."""
from .machine import PAGE


class Slab:
    """All caches of machine `m`."""

    def __init__(self, m, frames):
        self.m, self.frames = m, frames
        self.none = m.constant("SLAB_NONE", "mm/slab.c")
        self.tag, self.tag_mask = m.constant("SLAB_TAG", "mm/slab.c"), m.constant("SLAB_TAG_MASK", "mm/slab.c")
        self.pattern = m.constant("SLAB_PATTERN", "mm/slab.c").to_bytes(4, "little")

    def caches(self):
        return self.m.each(self.m.variable("caches", "mm/slab.c"), "slab_cache", "link")

    def slabs(self, cache):
        """The Frames of its slabs, those with room first."""
        yield from self.frames.listed(cache.partial)
        yield from self.frames.listed(cache.full)

    def object_at(self, cache, slab, n):
        return self.m.base + slab.pfn * PAGE + n * cache.bytes

    def intact(self, cache, address):
        """Has nobody written to the free object at `address`?"""
        data = self.m.memory.read(address, cache.bytes)
        first = int.from_bytes(data[:4], "little")
        return first & self.tag_mask == self.tag and data[4:] == self.pattern * (cache.bytes // 4 - 1)

    def check(self, cache, slab):
        """slab.1 of one slab: words, or None."""
        n, free, capacity = slab.private, 0, cache.per_slab
        while n != self.none:
            if n >= capacity or free > capacity or not self.intact(cache, self.object_at(cache, slab, n)):
                return f"free objects are intact: cache {cache.name}, pfn {slab.pfn:#x}, object {n}"
            n = self.m.memory.word(self.object_at(cache, slab, n)) & ~self.tag_mask & 0xffffffff
            free += 1
        if free + slab.index != capacity or slab.mapping != cache.address:
            return (f"free + used = capacity: cache {cache.name}, pfn {slab.pfn:#x}, {free} free, "
                    f"{slab.index} used of {capacity}")
        return None

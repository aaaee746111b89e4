"""The audit's part about frames, slabs and LRU lists: mm/frame_check.c, mm/slab.c, mm/lru.c."""
from .frames import STATES
from .words import x


def check_frames(view):
    """frame.1, 5, 7, 8, 9, 10, 12 of each descriptor, and frame.11."""
    frames, m = view.frames, view.m
    zones = len(frames.zones())
    free, ours = [0] * zones, [0] * zones
    normal = m.constant("ZONE_NORMAL")
    for size, page in frames.blocks():
        zone = normal if frames.has(page, "NORMAL") else m.constant("ZONE_DMA")
        if frames.has(page, "BUDDY"):
            yield from _free_block(frames, size, page)
            free[zone] += size
        else:
            yield from _used_frame(frames, page)
        if not frames.has(page, "RESERVED"):
            ours[zone] += size
    for zone, frees, owned in zip(frames.zones(), free, ours):
        yield from _sums(view, zone, frees, owned)


def _free_block(frames, size, page):
    allowed = frames.flag["NORMAL"]
    for i in range(size):
        q = frames.page(page.pfn + i)
        may = allowed | (frames.flag["BUDDY"] if i == 0 else 0)
        if q.count or q.mapcount or q.mapping or q.flags & ~may:
            yield "frame.1", (f"a free frame is nobody's: pfn {x(q.pfn)} count {q.count}, mapcount {q.mapcount}, "
                              f"flags {x(q.flags)}")
    if page.pfn & (size - 1):
        yield "frame.9", (f"a free block of order k begins at a multiple of 2^k: pfn {x(page.pfn)}, "
                          f"order {page.private}")
    buddy = page.pfn ^ size
    if page.private < frames.m.constant("FRAME_ORDERS") - 1 and page.pfn < buddy < frames.count:
        other = frames.page(buddy)
        same_zone = frames.has(page, "NORMAL") == frames.has(other, "NORMAL")
        if frames.has(other, "BUDDY") and other.private == page.private and same_zone:
            yield "frame.10", (f"two free buddies of one order don't exist: pfn {x(page.pfn)} and {x(buddy)}, "
                               f"order {page.private}")


def _used_frame(frames, page):
    found = sum(frames.has(page, name) for name, _ in STATES)
    if frames.has(page, "RESERVED"):        # the kernel's own tables are page tables besides
        found -= frames.has(page, "TABLE")
    if found > 1:
        yield "frame.8", f"every frame is in one state: pfn {x(page.pfn)} flags {x(page.flags)}"
    if page.count == 0 and not frames.has(page, "RESERVED"):
        yield "frame.8", (f"every frame is in one state: pfn {x(page.pfn)} is neither free nor held, "
                          f"flags {x(page.flags)}")
    if bool(page.mapping) != frames.has(page, "ANON", "OBJECT", "SLAB"):
        yield "frame.5", (f"mapping goes with PG_ANON, PG_OBJECT or PG_SLAB: pfn {x(page.pfn)} "
                          f"flags {x(page.flags)}")
    if frames.has(page, "WRITEBACK") and not frames.has(page, "SWAPCACHE", "OBJECT"):
        yield "frame.7", f"write-back needs swap cache or object: pfn {x(page.pfn)} flags {x(page.flags)}"
    if frames.has(page, "BUFFER") and not frames.has(page, "SWAPCACHE"):
        yield "frame.12", f"only pages of the swap cache have buffer heads: pfn {x(page.pfn)} flags {x(page.flags)}"


def _sums(view, zone, free, ours):
    frames, listed = view.frames, 0
    name = zone.name
    if not name:                            # a zone that the machine doesn't have
        return
    for order, head in enumerate(zone.free_list):
        for page in frames.listed(head):
            listed += 1 << order
            if not frames.has(page, "BUDDY") or page.private != order:
                yield "frame.1", f"on a free list of order {order}: pfn {x(page.pfn)} flags {x(page.flags)}"
    if not listed == free == zone.free:
        yield "frame.11", (f"zone.free is the sum of its free blocks: {name} says {zone.free}, lists {listed}, "
                           f"array {free}")
    if ours != zone.present:
        yield "frame.8", f"the states' sums give all of RAM: {name} has {zone.present} frames, found {ours}"


def check_slabs(view):
    """slab.1."""
    slab, total = view.slab, 0
    for cache in slab.caches():
        used = slabs = 0
        for frame in slab.slabs(cache):
            words = slab.check(cache, frame)
            if words:
                yield "slab.1", words
            used += frame.index
            slabs += 1
        if (used, slabs) != (cache.used, cache.slabs):
            yield "slab.1", (f"a cache's figures are its slabs' sums: {cache.name} used {cache.used} ({used}), "
                             f"slabs {cache.slabs} ({slabs})")
        total += slabs
    counted = view.m.variable("frames", "mm/slab.c")
    if total != counted:
        yield "slab.1", f"frames of all caches: {counted}, found {total}"


def check_lru(view):
    """frame.4."""
    counted = 0
    shared = getattr(view.m.variable("lru_rules"), "global")
    for zone in view.frames.zones():
        for which in ("active", "inactive", "clean"):
            yield from _list(view.frames, zone, which, "NORMAL" if shared and which != "clean" else None)
        counted += zone.active_count + zone.inactive_count + zone.clean_count
    flagged = sum(view.frames.has(page, "LRU") for page in view.frames.all())
    if flagged != counted:
        yield "frame.4", f"{flagged} pages have PG_LRU, {counted} are listed"


def _list(frames, zone, which, owner):
    """One list of `zone`; the pages of all zones are on those of `owner`, or each on its own zone's."""
    n, expected = 0, getattr(zone, which + "_count")
    for page in frames.listed(getattr(zone, which)):
        n += 1
        if zone.name != (owner or frames.zone(page).name):
            yield "frame.4", f"pfn {x(page.pfn)} is on a list of {zone.name}"
        if not frames.has(page, "LRU") or frames.list_of(page) != which:
            yield "frame.4", f"pfn {x(page.pfn)} is on the {which} list of {zone.name}, flags {x(page.flags)}"
        if page.count == 0:
            yield "frame.4", f"pfn {x(page.pfn)} is listed and free"
    if n != expected:
        yield "frame.4", f"{zone.name}: {n} pages are on the {which} list, {expected} were counted"

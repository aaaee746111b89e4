"""The audit's part about swap and objects: mm/swap/check.c, mm/object.c, the slots of mm/audit.c."""
from .machine import PAGE
from .objects import Tree, is_swap_item
from .spaces import entry_of
from .words import x


def check_swap(view):
    """swap.1, 2, 4, 5 and frame.6."""
    frames, cached = view.frames, 0
    for area in view.areas.values():
        yield from _area(view, area)
        cached += sum(address != 0 for address in area.cache)
    flagged = sum(frames.has(page, "SWAPCACHE") for page in frames.all())
    counted = view.m.variable("cached_pages", "mm/swap/cache.c")
    if not flagged == cached == counted:
        yield "swap.4", f"{flagged} pages have PG_SWAPCACHE, {cached} slots have a page, {counted} were counted"
    for page in frames.all():
        if frames.has(page, "SWAPCACHE") and not _cached_at_its_slot(view, page):
            yield "frame.6", (f"the swap cache has a page with PG_SWAPCACHE at its entry: pfn {x(page.pfn)}, "
                              f"entry {x(page.private)}")


def _cached_at_its_slot(view, page):
    number, slot = entry_of(page.private)
    area = view.areas.get(number)
    return area is not None and slot < area.size and area.cache[slot] == view.frames.array + page.pfn * view.frames.bytes


def _area(view, area):
    bad, a = view.swap.bad, area.area
    if area.counts[0] != bad:
        yield "swap.1", f"{area.name}: slot 0 has count {area.counts[0]}"
    if area.size * (PAGE // 512) > a.dev.sectors:
        yield "swap.5", f"{area.name}: {area.size} slots don't fit"
    for slot, address in enumerate(area.cache):
        if address:
            page = view.frames.at(address)
            if not view.frames.has(page, "SWAPCACHE") or page.private != _entry(area, slot) or page.count == 0:
                yield "swap.4", (f"{area.name} slot {slot}: its page, pfn {x(page.pfn)}, has flags {x(page.flags)}, "
                                 f"entry {x(page.private)}")
    free, unusable = area.counts.count(0), area.counts.count(bad)
    used = area.size - free - unusable
    cache_only = sum(count == 1 and address != 0 for count, address in zip(area.counts, area.cache))
    if (free, used, unusable, cache_only) != (a.free, a.used, a.bad, a.cache_only):
        yield "swap.2", (f"{area.name}: {a.free} free {a.used} used {a.bad} bad {a.cache_only} cache only; "
                         f"counted {free} {used} {unusable} {cache_only}")


def _entry(area, slot):
    return slot << 8 | area.number << 2 | 2


def check_slots(view):
    """swap.3: PTEs, object entries and the swap cache make up each slot's count."""
    entries = view.entries
    for area in view.areas.values():
        for slot in range(1, area.size):
            count, cached = area.counts[slot], int(area.cache[slot] != 0)
            if count == view.swap.bad and not cached:
                continue
            held = len(view.sweep.slots.get((area.number, slot), ())) + len(entries.get((area.number, slot), ()))
            if count - held != cached:
                yield "swap.3", (f"a slot's count equals its PTEs and object entries plus the swap cache: {area.name} "
                                 f"slot {slot}, count - holders = {count - held}, cache {cached}")


def check_objects(view):
    """object.1 to object.3, radix.1 and radix.2."""
    total, listed = 0, {}
    for obj in view.objects:
        yield from _object(view, obj)
        total += obj.resident
        for v in view.objects.vmas(obj):
            listed.setdefault(v.address, 0)
            listed[v.address] += 1
            if v.object != obj:
                yield "object.3", f"vmas lists the vmas whose object is this one: {x(v.start)}-{x(v.end)}"
    for mm in view.m.mms():
        for v in view.spaces.vmas(mm):
            if v.object is not None and listed.get(v.address, 0) != 1:
                yield "object.3", (f"a vma with an object is on its list once: {x(v.start)}-{x(v.end)}, "
                                   f"found {listed.get(v.address, 0)} times")
    counted = view.m.variable("frames", "mm/object.c")
    if total != counted:
        yield "object.2", f"pages of all objects: {counted}, found {total}"


def _object(view, obj):
    tree, resident, swapped = Tree(view.m, obj.tree), 0, 0
    for index, word in tree.items():
        if is_swap_item(word):
            swapped += 1
            if index >= obj.page_count or view.slot_count(entry_of(word)) == 0:
                yield "object.1", f"tree[i] is the entry of a slot in use: i {index}, entry {x(word)}"
            continue
        resident += 1
        page = view.frames.at(word)
        mine = view.frames.has(page, "OBJECT") and page.mapping == obj.address and page.index == index
        if not mine or index >= obj.page_count or page.count < page.mapcount + 1:
            yield "object.1", (f"tree[i] is a page of this object: i {index}, pfn {x(page.pfn)}, flags {x(page.flags)}, "
                               f"index {page.index}, count {page.count}")
    yield from tree.broken
    if (resident, swapped) != (obj.resident, obj.swapped):
        yield "object.2", (f"resident and swapped count the tree's words: {obj.resident} and {obj.swapped}, found "
                           f"{resident} and {swapped}")

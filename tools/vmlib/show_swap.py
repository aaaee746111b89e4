"""What the commands swap, objects, trace and audit print. Each takes a View and yields lines."""
from . import VmError, audit as audit_module
from .words import count_of, number, who


def swap(view, name=None, slot=None):
    """swap [AREA [SLOT]]"""
    if name is None:
        yield "area      slots     used     free      bad  priority  state"
        for area in view.areas.values():
            a = area.area
            yield f"{area.name:7} {area.size:7} {a.used:8} {a.free:8} {a.bad:8} {a.priority:9}  {area.state()}"
        if not view.areas:
            yield "no area is in use"
        return
    area = view.swap.area(name)
    if slot is not None:
        yield from _slot(view, area, number(slot, "slot"))
        return
    used = [n for n in range(area.size) if area.counts[n] not in (0, view.swap.bad)]
    yield f"{area.name}: {count_of(len(used), 'slot')} in use"
    for n in used:
        yield f"  slot {n}: count {area.counts[n]}{_cached(view, area, n)}"


def _cached(view, area, slot):
    if not area.cache[slot]:
        return ""
    page = view.frames.at(area.cache[slot])
    return f", in the swap cache as frame {page.pfn:#x} ({view.frames.flag_names(page)})"


def _slot(view, area, slot):
    if slot >= area.size:
        raise VmError(f"no such slot: {slot} ({area.name} has {area.size})")
    count = area.counts[slot]
    if count == view.swap.bad:
        yield f"{area.name} slot {slot}: {'the header' if slot == 0 else 'bad'}, never used"
        return
    yield f"{area.name} slot {slot}: {'free' if count == 0 else f'count {count}'}{_cached(view, area, slot)}"
    for mm, addr in view.sweep.slots.get((area.number, slot), ()):
        yield f"  held by a PTE of {who(view, mm)} at {addr:#x}"
    for obj, index in view.entries.get((area.number, slot), ()):
        yield f"  held by page {index} of object {obj.address:#x}"


def objects(view):
    """Every memory object."""
    yield "object      kind      pages  in mem  in swap  mapped by"
    for obj in view.objects:
        pages, swapped = view.objects.contents(obj)
        mappers = [f"{v.mm.task.pid if v.mm.task else 0}:{v.start:#x}" for v in view.objects.vmas(obj)]
        yield (f"{obj.address:#010x}  {view.objects.kind(obj):6} {obj.page_count:8} {len(pages):7} {len(swapped):8}  "
               f"{' '.join(mappers) or 'nobody'}")


def trace(view, count=None):
    """trace [N]"""
    yield from view.trace.records(view.trace.length if count is None else number(count, "count"))


def audit(view):
    """Every violation, and how many there are."""
    found = audit_module.lines(view)
    yield from found
    yield f"audit: {count_of(len(found), 'violation')}"

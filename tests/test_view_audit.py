"""The audit from outside: silent on sound machines, and it names what is broken."""
import re

import pytest

from harness import maps, views
from harness.views import swapped, vmview
from test_audit import breakages
from test_docs import read

from vmlib import audit             # (harness.views sets the path)


@pytest.mark.each_map
def test_view_audit_01(reverse_map):
    """the audit from outside finds nothing on a sound machine, and says so by its status"""
    done = vmview(swapped(reverse_map).path, "audit")
    assert done.returncode == 0 and done.stdout == "audit: 0 violations\n", done.stdout + done.stderr


# What the audit from outside doesn't look at: the kernel's structures beyond memory.
AREAS = ("frame", "slab", "vma", "mm", "pt", "tree", "rmap", "swap", "object", "radix")


def pytest_generate_tests(metafunc):
    """Every breakage of the kernel's once (mm/audit_break.c), and those of each reverse map."""
    if "breakage" not in metafunc.fixturenames:
        return
    found = []
    for reverse_map in maps.wanted(metafunc.config):
        numbered = [(reverse_map, (n, i)) for n, i in enumerate(breakages(reverse_map)) if i.split(".")[0] in AREAS]
        found += [row for row in numbered if not found or row[1][1].startswith("rmap.")]
    metafunc.parametrize(("reverse_map", "breakage"), found, indirect=["reverse_map"],
                         ids=[f"view-agree-{n:02}-{m}" for m, (n, _) in found])


@pytest.mark.slow
def test_view_agree(reverse_map, breakage):
    """what the kernel's audit names on a machine broken on purpose, the audit from outside names too"""
    number, invariant = breakage
    before = "t_view share & sleep 2" if invariant.startswith("rmap.") else "hogmem 12 1"
    d = views.Dumped(reverse_map, f"break{number}", f"{before}; t_view break {number}")
    told = {line.strip() for line in d.run.log.splitlines() if line.strip().startswith("INV ")}
    found = d.show("audit")
    d.run.expect(any(line.startswith(f"INV {invariant}:") for line in found), f"{invariant} is not named: {found[:6]}")
    d.run.expect(any(line.startswith(f"INV {invariant}:") for line in told), f"the kernel doesn't name {invariant}: {told}")


def test_view_example_01():
    """what docs/looking-in.md breaks in its example is what it shows: a mapcount"""
    number = re.search(r"t_view break (\d+)\n.*?\n +INV (.*?)audit: 3", read("docs/looking-in.md"), re.DOTALL)
    assert breakages(maps.known()[0])[int(number[1])] == "frame.2" and "INV frame.2: " in number[2]


# ---- Memory changed on the way ----

def page_word(v, page, field):
    type_ = v.m.debug.struct("page")
    return v.frames.array + page.pfn * type_.size + type_.offset(field)


def first(v, *flags, least=0):
    return next(p for p in v.frames.all() if p.mapcount >= least and all(v.frames.has(p, f) for f in flags))


def word_of(value, field):
    """(address, contents) of a field of four bytes."""
    place = value.address + value.type.offset(field)
    return place, value.memory.word(place)


def plus(value, field, more=1):
    place, word = word_of(value, field)
    return {place: word + more}


def some_mm(v):
    return max(v.m.mms(), key=lambda mm: mm.swap_ptes)


def pte_place(v, swap):
    """The address of a PTE that names a slot, or maps an anonymous page; and what it holds."""
    for mm in v.m.mms():
        for addr, pte in v.spaces.ptes(mm):
            if pte.is_swap() == swap and (swap or v.frames.has(v.frames.page(pte.pfn), "ANON")):
                entry = v.m.memory.word(mm.pgdir + (addr >> 22) * 4)
                return v.m.base + (entry & ~0xfff) + (addr >> 12 & 1023) * 4, pte.value
    raise AssertionError("no such PTE")


def root(v):
    return some_mm(v).vma_tree.root


def objects_node(v):
    return next(v.m.struct("radix_node", v.m.memory.word(o.tree.address)) for o in v.objects)


def area(v):
    return next(iter(v.areas.values()))


def counts_place(v, slot):
    place = v.m.memory.word(area(v).area.counts) + (slot & ~1) * 2
    return place, v.m.memory.word(place)


def set_low(pair, low):
    return {pair[0]: pair[1] & 0xffff0000 | low}


def out_of_reach(v, p):
    """A page's index is wrong; where that is but a hint, the page knows of a PTE that isn't there."""
    if v.rmap.variant.name == maps.NOTHING_KEPT:
        return {page_word(v, p, "mapcount"): p.mapcount + 1}
    return {page_word(v, p, "index"): p.index + (1 << 19)}


# What to put where so that exactly that invariant is named.
HURT = {
    "frame.1": lambda v: {page_word(v, first(v, "BUDDY"), "mapcount"): 1},
    "frame.2": lambda v: {page_word(v, p := first(v, "ANON"), "mapcount"): p.mapcount + 1},
    "frame.3": lambda v: {page_word(v, first(v, "SWAPCACHE", "ANON"), "count"): 1},
    "frame.4": lambda v: {page_word(v, p := first(v, "LRU"), "flags"): p.flags ^ v.frames.flag["ACTIVE"]},
    "frame.5": lambda v: {page_word(v, first(v, "TABLE"), "mapping"): 0xc0000000},
    "frame.6": lambda v: {page_word(v, p := first(v, "SWAPCACHE"), "private"): p.private + 256},
    "frame.7": lambda v: {page_word(v, p := first(v, "TABLE"), "flags"): p.flags | v.frames.flag["WRITEBACK"]},
    "frame.8": lambda v: {page_word(v, p := first(v, "TABLE"), "flags"): p.flags | v.frames.flag["SLAB"]},
    "frame.9": lambda v: {page_word(v, p, "private"): p.private + 1
                          for p in [next(p for p in v.frames.all() if v.frames.has(p, "BUDDY") and p.pfn >> p.private & 1)]},
    "frame.11": lambda v: plus(v.frames.zones()[0], "free"),
    "frame.12": lambda v: {page_word(v, p := first(v, "TABLE"), "flags"): p.flags | v.frames.flag["BUFFER"]},
    "slab.1": lambda v: {page_word(v, p := first(v, "SLAB"), "index"): p.index + 1},
    "tree.1": lambda v: {word_of(n, "colour")[0]: 0 for n in (root(v), root(v).left or root(v).right)},
    "tree.2": lambda v: {word_of(root(v).left or root(v).right, "parent")[0]: 0},
    "radix.1": lambda v: plus(objects_node(v), "used"),
    "radix.2": lambda v: {word_of(next(iter(v.objects)).tree, "height")[0]: 0},
    "object.1": lambda v: {page_word(v, p := first(v, "OBJECT"), "index"): p.index + 1},
    "object.2": lambda v: plus(next(iter(v.objects)), "resident"),
    "object.3": lambda v: {word_of(next(iter(v.objects)).vmas, "next")[0]: next(iter(v.objects)).vmas.address},
    "vma.1": lambda v: plus(v.spaces.vmas(some_mm(v))[0], "end"),
    "vma.2": lambda v: plus(some_mm(v), "vma_count"),
    "vma.4": lambda v: {word_of(next(x for x in v.spaces.vmas(some_mm(v)) if x.object is None), "object")[0]:
                        next(iter(v.objects)).address},
    "vma.5": lambda v: {page_word(v, p := first(v, "ANON", least=1), "index"): p.index + 1},      # not in the scan build
    "mm.1": lambda v: plus(some_mm(v), "total_pages"),
    "mm.2": lambda v: plus(some_mm(v), "rss"),
    "mm.3": lambda v: plus(some_mm(v), "locked_pages"),
    "pt.1": lambda v: {pte_place(v, False)[0]: first(v, "BUDDY").pfn << 12 | 7},
    "pt.2": lambda v: {pte_place(v, True)[0]: (area(v).size - 1) << 8 | 2},
    "pt.3": lambda v: {(pair := pte_place(v, False))[0]: pair[1] & ~3},
    "rmap.1": lambda v: out_of_reach(v, first(v, "ANON", least=1)),
    "swap.1": lambda v: set_low(counts_place(v, 0), 0),
    "swap.2": lambda v: plus(area(v).area, "used"),
    "swap.3": lambda v: set_low(counts_place(v, 2), 9),
    "swap.4": lambda v: {v.m.memory.word(area(v).area.cache) + 4 * next(i for i, p in enumerate(area(v).cache) if p): 0},
    "swap.5": lambda v: {word_of(area(v).area.dev, "sectors")[0]: 8},
}
# ... and what only one of the reverse maps has.
HURT_MAP = {
    "anon_vma": {
        "rmap.2": lambda v: {listed(v).link.prev.address: listed(v).link.next.address},
        "rmap.3": lambda v: {v.m.debug.struct("vma").offset("rmap.anon_vma") + listed(v).address: 0},
        "rmap.4": lambda v: {(a := listed(v).rmap.anon_vma).vmas.address: a.vmas.address},
    },
    "anonmm": {
        "rmap.2": lambda v: {v.m.debug.variable("anonmm_count")[0]: 1},
        "rmap.5": lambda v: plus(some_mm(v).rmap.anonmm, "count"),
        "rmap.6": lambda v: {word_of(member(v), "head")[0]: member(v).address},
        "rmap.7": lambda v: {place: 0 for a in [member(v)] for place in (word_of(a, "mm")[0], word_of(a, "count")[0])},
        "rmap.8": lambda v: {word_of(some_mm(v).rmap.anonmm, "mm")[0]: next(iter(v.m.mms())).address},
    },
    "scan": {
        "rmap.9": lambda v: {page_word(v, p := first(v, "ANON"), "mapping"): p.mapping + 4},
    },
}


def listed(v):
    """A vma with an anon_vma."""
    return next(x for mm in v.m.mms() for x in v.spaces.vmas(mm) if x.rmap.anon_vma)


def member(v):
    """An anonmm that isn't the head of its family."""
    return next(mm.rmap.anonmm for mm in v.m.mms() if mm.rmap.anonmm.head != mm.rmap.anonmm)


@pytest.mark.kept_map
@pytest.mark.parametrize("invariant", HURT, ids=[f"view-hurt-{n:02}" for n in range(1, len(HURT) + 1)])
def test_view_hurt(invariant, reverse_map):
    """a dump that breaks an invariant is told on by that invariant's number"""
    if invariant == "vma.5" and reverse_map == maps.NOTHING_KEPT:
        pytest.skip("by construction")
    v = swapped(reverse_map).view
    found = audit.lines(views.changed(v, HURT[invariant](v)))
    assert any(line.startswith(f"INV {invariant}:") for line in found), (invariant, found[:8])


@pytest.mark.each_map
def test_view_hurt_map_01(reverse_map):
    """the same for each invariant of the reverse map's own"""
    v = swapped(reverse_map).view
    for invariant, hurt in HURT_MAP[reverse_map].items():
        found = audit.lines(views.changed(v, hurt(v)))
        assert any(line.startswith(f"INV {invariant}:") for line in found), (invariant, found[:8])


@pytest.mark.kept_map
def test_view_ruins_01(reverse_map):
    """lists in ruins end the check of their part, with a word, and nothing else"""
    v = swapped(reverse_map).view
    zone = v.frames.zones()[0]
    for place in (zone.active.address, v.m.variable("mm_all").address, v.m.variable("caches", "mm/slab.c").address,
                  v.m.variable("objects_all").address, zone.free_list[0].address):
        for wrong in (0, 4, zone.inactive.address):
            found = audit.lines(views.changed(v, {place: wrong}))
            ended = any("can't be checked" in line for line in found)
            assert found and (ended or wrong > 4), (hex(place), hex(wrong), found[:4])

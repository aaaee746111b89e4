"""tools/vmview on a dump: each command against what the guest says of itself at the same moment."""
import re

import pytest

from harness import maps, views
from harness.views import swapped


# ---- Against the guest's own figures ----

@pytest.mark.kept_map
def test_view_summary_01(reverse_map):
    """summary has the guest's figures: frames by state, slots, pages in the swap cache"""
    d = swapped(reverse_map)
    _, areas, memory = d.figures()
    text = "\n".join(d.show("summary"))
    for state, name in (("free", "free"), ("slab", "slab"), ("page table", "tables"), ("kernel stack", "stacks"),
                        ("object", "objects")):
        assert re.search(rf"^ +{memory[name]} {state}$", text, re.MULTILINE), (state, memory, text)
    assert f"kernel manages {memory['total']}:" in text and f"{memory['cached']} pages in the swap cache" in text
    assert areas and all(f"swap {a}: {slots + 1} slots, {used} used" in text for a, (slots, used) in areas.items())
    assert f"kernel: {reverse_map}, " in text


@pytest.mark.kept_map
def test_view_ps_01(reverse_map):
    """ps has every task with the guest's rss, swap and size"""
    d = swapped(reverse_map)
    rows = {int(f[0]): (int(f[4]), int(f[5]), int(f[3])) for f in
            (line.split() for line in d.show("ps")[1:]) if f[3] != "-"}
    assert rows == d.figures()[0] and len(rows) >= 6


@pytest.mark.kept_map
def test_view_frames_01(reverse_map):
    """the runs of frames cover all of RAM, once, and add up to the summary's states"""
    d = swapped(reverse_map)
    runs = [line.split(None, 2) for line in d.show("frames")[1:]]
    sums, at = dict.fromkeys(d.view.frames.sums(), 0), 0
    for first, count, state in runs:
        assert int(first, 16) == at
        sums[state] += int(count)
        at += int(count)
    assert at == d.view.frames.count and sums == d.view.frames.sums()
    assert sum(1 for line in d.show("frames 0x0-0x7f") if line.split()[1] == "reserved") >= 1


@pytest.mark.kept_map
def test_view_mm_01(reverse_map):
    """mm adds up: each vma's pages in memory and in swap to the guest's figures of the task"""
    d = swapped(reverse_map)
    for pid, (rss, swapped_out, size) in d.figures()[0].items():
        lines = d.show(f"mm {pid}")
        vmas = [line.split()[2:5] for line in lines if re.match(r"  0x\w+ 0x", line)]
        assert sum(int(v[0]) for v in vmas) == size and sum(int(v[2]) for v in vmas) == swapped_out
        assert f"  {rss} pages in memory" in lines[1] and f"{swapped_out} in swap" in lines[1]
        assert lines[3].startswith("  limits: as ")


@pytest.mark.kept_map
def test_view_tables_01(reverse_map):
    """tables decodes every PTE; a swap entry's slot names that PTE as its holder"""
    d = swapped(reverse_map)
    pid = max(d.figures()[0].items(), key=lambda item: item[1][1] if item[0] < 32768 else -1)[0]
    rss, swapped_out, _ = d.figures()[0][pid]
    ptes = [line.split(None, 2) for line in d.show(f"tables {pid}") if line.startswith("    0x")]
    entries = [(addr, words) for addr, _value, words in ptes if words.startswith("swap: ")]
    counted = [words for _a, _v, words in ptes if words.startswith("frame ") and "zero page" not in words]
    assert len(entries) == swapped_out > 0 and len(counted) >= rss
    addr, words = entries[0]
    area, slot = re.fullmatch(r"swap: (\w+) slot (\d+)", words).groups()
    assert f"held by a PTE of pid {pid} (" in "\n".join(d.show(f"swap {area} {slot}"))
    way = "\n".join(d.show(f"tables {pid} {addr}"))
    assert f"swap: {area} slot {slot}" in way and "vma 0x" in way and "page table in frame" in way


@pytest.mark.kept_map
def test_view_tables_02(reverse_map):
    """a page of a PROT_NONE vma is told as out of reach, and is mapped all the same"""
    d = swapped(reverse_map)
    pids, _, barred = d.sharers()
    text = "\n".join(d.show(f"tables {pids[0]} {barred}"))
    if "swap: " not in text:
        assert re.search(r": frame 0x\w+: none user", text), text
    barred_vmas = [line for line in d.show(f"mm {pids[0]}") if line.split()[0] == f"{int(barred, 16):#010x}"]
    assert barred_vmas and "read" not in barred_vmas[0] and "write" not in barred_vmas[0].replace("may_write", "")


@pytest.mark.kept_map
def test_view_swap_01(reverse_map):
    """swap lists as many slots as the guest says are used, and holders make up each count"""
    d = swapped(reverse_map)
    for area, (slots, used) in d.figures()[1].items():
        listed = [line for line in d.show(f"swap {area}")[1:]]
        assert len(listed) == used > 0
        for line in listed:
            slot, count = re.match(r"  slot (\d+): count (\d+)", line).groups()
            text = "\n".join(d.show(f"swap {area} {slot}"))
            assert text.count("held by") + ("in the swap cache" in text) == int(count)
        assert "the header" in d.show(f"swap {area} 0")[0] and "free" in d.show(f"swap {area} {slots}")[0]


@pytest.mark.kept_map
def test_view_lru_01(reverse_map):
    """lru lists each zone's pages in order, as many as are counted, all with PG_LRU"""
    d = swapped(reverse_map)
    lines = d.show("lru")
    heads = {m[0] + m[1]: int(m[2]) for m in re.findall(r"^(\w+) (active|inactive|clean): (\d+) page", "\n".join(lines), re.MULTILINE)}
    zone = d.view.frames.zones()[0]
    assert heads["DMAactive"] == zone.active_count and heads["DMAinactive"] == zone.inactive_count
    pages = [line for line in lines if line.startswith("  ")]
    assert len(pages) == sum(heads.values()) > 0 and all(" LRU" in line for line in pages)
    assert lines[1].split()[0] == hex(d.view.frames.at(d.view.m.memory.word(zone.active.address)
                                                       - d.view.m.debug.struct("page").offset("lru")).pfn)


@pytest.mark.kept_map
def test_view_slab_01(reverse_map):
    """slab has the frames that the guest says, and the caches that the kernel declares"""
    lines = swapped(reverse_map).show("slab")
    assert lines[-1] == f"{swapped(reverse_map).figures()[2]['slab']} frames in all"
    assert {"vma", "mm", "thread", "object"} <= {line.split()[0] for line in lines[1:-1]}
    assert sum(int(line.split()[-1]) for line in lines[1:-1]) == swapped(reverse_map).figures()[2]["slab"]


@pytest.mark.kept_map
def test_view_objects_01(reverse_map):
    """objects has all pages that the guest says, and those who map the programs' text"""
    d = swapped(reverse_map)
    rows = [line.split() for line in d.show("objects")[1:]]
    assert sum(int(row[3]) for row in rows) == d.figures()[2]["objects"]
    pids, *_ = d.sharers()
    mappers = " ".join(word for row in rows for word in row[5:])
    assert all(f"{pid}:0x8048000" in mappers for pid in pids)


@pytest.mark.kept_map
def test_view_objects_02(reverse_map):
    """the pages that three processes share as an object are in swap; their slots name object and page"""
    d = swapped(reverse_map)
    pids, *_ = d.sharers()
    rows = [line.split() for line in d.show("objects")[1:]]
    obj, kind, pages, resident, out = next(row[:5] for row in rows if [w.split(":")[0] for w in row[5:]] == [str(p) for p in pids])
    assert kind == "memory" and int(pages) == 4 and int(out) > 0 and int(resident) + int(out) == 4
    held = [line for n in range(1, d.view.areas[0].size) if d.view.areas[0].counts[n] for line in d.show(f"swap hda1 {n}")]
    assert sum(line.endswith(f" of object {obj}") for line in held) == int(out)


@pytest.mark.kept_map
def test_view_trace_01(reverse_map):
    """trace prints the ring as the kernel does in its report"""
    d = swapped(reverse_map)
    assert len(d.run.trace) > 100 and d.show("trace") == d.run.trace
    assert d.show("trace 3") == d.run.trace[-3:]


@pytest.mark.kept_map
def test_view_page_01(reverse_map):
    """page tells of each frame: its state, its holders, its owner"""
    d = swapped(reverse_map)
    pids, *_ = d.sharers()
    seen = set()
    for _size, frame in d.view.frames.blocks():
        state = d.view.frames.state(frame)
        if state in seen:
            continue
        seen.add(state)
        lines = d.show(f"page {frame.pfn:#x}")
        assert lines[0].startswith(f"frame {frame.pfn:#x}: {state}; zone DMA")
    assert seen == {"free", "reserved", "slab", "page table", "kernel stack", "object", "anonymous", "held"}
    stack = d.show(f"tables {pids[0]} 0xbfffe000")[1]
    table = re.search(r"page table in frame (0x\w+)", stack).group(1)
    assert f"a page table of pid {pids[0]} (t_view): 0xbfc00000" in "\n".join(d.show(f"page {table}"))


@pytest.mark.each_map
def test_view_rmap_01(reverse_map):
    """rmap finds the same PTEs through the reverse map and through all page tables, for every mapped page"""
    d = swapped(reverse_map)
    mapped = [p for p in d.view.frames.all() if p.mapcount]
    assert len(mapped) > 10
    for page in mapped:
        assert d.show(f"rmap {page.pfn}")[-1].startswith("  reverse map and page tables agree: ")


@pytest.mark.kept_map
def test_view_rmap_differ_01(reverse_map):
    """a PTE that the reverse map misses is told, by process and address"""
    if reverse_map == maps.NOTHING_KEPT:
        pytest.skip("a search misses none")
    d = swapped(reverse_map)
    page = next(p for p in d.view.frames.all() if p.mapcount and d.view.frames.has(p, "ANON"))
    type_ = d.view.m.debug.struct("page")
    broken = views.changed(d.view, {d.view.frames.array + page.pfn * type_.size + type_.offset("index"): 0})
    text = "\n".join(views.commands.lines(broken, "rmap", [str(page.pfn)]))
    assert "THEY DIFFER: the reverse map finds 0" in text and "the reverse map misses it" in text

"""tools/vmview and gdb's ch- commands: a machine seen from outside, against what the guest says of itself."""
import os
import re
import subprocess
import time

import pytest

from harness import views
from harness.guest import ROOT, run
from harness.views import RMAPS, swapped

from runner import build                                    # noqa: E402  (harness.views sets the path)
from runner.qemu import Machine                             # noqa: E402
from vmlib import VmError, audit                            # noqa: E402

GDB_SECONDS = 120


def both(name):
    """Run for every reverse mapping; the cases are named NAME-01, NAME-02 in the order of the folders."""
    return pytest.mark.parametrize("rmap", RMAPS, ids=[f"{name}-{n:02}" for n in range(1, len(RMAPS) + 1)])


def vmview(*argv):
    """The command itself. Whatever happens, it never shows its own insides."""
    done = subprocess.run([os.path.join(ROOT, "tools", "vmview"), *map(str, argv)], capture_output=True, text=True,
                          check=False, timeout=GDB_SECONDS, cwd=ROOT)
    assert "Traceback" not in done.stderr, done.stderr
    return done


# ---- Against the guest's own figures ----

@both("view-summary")
def test_view_summary(rmap):
    """summary has the guest's figures: frames by state, slots, pages in the swap cache"""
    d = swapped(rmap)
    _, areas, memory = d.figures()
    text = "\n".join(d.show("summary"))
    for state, name in (("free", "free"), ("slab", "slab"), ("page table", "tables"), ("kernel stack", "stacks"),
                        ("object", "objects")):
        assert re.search(rf"^ +{memory[name]} {state}$", text, re.MULTILINE), (state, memory, text)
    assert f"kernel manages {memory['total']}:" in text and f"{memory['cached']} pages in the swap cache" in text
    assert areas and all(f"swap {a}: {slots + 1} slots, {used} used" in text for a, (slots, used) in areas.items())
    assert f"kernel: {rmap}, " in text


@both("view-ps")
def test_view_ps(rmap):
    """ps has every task with the guest's rss, swap and size"""
    d = swapped(rmap)
    rows = {int(f[0]): (int(f[4]), int(f[5]), int(f[3])) for f in
            (line.split() for line in d.show("ps")[1:]) if f[3] != "-"}
    assert rows == d.figures()[0] and len(rows) >= 6


@both("view-frames")
def test_view_frames(rmap):
    """the runs of frames cover all of RAM, once, and add up to the summary's states"""
    d = swapped(rmap)
    runs = [line.split(None, 2) for line in d.show("frames")[1:]]
    sums, at = dict.fromkeys(d.view.frames.sums(), 0), 0
    for first, count, state in runs:
        assert int(first, 16) == at
        sums[state] += int(count)
        at += int(count)
    assert at == d.view.frames.count and sums == d.view.frames.sums()
    assert sum(1 for line in d.show("frames 0x0-0x7f") if line.split()[1] == "reserved") >= 1


@both("view-mm")
def test_view_mm(rmap):
    """mm adds up: each vma's pages in memory and in swap to the guest's figures of the task"""
    d = swapped(rmap)
    for pid, (rss, swapped_out, size) in d.figures()[0].items():
        lines = d.show(f"mm {pid}")
        vmas = [line.split()[2:5] for line in lines if re.match(r"  0x\w+ 0x", line)]
        assert sum(int(v[0]) for v in vmas) == size and sum(int(v[2]) for v in vmas) == swapped_out
        assert f"  {rss} pages in memory" in lines[1] and f"{swapped_out} in swap" in lines[1]
        assert lines[3].startswith("  limits: as ")


@both("view-tables")
def test_view_tables(rmap):
    """tables decodes every PTE; a swap entry's slot names that PTE as its holder"""
    d = swapped(rmap)
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


@both("view-swap")
def test_view_swap(rmap):
    """swap lists as many slots as the guest says are used, and holders make up each count"""
    d = swapped(rmap)
    for area, (slots, used) in d.figures()[1].items():
        listed = [line for line in d.show(f"swap {area}")[1:]]
        assert len(listed) == used > 0
        for line in listed:
            slot, count = re.match(r"  slot (\d+): count (\d+)", line).groups()
            text = "\n".join(d.show(f"swap {area} {slot}"))
            assert text.count("held by") + ("in the swap cache" in text) == int(count)
        assert "the header" in d.show(f"swap {area} 0")[0] and "free" in d.show(f"swap {area} {slots}")[0]


@both("view-lru")
def test_view_lru(rmap):
    """lru lists each zone's pages in order, as many as are counted, all with PG_LRU"""
    d = swapped(rmap)
    lines = d.show("lru")
    heads = {m[0] + m[1]: int(m[2]) for m in re.findall(r"^(\w+) (active|inactive): (\d+) page", "\n".join(lines), re.MULTILINE)}
    zone = d.view.frames.zones()[0]
    assert heads["DMAactive"] == zone.active_count and heads["DMAinactive"] == zone.inactive_count
    pages = [line for line in lines if line.startswith("  ")]
    assert len(pages) == sum(heads.values()) > 0 and all(" LRU" in line for line in pages)
    assert lines[1].split()[0] == hex(d.view.frames.at(d.view.m.memory.word(zone.active.address)
                                                       - d.view.m.debug.struct("page").offset("lru")).pfn)


@both("view-slab")
def test_view_slab(rmap):
    """slab has the frames that the guest says, and the caches that the kernel declares"""
    lines = swapped(rmap).show("slab")
    assert lines[-1] == f"{swapped(rmap).figures()[2]['slab']} frames in all"
    assert {"vma", "mm", "thread", "object"} <= {line.split()[0] for line in lines[1:-1]}
    assert sum(int(line.split()[-1]) for line in lines[1:-1]) == swapped(rmap).figures()[2]["slab"]


@both("view-objects")
def test_view_objects(rmap):
    """objects has all pages that the guest says, and those who map the programs' text"""
    d = swapped(rmap)
    rows = [line.split() for line in d.show("objects")[1:]]
    assert sum(int(row[3]) for row in rows) == d.figures()[2]["objects"]
    pids, _ = d.sharers()
    mappers = " ".join(word for row in rows for word in row[5:])
    assert all(f"{pid}:0x8048000" in mappers for pid in pids)


@both("view-trace")
def test_view_trace(rmap):
    """trace prints the ring as the kernel does in its report"""
    d = swapped(rmap)
    assert len(d.run.trace) > 100 and d.show("trace") == d.run.trace
    assert d.show("trace 3") == d.run.trace[-3:]


@both("view-page")
def test_view_page(rmap):
    """page tells of each frame: its state, its holders, its owner"""
    d = swapped(rmap)
    pids, addr = d.sharers()
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
    assert addr.startswith("0x")


@both("view-rmap")
def test_view_rmap(rmap):
    """rmap finds the same PTEs through the reverse map and through all page tables, for every mapped page"""
    d = swapped(rmap)
    mapped = [p for p in d.view.frames.all() if p.mapcount]
    assert len(mapped) > 10
    for page in mapped:
        assert d.show(f"rmap {page.pfn}")[-1].startswith("  reverse map and page tables agree: ")


@both("view-rmap-differ")
def test_view_rmap_differ(rmap):
    """a PTE that the reverse map misses is told, by process and address"""
    d = swapped(rmap)
    page = next(p for p in d.view.frames.all() if p.mapcount and d.view.frames.has(p, "ANON"))
    type_ = d.view.m.debug.struct("page")
    broken = views.changed(d.view, {d.view.frames.array + page.pfn * type_.size + type_.offset("index"): 0})
    text = "\n".join(views.commands.lines(broken, "rmap", [str(page.pfn)]))
    assert "THEY DIFFER: the reverse map finds 0" in text and "the reverse map misses it" in text


# ---- The audit ----

@both("view-audit")
def test_view_audit(rmap):
    """the audit from outside finds nothing on a sound machine, and says so by its status"""
    done = vmview(swapped(rmap).path, "audit")
    assert done.returncode == 0 and done.stdout == "audit: 0 violations\n", done.stdout + done.stderr


BROKEN = ["frame.2", "frame.3", "frame.4", "frame.4", "rmap.1", "swap.3", "swap.2", "swap.4", "frame.11"]


@pytest.mark.parametrize("number", range(len(BROKEN)), ids=[f"view-agree-{n + 1:02}" for n in range(len(BROKEN))])
def test_view_agree(number):
    """what the kernel's audit says of a machine broken on purpose, the audit from outside says word for word"""
    d = views.Dumped(RMAPS[number % len(RMAPS)], f"break{number}", f"break {number}")
    told = {line.strip() for line in d.run.log.splitlines() if line.strip().startswith("INV ")}
    found = d.show("audit")
    d.run.expect(any(line.startswith(f"INV {BROKEN[number]}:") for line in found) and told,
                 f"{BROKEN[number]} is not named: {found}")
    d.run.expect(told <= set(found), f"only the kernel says {told - set(found)}")


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


def anon_vma_of(v):
    return next(v.m.each(v.m.variable("all_anon_vmas"), "anon_vma", "link"))


def objects_node(v):
    return next(v.m.struct("radix_node", v.m.memory.word(o.tree.address)) for o in v.objects)


def area(v):
    return next(iter(v.areas.values()))


def counts_place(v, slot):
    place = v.m.memory.word(area(v).area.counts) + (slot & ~1) * 2
    return place, v.m.memory.word(place)


def set_low(pair, low):
    return {pair[0]: pair[1] & 0xffff0000 | low}


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
    "vma.5": lambda v: {page_word(v, p := first(v, "ANON", least=1), "index"): p.index + 1},
    "mm.1": lambda v: plus(some_mm(v), "total_pages"),
    "mm.2": lambda v: plus(some_mm(v), "rss"),
    "mm.3": lambda v: plus(some_mm(v), "locked_pages"),
    "pt.1": lambda v: {pte_place(v, False)[0]: first(v, "BUDDY").pfn << 12 | 7},
    "pt.2": lambda v: {pte_place(v, True)[0]: (area(v).size - 1) << 8 | 2},
    "pt.3": lambda v: {(pair := pte_place(v, False))[0]: pair[1] & ~3},
    "rmap.1": lambda v: {page_word(v, p := first(v, "ANON", least=1), "index"): p.index + (1 << 19)},
    "swap.1": lambda v: set_low(counts_place(v, 0), 0),
    "swap.2": lambda v: plus(area(v).area, "used"),
    "swap.3": lambda v: set_low(counts_place(v, 2), 9),
    "swap.4": lambda v: {v.m.memory.word(area(v).area.cache) + 4 * next(i for i, p in enumerate(area(v).cache) if p): 0},
    "swap.5": lambda v: {word_of(area(v).area.dev, "sectors")[0]: 8},
}
HURT_ANON_VMA = {
    "rmap.3": lambda v: {v.m.debug.variable("linked_vma_count")[0]: 99},
    "rmap.4": lambda v: {anon_vma_of(v).vmas.address: anon_vma_of(v).vmas.address},
}


@pytest.mark.parametrize("invariant", HURT, ids=[f"view-hurt-{n:02}" for n in range(1, len(HURT) + 1)])
def test_view_hurt(invariant):
    """a dump that breaks an invariant is told on by that invariant's number"""
    v = swapped(RMAPS[0]).view
    found = audit.lines(views.changed(v, HURT[invariant](v)))
    assert any(line.startswith(f"INV {invariant}:") for line in found), (invariant, found[:8])


@pytest.mark.parametrize("invariant", HURT_ANON_VMA, ids=[f"view-hurt-anon_vma-{n:02}" for n in (1, 2)])
def test_view_hurt_anon_vma(invariant):
    """the same for what only RMAP=anon_vma has"""
    v = swapped("anon_vma").view
    found = audit.lines(views.changed(v, HURT_ANON_VMA[invariant](v)))
    assert any(line.startswith(f"INV {invariant}:") for line in found), (invariant, found[:8])


def test_view_ruins_01():
    """lists in ruins end the check of their part, with a word, and nothing else"""
    v = swapped(RMAPS[0]).view
    zone = v.frames.zones()[0]
    for place in (zone.active.address, v.m.variable("mm_all").address, v.m.variable("caches", "mm/slab.c").address,
                  v.m.variable("all_objects").address, zone.free_list[0].address):
        for wrong in (0, 4, 0xfffffffc, zone.inactive.address):
            found = audit.lines(views.changed(v, {place: wrong}))
            assert any("can't be checked" in line for line in found), (hex(place), hex(wrong), found[:4])


# ---- What can't be shown is refused in words ----

REFUSED = [(["mm", "4711"], "no such pid: 4711"), (["page", "0xfffff"], "no such pfn"), (["page", "blue"], "not a pfn: blue"),
           (["swap", "hdz9"], "no such swap area: hdz9"), (["swap", "hda1", "99999999"], "no such slot"),
           (["dance"], "no such command: dance"), (["mm"], "mm takes PID"), (["lru", "1"], "lru takes no arguments"),
           (["rmap", "1", "0x1000"], "has no page at 0x1000"), (["trace", "-4"], "not a count")]


@pytest.mark.parametrize("argv, words", REFUSED, ids=[f"view-refused-{n:02}" for n in range(1, len(REFUSED) + 1)])
def test_view_refused(argv, words):
    """what is not there is refused in one line, with status 2"""
    done = vmview(swapped(RMAPS[0]).path, "--", *argv)
    assert done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1, done.stderr


def cut(path, bytes_):
    def make(folder):
        with open(path(), "rb") as f:
            (folder / "dump").write_bytes(f.read(bytes_))
        return folder / "dump"
    return make


def written(data):
    def make(folder):
        (folder / "dump").write_bytes(data)
        return folder / "dump"
    return make


def our_dump():
    return swapped(RMAPS[0]).path


BAD_DUMPS = [(cut(our_dump, 3 << 20), "is cut off"), (cut(our_dump, 100), "cut off"), (cut(our_dump, 20), "cut off"),
             (cut(our_dump, 0), "has nothing at"), (written(b"\0" * (8 << 20)), "kernel"), (written(b"hello\n" * 1000), "has nothing at"),
             (lambda _folder: os.path.join(ROOT, "build", RMAPS[0], "clockhand.elf"), "no core"),
             (lambda folder: folder / "nowhere", "No such file"), (lambda folder: folder, "directory"),
             (lambda _folder: "localhost:1", "no machine answers")]


@pytest.mark.parametrize("make, words", BAD_DUMPS, ids=[f"view-baddump-{n:02}" for n in range(1, len(BAD_DUMPS) + 1)])
def test_view_baddump(make, words, tmp_path):
    """a dump that is cut off, foreign, or none, is refused in one line"""
    done = vmview(make(tmp_path), "audit")
    assert done.returncode == 2 and words in done.stderr and not done.stdout, done.stdout[-300:] + done.stderr
    assert done.stderr.count("\n") == 1


def another_build(folder):
    """Our kernel with one instruction changed, as another build would have."""
    path = os.path.join(ROOT, "build", RMAPS[0], "clockhand.elf")
    with open(path, "rb") as f:
        data = bytearray(f.read())
    section = views.debug_info(RMAPS[0]).elf.get_section_by_name(".text")
    data[section["sh_offset"] + section["sh_size"] // 2] ^= 0x40
    (folder / "kernel.elf").write_bytes(data)
    return folder / "kernel.elf"


BAD_KERNELS = [(another_build, "another kernel"), (lambda _f: "/bin/true", "debug information"),
               (lambda _f: os.path.join(ROOT, "README.md"), "no ELF file"),
               (lambda _f: os.path.join(ROOT, "build/user/bin/sh.debug"), ""), (lambda f: f / "none", "No such file")]


@pytest.mark.parametrize("make, words", BAD_KERNELS, ids=[f"view-badkernel-{n:02}" for n in range(1, len(BAD_KERNELS) + 1)])
def test_view_badkernel(make, words, tmp_path):
    """a kernel of another build, a foreign ELF file, or no kernel at all, is refused in one line"""
    done = vmview("--kernel", make(tmp_path), our_dump(), "ps")
    assert done.returncode == 2 and words in done.stderr and not done.stdout and done.stderr.count("\n") == 1, done.stderr


# ---- Dumps ----

def test_view_dump_01(tmp_path):
    """a panic leaves a dump too, and the exit code stays"""
    done = run("fault panic", "--ram", "8M", "--param", "test.faults=1", "--dump", tmp_path / "d")
    done.expect(done.exit == 120, f"exit {done.exit}")
    v = views.open_file(tmp_path / "d", os.environ.get("RMAP") or "anon_vma")
    assert v.m.variable("panics", "kernel/panic.c") == 1


def test_view_dump_02(tmp_path):
    """a machine that has to be stopped leaves a dump, and so does one without ACPI"""
    done = run("sleep 100", "--ram", "8M", "--timeout", "4", "--dump", tmp_path / "d")
    done.expect(done.exit == 122 and os.path.getsize(tmp_path / "d") > 8 << 20, f"exit {done.exit}")
    done = run("false", "--ram", "8M", "--machine", "isapc", "--dump", tmp_path / "e")
    done.expect(done.exit == 1 and os.path.getsize(tmp_path / "e") > 8 << 20, f"exit {done.exit}")


def test_view_dump_03(tmp_path):
    """lab runs with and without a dump have the same figures"""
    argv = ("hogmem 2 1", "--ram", "8M", "--lab")
    plain, dumped = run(*argv), run(*argv, "--dump", tmp_path / "d")
    dumped.expect(plain.json == dumped.json and plain.trace == dumped.trace, "the figures differ")


# ---- A machine that runs ----

class Sharing:
    """A machine in which three processes share a page; `line` is QEMU's for gdb."""

    def __init__(self, rmap, folder):
        self.machine = Machine(rmap)
        self.machine.ram = 16 << 20
        self.machine.modules = [build.tests_archive(rmap)]
        self.line = str(folder / "gdb")
        self.machine.extra = ["-gdb", f"unix:{self.line},server=on,wait=off"]
        (folder / "command").write_bytes(b"/bin/t_view\0share\0")
        self.machine.files = [("/etc/command", str(folder / "command"))]

    def __enter__(self):
        self.machine.start()
        end, log = time.monotonic() + 60, ""
        while "share: pids" not in log and time.monotonic() < end:
            time.sleep(0.1)
            log = self.log()
        found = re.search(r"share: pids (\d+) (\d+) (\d+) page (0x\w+)", log)
        self.pids, self.page = [int(found[i]) for i in (1, 2, 3)], found[4]
        return self

    def log(self):
        try:
            with open(self.machine.line("serial1.txt"), encoding="latin-1") as f:
                return f.read()
        except OSError:
            return ""

    def __exit__(self, *_exc):
        self.machine.stop()

    def gdb(self, *orders):
        """One session of gdb; returns what it said."""
        argv = ["gdb", "-q", "-nx", "-batch", build.kernel_symbols(self.machine.rmap), "-ex", "set architecture i386",
                "-ex", f"source {ROOT}/tools/vmlib/gdbcommands.py", "-ex", "ch-ps", "-ex", f"target remote {self.line}"]
        for order in orders:
            argv += ["-ex", order]
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=GDB_SECONDS, cwd=ROOT)
        assert "Traceback" not in done.stderr and "Python Exception" not in done.stderr, done.stderr
        return done.stdout, done.stderr


def mappers(text):
    return [int(pid) for pid in re.findall(r"^  pid (\d+) \(t_view\) at", text, re.MULTILINE)]


@both("view-gdb")
def test_view_gdb(rmap, tmp_path):
    """in one gdb session, ch-rmap of a page shared by three processes lists all three, in both of its forms"""
    with Sharing(rmap, tmp_path) as s:
        place = f"{s.pids[0]} {s.page}"
        out, err = s.gdb("ch-ps", "echo ==\\n", f"ch-mm {s.pids[0]}", "echo ==\\n", f"ch-page {place}", "echo ==\\n", "ch-rmap $pfn",
                         "echo ==\\n", f"ch-rmap {place}", "echo ==\\n", "ch-swap", "ch-trace 5", "ch-audit", "help ch-rmap",
                         "ch-mm 4711", "ch-page 0xfffff", "ch-page blue", "ch-rmap", "ch-rmap $nothing")
        ps, mm, page, by_pfn, by_place, rest = out.split("==\n")
        assert all(re.search(rf"^ +{pid} +\d+ +sleeping .* t_view", ps, re.MULTILINE) for pid in s.pids)
        assert f"{s.page} " in mm.replace("0x40000000", s.page) and "limits: " in mm
        assert "anonymous" in page and "held by 3 PTEs" in page
        assert mappers(by_pfn) == mappers(by_place) == sorted(s.pids) and "agree: 3 PTEs" in by_pfn
        assert "no area is in use" in rest and len(re.findall(r"^\d+\.\d{9} \w+ tid=", rest, re.MULTILINE)) == 5
        assert "audit: 0 violations" in rest and "Usage: ch-rmap PFN | PID ADDRESS" in rest
        for words in ("ch-ps: no machine is connected", "ch-mm: no such pid: 4711", "ch-page: no such pfn", "ch-page: not a pfn: blue",
                      "ch-rmap: rmap takes PFN | PID ADDRESS"):
            assert words in err, (words, err)


@both("view-line")
def test_view_line(rmap, tmp_path):
    """vmview asks a running machine through gdb's protocol, which goes on afterwards; and a raw dump says the same"""
    with Sharing(rmap, tmp_path) as s:
        done = vmview(s.line, "rmap", s.pids[1], s.page)
        assert done.returncode == 0 and mappers(done.stdout) == sorted(s.pids), done.stdout + done.stderr
        status = s.machine.monitor.command("query-status")
        assert status["running"], status
        s.machine.monitor.command("stop")
        s.machine.monitor.human(f'pmemsave 0 {s.machine.ram} "{tmp_path / "raw"}"')
        s.machine.dump = str(tmp_path / "core")
        s.machine.save_memory()
        said = [vmview(tmp_path / name, "summary").stdout for name in ("raw", "core")]
        assert said[0] == said[1] and "16384 KiB" in said[0].replace("16256", "16384"), said[0]


def test_view_line_02(tmp_path):
    """a machine that hasn't started its kernel is refused in words"""
    with_nothing = Sharing(RMAPS[0], tmp_path)
    with_nothing.machine.gdb, with_nothing.machine.extra = with_nothing.line, []
    with_nothing.machine.start()
    try:
        done = vmview("--rmap", RMAPS[0], with_nothing.line, "ps")
        assert done.returncode == 2 and ("running yet" in done.stderr or "another kernel" in done.stderr), done.stderr
    finally:
        with_nothing.machine.stop()


def test_view_toolsgdb_01():
    """tools/gdb has the commands, at a breakpoint in the kernel too"""
    done = subprocess.run([os.path.join(ROOT, "tools", "gdb"), "--ram", "16M", "--", "-batch", "-ex", "break mm_fork", "-ex",
                           "continue", "-ex", "ch-ps", "-ex", "ch-page $nothing", "-ex", "help ch-page"],
                          capture_output=True, text=True, check=False, timeout=GDB_SECONDS, stdin=subprocess.DEVNULL)
    assert re.search(r"^32768 +\d+ +running .* proc", done.stdout, re.MULTILINE), done.stdout + done.stderr
    assert "Everything about one page" in done.stdout and "Python Exception" not in done.stderr, done.stderr


def test_view_setup_01():
    """without pyelftools vmview calls set-up for it, and says so when that fails"""
    code = ("import importlib.util, runpy, sys, subprocess; importlib.util.find_spec = lambda name: None;"
            "subprocess.run = lambda argv, **k: print(argv[1:]) or type('R', (), {'returncode': 1});"
            "sys.argv = ['vmview', 'x', 'ps']; runpy.run_path('tools/vmview', run_name='__main__')")
    done = subprocess.run(["/usr/bin/python3", "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 2 and "['view']" in done.stdout and "pyelftools" in done.stderr, done.stderr


def test_view_unknown_01():
    """a name that the kernel lacks is an error in words, not a guess"""
    v = swapped(RMAPS[0]).view
    for question in (lambda: v.m.variable("nonesuch"), lambda: v.m.constant("NONESUCH"), lambda: v.m.debug.struct("nonesuch"),
                     lambda: v.frames.zones()[0].nonesuch, lambda: v.m.variable("frames")):
        with pytest.raises(VmError):
            question()

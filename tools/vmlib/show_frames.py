"""What the commands summary, frames, page, lru and slab print. Each takes a View and yields lines."""
from .frames import ALL_STATES, FREE
from .machine import PAGE, PAGE_SHIFT
from .spaces import entry_of
from .words import count_of, number, place, who

KIB = PAGE >> 10


def summary(view):
    """What the machine's memory is used for."""
    m, frames = view.m, view.frames
    yield f"kernel: {m.variable('rmap_name')}, command line: {m.struct('boot_info', m.debug.variable('boot')[0]).cmdline}"
    sums = frames.sums()
    ours = sum(zone.present for zone in frames.zones())
    yield f"{frames.count} frames ({frames.count * KIB} KiB), of which the kernel manages {ours}:"
    for state in ALL_STATES:
        yield f"  {sums[state]:8} {state}"
    for zone in frames.zones():
        if zone.present:
            yield (f"zone {zone.name}: pfn {zone.start:#x}-{zone.end:#x}, {zone.free} free (watermarks {zone.min} "
                   f"{zone.low} {zone.high}), {zone.active_count} active, {zone.inactive_count} inactive")
    cached = m.variable("cached_pages", "mm/swap/cache.c")
    for area in view.areas.values():
        a = area.area
        yield (f"swap {area.name}: {area.size} slots, {a.used} used, {a.free} free, {a.bad} bad, priority {a.priority}, "
               f"{area.state()}")
    yield f"{cached} pages in the swap cache, {m.variable('committed', 'mm/commit.c')} pages promised"
    tasks = list(m.tasks())
    yield f"{count_of(len(tasks), 'task')}; {view.trace.length} records of trace"


# ---- frames ----

def frame_line(view, page, state):
    text = f"{page.pfn:#8x}  {state:12} count {page.count} mapcount {page.mapcount}  {view.frames.flag_names(page)}"
    if page.mapping:
        text += f"  mapping {page.mapping:#x} index {page.index:#x}"
    return text + (f"  private {page.private:#x}" if page.private else "")


def frames_all(view):
    """Runs of frames in the same state."""
    begin, size, state = 0, 0, None
    yield "     pfn     frames  state"
    for frames, page in view.frames.blocks():
        now = view.frames.state(page)
        if now != state and size:
            yield f"{begin:#8x}  {size:9}  {state}"
            begin, size = page.pfn, 0
        state, size = now, size + frames
    yield f"{begin:#8x}  {size:9}  {state}"


def frames(view, which=None):
    """frames [PFN | FIRST-LAST]"""
    if which is None:
        yield from frames_all(view)
        return
    first, dash, last = which.partition("-")
    first = number(first, "pfn")
    last = number(last, "pfn") if dash else first
    pfn = first
    while pfn <= last:
        size, page = view.frames.block_of(pfn)
        line = frame_line(view, page, view.frames.state(page))
        yield line + (f"  ({size} frames from {page.pfn:#x} on)" if size > 1 else "")
        pfn = page.pfn + size


# ---- page ----

def page(view, *where):
    """page PFN | PID ADDRESS"""
    pfn = place(view, where)
    size, p = view.frames.block_of(pfn)
    state = view.frames.state(p)
    yield (f"frame {pfn:#x}: {state}; zone {view.frames.zone(p).name}, physical {pfn << PAGE_SHIFT:#x}, "
           f"the kernel sees it at {view.m.base + (pfn << PAGE_SHIFT):#x}")
    yield f"  flags: {view.frames.flag_names(p) or 'none'}"
    if size > 1:
        yield f"  part of a block of {size} frames that begins at {p.pfn:#x}"
    yield from _more(view, p, state)
    if state == FREE or view.frames.has(p, "RESERVED"):
        return
    yield f"  count {p.count}, {_holders(view, p)}"
    if view.frames.has(p, "LRU"):
        yield f"  on the {view.frames.list_of(p)} list of its zone"
    if view.frames.has(p, "SWAPCACHE"):
        newer = "the page is newer" if view.frames.has(p, "DIRTY") else "both are the same"
        yield f"  in the swap cache: its slot is {view.swap.entry_text(entry_of(p.private))}, {newer}"
    for mm, _vma, addr, pte in view.rmap.mappers(p):
        yield f"  mapped by {who(view, mm)} at {addr:#x}: {view.spaces.pte_flags(pte)}"


def _holders(view, p):
    parts = [count_of(p.mapcount, "PTE")] if p.mapcount else []
    parts += ["the swap cache"] if view.frames.has(p, "SWAPCACHE") else []
    parts += ["its object"] if view.frames.has(p, "OBJECT") else []
    rest = p.count - p.mapcount - view.frames.has(p, "SWAPCACHE") - view.frames.has(p, "OBJECT")
    if rest > 0:
        parts.append(f"{rest} more" if parts else "whoever took it")
    elif rest < 0:
        parts.append(f"which is {-rest} more than are counted")
    return "held by " + ", ".join(parts) if parts else "held by nobody"


def _more(view, p, state):
    """What a state has to tell."""
    if state == "anonymous":
        yield f"  reverse map: {view.rmap.variant.describe(p)}"
    elif state == "object":
        obj = view.m.struct("object", p.mapping)
        yield f"  page {p.index} of {count_of(obj.page_count, 'page')} of the {view.objects.kind(obj)} object {obj.address:#x}"
    elif state == "slab":
        cache = view.m.struct("slab_cache", p.mapping)
        yield f"  slab cache {cache.name}: {p.index} of {cache.per_slab} objects of {cache.bytes} bytes are in use"
    elif state == "page table":
        yield from _table_owner(view, p.pfn)
    elif state == "kernel stack":
        yield from _stack_owner(view, p.pfn)


def _table_owner(view, pfn):
    for mm in view.m.mms():
        if mm.pgdir == view.m.base + (pfn << PAGE_SHIFT):
            yield f"  the page directory of {who(view, mm)}"
        for first, entry, _table in view.spaces.tables(mm):
            if entry >> PAGE_SHIFT == pfn:
                yield f"  a page table of {who(view, mm)}: {first:#x} to {first + (1 << view.spaces.table_shift):#x}"


def _stack_owner(view, pfn):
    pgdir = view.m.variable("kernel_pgdir")
    for thread in view.m.each(view.m.variable("thread_all", "kernel/thread.c"), "thread", "all_link"):
        for n in range(1, view.m.constant("KSTACK_BYTES") // PAGE + 1):
            pte = view.spaces.kernel_pte(pgdir, thread.kstack_top - n * PAGE)
            if pte and pte.maps() and pte.pfn == pfn:
                yield f"  of thread {thread.tid} ({thread.name})"


# ---- lru, slab ----

def lru(view):
    """The lists of each zone, youngest first: reclaim takes from the end."""
    for zone in view.frames.zones():
        if not zone.present:
            continue
        for which in ("active", "inactive", "clean"):
            pages = list(view.frames.listed(getattr(zone, which)))
            yield f"{zone.name} {which}: {count_of(len(pages), 'page')}"
            for p in pages:
                yield f"  {p.pfn:#8x}  mapcount {p.mapcount}  {view.frames.flag_names(p)}"


def slab(view):
    """Every cache."""
    yield "cache             bytes  a slab    used    room   slabs"
    for cache in view.slab.caches():
        slabs = sum(1 for _ in view.slab.slabs(cache))
        yield (f"{cache.name:16} {cache.bytes:6} {cache.per_slab:7} {cache.used:7} "
               f"{slabs * cache.per_slab - cache.used:7} {slabs:7}")
    yield f"{view.m.variable('frames', 'mm/slab.c')} frames in all"

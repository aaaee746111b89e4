"""What the commands ps, mm, tables and rmap print. Each takes a View and yields lines."""
from .machine import PAGE_SHIFT
from .spaces import FRAME_MASK
from .words import count_of, number, place, who

LIMITS = ("as", "stack", "memlock")     # LIMIT_* of kernel/abi/task.h, in order
LIMIT_NONE = 0xffffffff


def ps(view):
    """Every task, and the kernel's own threads."""
    m = view.m
    threads = list(m.each(m.variable("thread_all", "kernel/thread.c"), "thread", "all_link"))
    yield "  PID   TID  STATE         VM      RSS     SWAP  NAME             WAITS FOR"
    for task in m.tasks():
        mine = [t for t in threads if t.task == task]
        for thread in mine or [None]:
            yield _ps_line(m, task, thread)
    for thread in threads:
        if thread.task is None:
            yield _ps_line(m, None, thread)


def _ps_line(m, task, thread):
    mm = task.mm if task else None
    figures = (mm.total_pages, mm.rss, mm.swap_ptes) if mm else ("-", "-", "-")
    state = m.enum_name("thread_state", thread.state, "THREAD_").lower() if thread else "dead"
    waits = thread.waiting_for if thread and state == "sleeping" else None
    return (f"{task.pid if task else 0:5} {thread.tid if thread else '-':>5}  {state:9} {figures[0]:>6}   {figures[1]:>6}   {figures[2]:>6}"
            f"  {task.name if task else thread.name:16} {waits or ''}").rstrip()


# ---- mm ----

def mm(view, pid):
    """mm PID"""
    space = view.m.mm(number(pid, "pid"))
    yield f"{who(view, space)}: {count_of(space.vma_count, 'vma')}, {space.total_pages} pages mapped, mm {space.address:#x}"
    yield (f"  {space.rss} pages in memory (at most {space.max_rss}), {space.swap_ptes} in swap, {space.locked_pages} locked, "
           f"{space.committed} promised")
    yield f"  heap {space.heap_start:#x}-{space.heap_end:#x}, page directory {space.pgdir:#x}"
    yield "  limits: " + ", ".join(_limit(space, i, name) for i, name in enumerate(LIMITS))
    yield "  start      end         pages  in mem  in swap  flags"
    sums = _vma_sums(view, space)
    for v in view.spaces.vmas(space):
        present, swapped = sums.get(v.address, (0, 0))
        yield (f"  {v.start:#010x} {v.end:#010x} {view.spaces.pages(v):6} {present:7} {swapped:8}  "
               f"{view.m.flags('vma_flag', v.flags, 'VMA_').lower()}{_backing(view, v)}")


def _limit(space, i, name):
    limit = space.limits[i]
    soft, hard = ("none" if n == LIMIT_NONE else f"{n >> 10} KiB" for n in (limit.soft, limit.hard))
    return f"{name} {soft}" if soft == hard else f"{name} {soft} (hard {hard})"


def _vma_sums(view, space):
    """vma address -> (PTEs that map a page, PTEs that name a slot)."""
    sums = {}
    for addr, pte in view.spaces.ptes(space):
        v = view.spaces.vma_at(space, addr)
        if v is not None:
            present, swapped = sums.get(v.address, (0, 0))
            sums[v.address] = (present, swapped + 1) if pte.is_swap() else (present + 1, swapped)
    return sums


def _backing(view, v):
    if v.object is None:
        return ""
    return f", object {v.object.address:#x} ({view.objects.kind(v.object)}) from page {v.object_page} on"


# ---- tables ----

def tables(view, pid, address=None):
    """tables PID [ADDRESS]"""
    space = view.m.mm(number(pid, "pid"))
    if address is not None:
        yield from _walk(view, space, number(address, "address"))
        return
    yield f"{who(view, space)}: page directory at {space.pgdir:#x}"
    for first, entry, table in view.spaces.tables(space):
        used = sum(1 for e in table if e)
        yield f"  [{first >> view.spaces.table_shift:4}] {first:#010x}: table in frame {entry >> PAGE_SHIFT:#x}, {used} PTEs"
        for addr, pte in view.spaces.table_ptes(first, table):
            yield f"    {addr:#010x}  {pte.value:#010x}  {pte_words(view, pte)}"


def _walk(view, space, addr):
    index = addr >> view.spaces.table_shift
    entry = view.m.memory.word(space.pgdir + index * 4)
    yield f"{who(view, space)}, {addr:#x}: directory at {space.pgdir:#x}, entry {index} holds {entry:#010x}"
    pte = view.spaces.pte(space, addr)
    if addr >= view.spaces.user_end:
        yield "  the kernel's half: the same in every address space"
    elif pte is None:
        yield "  no page table"
    else:
        n = addr >> PAGE_SHIFT & view.spaces.entries - 1
        yield f"  page table in frame {(entry & FRAME_MASK) >> PAGE_SHIFT:#x}, entry {n} holds {pte.value:#010x}: {pte_words(view, pte)}"
    v = view.spaces.vma_at(space, addr)
    yield f"  vma {v.start:#x}-{v.end:#x}" if v else "  in no vma"


def pte_words(view, pte):
    """What a PTE says."""
    if pte.value == 0:
        return "nothing"
    if pte.is_swap():
        return f"swap: {view.swap.entry_text(pte.entry)}"
    if not pte.maps():
        return "neither a page nor a slot"
    zero = ", the zero page" if view.frames.at(view.m.variable("zero_page").address).pfn == pte.pfn else ""
    return f"frame {pte.pfn:#x}{zero}: {view.spaces.pte_flags(pte)}"


# ---- rmap ----

def _missed(key, by_map, by_sweep):
    if key not in by_map:
        return "  <- only in the page tables: the reverse map misses it"
    return "" if key in by_sweep else "  <- only in the reverse map"


def rmap(view, *where):
    """rmap PFN | PID ADDRESS"""
    pfn = place(view, where)
    page = view.frames.page(pfn)
    by_map = {(m.address, addr): (m, v, pte) for m, v, addr, pte in view.rmap.mappers(page)}
    by_sweep = {(m.address, addr): (m, view.spaces.vma_at(m, addr), pte)
                for m, addr, pte in view.sweep.frames.get(pfn, ())}
    both = by_map | by_sweep
    how = view.rmap.variant.describe(page) if view.frames.has(page, "ANON") else view.frames.state(page)
    yield f"frame {pfn:#x}: mapcount {page.mapcount}; {how}"
    for key in sorted(both, key=lambda k: (view.m.pid(both[k][0]), k[1])):
        space, v, pte = both[key]
        bounds = f"vma {v.start:#x}-{v.end:#x}" if v else "no vma"
        yield f"  {who(view, space)} at {key[1]:#x}, {bounds}: {view.spaces.pte_flags(pte)}{_missed(key, by_map, by_sweep)}"
    if view.frames.has(page, "RESERVED"):
        yield f"  a reserved frame: its {count_of(len(by_sweep), 'PTE')} are not counted, and no reverse map is kept"
    elif set(by_map) != set(by_sweep) or len(by_sweep) != page.mapcount:
        yield (f"  THEY DIFFER: the reverse map finds {len(by_map)}, the page tables {len(by_sweep)}, "
               f"mapcount says {page.mapcount}")
    else:
        yield f"  reverse map and page tables agree: {count_of(len(by_map), 'PTE')}"

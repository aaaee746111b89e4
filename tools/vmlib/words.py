"""Reading what was asked, and words that several commands use."""
from . import VmError
from .machine import PAGE


def number(text, what):
    """A number as C writes it: 17 or 0x11."""
    try:
        value = int(text, 0)
    except ValueError:
        raise VmError(f"not a {what}: {text} (write 17 or 0x11)") from None
    if value < 0:
        raise VmError(f"not a {what}: {text}")
    return value


def x(n):
    """As C's %#x."""
    return f"{n:#x}" if n else "0"


def count_of(n, what):
    return f"{n} {what}{'' if n == 1 else 's'}"


def who(view, mm):
    """"pid 7 (sh)"."""
    task = mm.task
    return f"pid {task.pid} ({task.name})" if task else f"nobody's mm {mm.address:#x}"


def place(view, where):
    """The pfn that is meant by (PFN,) or by (PID, ADDRESS)."""
    if len(where) == 1:
        return view.frames.page(number(where[0], "pfn")).pfn
    if len(where) != 2:
        raise VmError("say PFN, or PID and ADDRESS")
    pid, addr = number(where[0], "pid"), number(where[1], "address") & ~(PAGE - 1)
    mm = view.m.mm(pid)
    pte = view.spaces.pte(mm, addr)
    if pte is None or pte.value == 0:
        vma = view.spaces.vma_at(mm, addr)
        why = "no page has been touched there yet" if vma else "nothing is mapped there"
        raise VmError(f"pid {pid} has no page at {addr:#x}: {why}")
    if pte.is_swap():
        raise VmError(f"the page of pid {pid} at {addr:#x} is in swap: {view.swap.entry_text(pte.entry)}")
    return view.frames.page(pte.pfn).pfn

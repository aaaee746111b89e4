"""The commands, for tools/vmview and for gdb."""
from typing import Callable, NamedTuple

from . import VmError, show_frames, show_spaces, show_swap


class Command(NamedTuple):
    show: Callable
    least: int                  # arguments
    most: int
    usage: str
    help: str


COMMANDS = {
    "summary": Command(show_frames.summary, 0, 0, "", "what the memory is used for"),
    "frames": Command(show_frames.frames, 0, 1, "[PFN | FIRST-LAST]", "the state of each frame; without PFN runs of the same state"),
    "page": Command(show_frames.page, 1, 2, "PFN | PID ADDRESS", "everything about one page, in words"),
    "rmap": Command(show_spaces.rmap, 1, 2, "PFN | PID ADDRESS", "who maps a page: by the reverse map, and by all page tables"),
    "lru": Command(show_frames.lru, 0, 0, "", "active, inactive and clean list of each zone, in order"),
    "slab": Command(show_frames.slab, 0, 0, "", "the kernel's own small objects"),
    "ps": Command(show_spaces.ps, 0, 0, "", "tasks and threads, with pages in memory and in swap"),
    "mm": Command(show_spaces.mm, 1, 1, "PID", "vmas, sums and limits of an address space"),
    "tables": Command(show_spaces.tables, 1, 2, "PID [ADDRESS]", "page tables, every PTE decoded; or the way to one address"),
    "objects": Command(show_swap.objects, 0, 0, "", "memory objects, their pages, and who maps them"),
    "swap": Command(show_swap.swap, 0, 2, "[AREA [SLOT]]", "swap areas; slots in use; who holds a slot"),
    "trace": Command(show_swap.trace, 0, 1, "[N]", "the newest N records of the trace ring, or all"),
    "audit": Command(show_swap.audit, 0, 0, "", "do all structures agree? Fails if not"),
}


def lines(view, name, arguments):
    """What a command prints. VmError for a command or arguments that don't exist."""
    command = COMMANDS.get(name)
    if command is None:
        raise VmError(f"no such command: {name} (there are {', '.join(COMMANDS)})")
    if not command.least <= len(arguments) <= command.most:
        raise VmError(f"{name} takes {command.usage or 'no arguments'}")
    return command.show(view, *arguments)

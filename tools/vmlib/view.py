"""All views of one machine, each made when it is first asked for; and how a machine is opened."""
import functools
import glob
import os

from . import BadMemory, VmError
from .dwarf import DebugInfo
from .frames import Frames
from .index import ROOT
from .machine import PAGE, Machine
from .memory import Dump, GdbLine, is_line
from .objects import Objects
from .rmap import Rmap
from .slab import Slab
from .spaces import Spaces
from .swap import Swap
from .trace import Trace


class View:
    """Everything about the machine `m`."""

    def __init__(self, m):
        self.m = m

    def slot_count(self, entry):
        """The count of the slot (area, slot) if it is in use, else 0: swap_count()."""
        number, slot = entry
        area = self.areas.get(number)
        if area is None or slot >= area.size or area.counts[slot] == self.swap.bad:
            return 0
        return area.counts[slot]

    def close(self):
        """A machine that was stopped for us goes on."""
        self.m.memory.close()

    frames = functools.cached_property(lambda self: Frames(self.m))
    spaces = functools.cached_property(lambda self: Spaces(self.m))
    rmap = functools.cached_property(lambda self: Rmap(self.m, self.frames, self.spaces))
    swap = functools.cached_property(lambda self: Swap(self.m))
    objects = functools.cached_property(lambda self: Objects(self.m, self.frames))
    slab = functools.cached_property(lambda self: Slab(self.m, self.frames))
    trace = functools.cached_property(lambda self: Trace(self.m))
    areas = functools.cached_property(lambda self: {area.number: area for area in self.swap.areas()})
    entries = functools.cached_property(lambda self: self.objects.entries())
    sweep = functools.cached_property(lambda self: self.spaces.sweep())


def builds(rmap=None):
    """Kernels with debug information that were built here."""
    return sorted(glob.glob(os.path.join(ROOT, "build", rmap or "*", "clockhand.elf")))


def checked(debug, memory):
    """A View, or VmError: the memory's kernel isn't `debug`'s, or it hasn't got so far."""
    m = Machine(debug, memory)
    if not m.runs_this_kernel():
        raise VmError(f"the machine runs another kernel than {os.path.relpath(debug.path)}: their code differs")
    if not m.has_booted():
        raise VmError("the kernel has not set up its memory yet")
    memory.word(m.base + m.variable("page_count") * PAGE - 4)       # a dump that is cut off ends here
    return View(m)


def open_view(where, kernel=None, rmap=None):
    """The View of a dump or of a gdb line. Without `kernel` it is that build whose code lies in memory."""
    paths = [kernel] if kernel else builds(rmap)
    if not paths:
        raise VmError(f"build/{rmap or 'RMAP'}/clockhand.elf is not there: run `{'RMAP=' + rmap + ' ' if rmap else ''}make`")
    debugs = [DebugInfo(path) for path in paths]
    bases = {debug.kernel_base() for debug in debugs}
    memory = GdbLine(where) if is_line(where) else Dump(where, bases.pop())
    try:
        return _fitting(debugs, memory, where)
    except BadMemory:
        raise                   # a machine that waits before its first instruction goes on waiting
    except VmError:
        memory.close()
        raise


def _fitting(debugs, memory, where):
    """The View by the one of `debugs` whose code lies in memory."""
    for debug in debugs:
        if len(debugs) == 1 or Machine(debug, memory).runs_this_kernel():
            return checked(debug, memory)
    raise VmError(f"{where}: its kernel is none of {', '.join(os.path.relpath(d.path) for d in debugs)}; "
                  "build the one that ran, or name it by --kernel")

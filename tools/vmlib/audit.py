"""The audit, from outside: the checks of mm/audit.c and its parts, on memory that stands still.

It uses none of the kernel's code, so the two can tell on each other; the lines are the kernel's:
"INV name.N: sentence: figures". Taken in the middle of a change (a machine stopped anywhere), figures may
be half-way; a dump by tools/run --dump is taken between changes.
"""
from . import NONSENSE, VmError, audit_frames, audit_spaces, audit_swap

# What each part is about, for a structure so broken that the part can't get to its end.
PARTS = (("frame.8", audit_frames.check_frames), ("slab.1", audit_frames.check_slabs),
         ("vma.2", audit_spaces.check_spaces), ("object.1", audit_swap.check_objects),
         ("rmap.2", audit_spaces.check_rmap), ("frame.4", audit_frames.check_lru),
         ("swap.4", audit_swap.check_swap), ("rmap.1", audit_spaces.check_pages),
         ("frame.2", audit_spaces.check_mapcounts), ("swap.3", audit_swap.check_slots))


def violations(view):
    """(invariant, words) of everything that doesn't hold."""
    for invariant, part in PARTS:
        try:
            yield from part(view)
        except VmError as e:
            yield invariant, f"the rest can't be checked: {e}"
        except NONSENSE as e:
            yield invariant, f"the rest can't be checked, it makes no sense: {type(e).__name__}"


def lines(view):
    """The same as text."""
    return [f"INV {invariant}: {words}" for invariant, words in violations(view)]

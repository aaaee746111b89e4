"""What tools/vmview and the gdb commands share: a machine's memory, seen through the kernel's debug information."""
import struct


class VmError(Exception):
    """Something that can't be shown, in words for whoever asked."""


class BadMemory(VmError):
    """An address that the memory at hand doesn't have."""


# What reading a structure in ruins as a sound one may end with, besides VmError: a pointer
# that is NULL, a tree that bites its tail.
NONSENSE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError, struct.error)

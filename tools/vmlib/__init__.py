"""What tools/vmview and the gdb commands share: a machine's memory, seen through the kernel's debug information."""


class VmError(Exception):
    """Something that can't be shown, in words for whoever asked."""


class BadMemory(VmError):
    """An address that the memory at hand doesn't have."""

"""One machine: its kernel's debug information and its memory, and what all views need of both."""
from . import BadMemory, VmError
from .value import Value, load

PAGE_SHIFT = 12                 # the i386's
PAGE = 1 << PAGE_SHIFT


class Machine:
    """`debug` is a DebugInfo, `memory` a Memory."""

    def __init__(self, debug, memory):
        self.debug, self.memory = debug, memory
        self.base = debug.kernel_base()

    # ---- Names ----

    def variable(self, name, file=None):
        """The value of a variable of the kernel."""
        address, type_ = self.debug.variable(name, file)
        return load(self.memory, type_, address)

    def constant(self, name, file=None):
        return self.debug.constant(name, file)

    def struct(self, name, address):
        """The structure at `address`."""
        return Value(self.memory, self.debug.struct(name), address)

    def holder(self, struct, member, address):
        """The `struct` whose `member` lies at `address` (container_of)."""
        return self.struct(struct, address - self.debug.struct(struct).offset(member))

    # ---- Lists ----

    def each(self, head, struct, member):
        """The structures on a list, in order; `head` is a struct list, `member` what links them."""
        type_ = self.debug.struct(struct)
        offset = type_.offset(member)
        at, seen = self.memory.word(head.address), set()
        while at != head.address:
            if at == 0 or at in seen:
                raise VmError(f"the list at {head.address:#x} doesn't come back to its head")
            seen.add(at)
            yield Value(self.memory, type_, at - offset)
            at = self.memory.word(at)

    def list_empty(self, node):
        return self.memory.word(node.address) == node.address

    # ---- Flags ----

    def flags(self, enum, value, prefix):
        """"LOCKED DIRTY" of a sum of `enum`'s constants; what has no name as a number."""
        names, left = [], value
        for name, bit in sorted(self.debug.enum(enum).items(), key=lambda item: item[1]):
            if value & bit:
                names.append(name[len(prefix):] if name.startswith(prefix) else name)
                left &= ~bit
        return " ".join(names + ([f"{left:#x}"] if left else []))

    def enum_name(self, enum, value, prefix=""):
        for name, number in self.debug.enum(enum).items():
            if number == value:
                return name[len(prefix):]
        return f"{value}?"

    # ---- Tasks ----

    def tasks(self):
        return self.each(self.variable("tasks", "kernel/task.c"), "task", "link")

    def task(self, pid):
        for task in self.tasks():
            if task.pid == pid:
                return task
        raise VmError(f"no such pid: {pid} (ps lists them)")

    def mms(self):
        return self.each(self.variable("mm_all"), "mm", "all_link")

    def mm(self, pid):
        """The address space of task `pid`."""
        mm = self.task(pid).mm
        if mm is None:
            raise VmError(f"pid {pid} has no address space any more")
        return mm

    @staticmethod
    def pid(mm):
        """Whose `mm` is; 0 while it is nobody's."""
        task = mm.task
        return task.pid if task else 0

    # ---- Is it the kernel we think it is? ----

    def runs_this_kernel(self):
        """Is the code in memory the ELF's? BadMemory where there is no such memory."""
        return all(self.memory.read(address, len(data)) == data for address, data in self.debug.code())

    def has_booted(self):
        """Are there frames to look at?"""
        try:
            return self.variable("page_count") > 0 and self.variable("trace_ring") != 0
        except BadMemory:
            return False

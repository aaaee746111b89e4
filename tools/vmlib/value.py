"""Memory with a type: value.field reads the field, as C would.

A number is an int. A pointer to a structure is a Value, or None for NULL; one to characters is a str, or
None; any other pointer is the address, an int. An array of characters is a str, other arrays are indexed.
"""
from . import VmError

TEXT_MOST = 256


def load(memory, type_, address):
    """What lies at `address`, as Python knows it."""
    if type_.kind == "int":
        if type_.size == 4 and not type_.signed:
            return memory.word(address)
        return int.from_bytes(memory.read(address, type_.size), "little", signed=type_.signed)
    if type_.kind == "pointer":
        return _pointer(memory, type_.target, memory.word(address))
    if type_.kind == "array" and _is_char(type_.target):
        return memory.read(address, type_.count).split(b"\0")[0].decode("latin-1")
    return Value(memory, type_, address)


def _is_char(type_):
    return type_.kind == "int" and type_.name == "char"


def _pointer(memory, target, address):
    if target.kind == "struct":
        return Value(memory, target, address) if address else None
    if _is_char(target):
        return text(memory, address) if address else None
    return address


def text(memory, address):
    """The string at `address`."""
    out = b""
    while b"\0" not in out and len(out) < TEXT_MOST:
        room = 4096 - (address + len(out)) % 4096
        out += memory.read(address + len(out), min(room, 32))
    return out.split(b"\0")[0].decode("latin-1")


class Value:
    """A structure or an array in memory. Two are equal if they are at one place."""

    __slots__ = ("memory", "type", "address")

    def __init__(self, memory, type_, address):
        self.memory, self.type, self.address = memory, type_, address

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        offset, type_ = self.type.field(name)
        return load(self.memory, type_, self.address + offset)

    def __getitem__(self, index):
        if self.type.kind != "array" or not 0 <= index < self.type.count:
            raise VmError(f"no element {index} at {self.address:#x}")
        return load(self.memory, self.type.target, self.address + index * self.type.target.size)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __len__(self):
        return self.type.count

    def __bool__(self):
        return True

    def __eq__(self, other):
        return isinstance(other, Value) and other.address == self.address

    def __hash__(self):
        return self.address

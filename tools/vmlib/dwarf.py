"""Types, enum constants and variables of the kernel, as the compiler wrote them down (DWARF).

Nothing that vmview knows of a structure is written in vmview: the ELF says where a field lies, what a
constant is worth and where a variable is. A name that several files use (a static variable, say) is
told apart by its file: variable("frames", "mm/slab.c").
"""
from . import VmError, index
from .index import name_of as _name

try:
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile
except ImportError as e:
    raise VmError("Python's pyelftools is not here: tools/setup view (Debian's python3-pyelftools)") from e

DW_ATE_SIGNED = (0x05, 0x06)            # signed integers and chars
WRAPPERS = ("DW_TAG_typedef", "DW_TAG_const_type", "DW_TAG_volatile_type")
CODE_SECTIONS = (".text", ".rodata")    # what a running kernel never changes


class Type:
    """kind: int, pointer, array, struct or void. `fields`: name -> (offset, Type), of a struct."""

    def __init__(self, kind, size, name="", signed=False, target=None, count=0):
        self.kind, self.size, self.name, self.signed = kind, size, name, signed
        self.target, self.count = target, count
        self.fields = {}

    def offset(self, path):
        """Where the field `path` ("rmap.link") begins."""
        at, here = 0, self
        for name in path.split("."):
            step, here = here.field(name)
            at += step
        return at

    def field(self, name):
        if name not in self.fields:
            raise VmError(f"struct {self.name} of this kernel has no field {name}")
        return self.fields[name]


VOID = Type("void", 0, "void")


def _number(die, name, default=0):
    attribute = die.attributes.get(name)
    return attribute.value if attribute else default


class DebugInfo:
    """One kernel with its debug information."""

    def __init__(self, path):
        self.path = path
        try:
            self.file = open(path, "rb")
            self.elf = ELFFile(self.file)
        except OSError as e:
            raise VmError(f"{path}: {e.strerror}") from e
        except ELFError as e:
            raise VmError(f"{path} is no ELF file: {e}") from e
        self.dwarf = self.elf.get_dwarf_info() if self.elf.has_dwarf_info() else None
        if self.elf.get_machine_arch() != "x86" or self.dwarf is None:
            raise VmError(f"{path} is no kernel with debug information (build/RMAP/clockhand.elf is)")
        self._types = {}
        self._index = None

    # ---- The file itself ----

    def code(self):
        """[(address, bytes)] of what is the same in every machine that runs this kernel."""
        sections = [self.elf.get_section_by_name(name) for name in CODE_SECTIONS]
        return [(s["sh_addr"], s.data()) for s in sections if s]

    def kernel_base(self):
        """Where the linear map begins: what link address and load address differ by."""
        for segment in self.elf.iter_segments("PT_LOAD"):
            return segment["p_vaddr"] - segment["p_paddr"]
        raise VmError(f"{self.path} loads nothing")

    @property
    def index(self):
        """The Index of all names, made or read when first asked for."""
        if self._index is None:
            self._index = index.load(self.path, self.elf)
            if "page" not in self._index.structs or not self._index.variables:
                raise VmError(f"{self.path} is not a Clockhand kernel")
        return self._index

    # ---- Questions ----

    def _pick(self, table, what, name, file):
        found = table.get(name, {})
        if file:
            found = {f: v for f, v in found.items() if f == file}
        if not found:
            raise VmError(f"this kernel has no {what} {name}{' in ' + file if file else ''}")
        return found

    def variable(self, name, file=None):
        """(address, Type)."""
        found = self._pick(self.index.variables, "variable", name, file)
        if len(found) > 1:
            raise VmError(f"{name} is a variable of {' and '.join(found)}: say which")
        address, place = next(iter(found.values()))
        return address, self._type_of(self._die(place))

    def constant(self, name, file=None):
        values = set(self._pick(self.index.constants, "constant", name, file).values())
        if len(values) > 1:
            raise VmError(f"{name} is worth different things in different files: say in which")
        return values.pop()

    def enum(self, name):
        """{constant: value} of `enum name`, as it is written."""
        if name not in self.index.enums:
            raise VmError(f"this kernel has no enum {name}")
        return self.index.enums[name]

    def struct(self, name):
        if name not in self.index.structs:
            raise VmError(f"this kernel has no struct {name}")
        return self._type(self._die(self.index.structs[name]))

    # ---- Types ----

    def _die(self, place):
        """What the debug information has at `place`."""
        return self.dwarf.get_DIE_from_refaddr(place)

    def _type_of(self, die):
        if "DW_AT_type" not in die.attributes:
            return VOID
        return self._type(die.get_DIE_from_attribute("DW_AT_type"))

    def _type(self, die):
        if die.offset not in self._types:
            if die.tag in WRAPPERS:
                self._types[die.offset] = self._type_of(die)
            else:
                made = self._types[die.offset] = self._make(die)
                self._fill(made, die)
        return self._types[die.offset]

    @staticmethod
    def _make(die):
        size, name = _number(die, "DW_AT_byte_size"), _name(die)
        if die.tag in ("DW_TAG_structure_type", "DW_TAG_union_type"):
            return Type("struct", size, name)
        if die.tag == "DW_TAG_pointer_type":
            return Type("pointer", size)
        if die.tag == "DW_TAG_array_type":
            return Type("array", 0)
        if die.tag in ("DW_TAG_base_type", "DW_TAG_enumeration_type"):
            return Type("int", size, name, _number(die, "DW_AT_encoding") in DW_ATE_SIGNED)
        return VOID

    def _fill(self, made, die):
        """What refers to other types, after `made` can be found by its offset (structures name each other)."""
        if made.kind == "struct" and "DW_AT_declaration" in die.attributes and made.name in self.index.structs:
            whole = self.struct(made.name)
            made.fields, made.size = whole.fields, whole.size
        elif made.kind == "struct":
            for member in die.iter_children():
                if member.tag == "DW_TAG_member":
                    made.fields[_name(member)] = _number(member, "DW_AT_data_member_location"), self._type_of(member)
        elif made.kind == "pointer":
            made.target = self._type_of(die)
        elif made.kind == "array":
            counts = [_number(c, "DW_AT_count", _number(c, "DW_AT_upper_bound", -1) + 1) for c in die.iter_children()]
            made.target, made.count = self._type_of(die), counts[0] if counts else 0
            made.size = made.count * made.target.size

"""Types, enum constants and variables of the kernel, as the compiler wrote them down (DWARF).

Nothing that vmview knows of a structure is written in vmview: the ELF says where a field lies, what a
constant is worth and where a variable is. A name that several files use (a static variable, say) is
told apart by its file: variable("frames", "mm/slab.c").
"""
from . import VmError

try:
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile
except ImportError as e:
    raise VmError("Python's pyelftools is not here: tools/setup view (Debian's python3-pyelftools)") from e

DW_OP_ADDR = 0x03
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


def _name(die):
    attribute = die.attributes.get("DW_AT_name")
    return attribute.value.decode() if attribute else ""


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
        if self.elf.get_machine_arch() != "x86" or not self.elf.has_dwarf_info():
            raise VmError(f"{path} is no kernel with debug information (build/RMAP/clockhand.elf is)")
        self._variables, self._structs, self._constants, self._enums = {}, {}, {}, {}
        self._types = {}
        self._indexed = False

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

    # ---- The index ----

    def _index(self):
        if self._indexed:
            return
        self._indexed = True
        for unit in self.elf.get_dwarf_info().iter_CUs():
            top = unit.get_top_DIE()
            for die in top.iter_children():
                if die.tag == "DW_TAG_variable":
                    self._index_variable(_name(top), die)
                elif die.tag == "DW_TAG_enumeration_type":
                    self._index_enum(_name(top), die)
                elif die.tag == "DW_TAG_structure_type" and "DW_AT_declaration" not in die.attributes:
                    self._structs.setdefault(_name(die), die)
        if "page" not in self._structs or not self._variables:
            raise VmError(f"{self.path} is not a Clockhand kernel")

    def _index_variable(self, file, die):
        location = die.attributes.get("DW_AT_location")
        if not location or not isinstance(location.value, list) or location.value[0] != DW_OP_ADDR:
            return
        named = die if "DW_AT_name" in die.attributes else die.get_DIE_from_attribute("DW_AT_specification")
        typed = die if "DW_AT_type" in die.attributes else named
        address = int.from_bytes(bytes(location.value[1:5]), "little")
        self._variables.setdefault(_name(named), {})[file] = address, typed

    def _index_enum(self, file, die):
        values = {_name(c): c.attributes["DW_AT_const_value"].value for c in die.iter_children()}
        if _name(die):
            self._enums.setdefault(_name(die), values)
        for name, value in values.items():
            self._constants.setdefault(name, {})[file] = value

    # ---- Questions ----

    def _pick(self, table, what, name, file):
        self._index()
        found = table.get(name, {})
        if file:
            found = {f: v for f, v in found.items() if f == file}
        if not found:
            raise VmError(f"this kernel has no {what} {name}{' in ' + file if file else ''}")
        return found

    def has_variable(self, name):
        self._index()
        return name in self._variables

    def variable(self, name, file=None):
        """(address, Type)."""
        found = self._pick(self._variables, "variable", name, file)
        if len(found) > 1:
            raise VmError(f"{name} is a variable of {' and '.join(found)}: say which")
        address, die = next(iter(found.values()))
        return address, self._type_of(die)

    def constant(self, name, file=None):
        values = set(self._pick(self._constants, "constant", name, file).values())
        if len(values) > 1:
            raise VmError(f"{name} is worth different things in different files: say in which")
        return values.pop()

    def enum(self, name):
        """{constant: value} of `enum name`, as it is written."""
        self._index()
        if name not in self._enums:
            raise VmError(f"this kernel has no enum {name}")
        return self._enums[name]

    def struct(self, name):
        self._index()
        if name not in self._structs:
            raise VmError(f"this kernel has no struct {name}")
        return self._type(self._structs[name])

    # ---- Types ----

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
        if made.kind == "struct" and "DW_AT_declaration" in die.attributes and made.name in self._structs:
            whole = self._type(self._structs[made.name])
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

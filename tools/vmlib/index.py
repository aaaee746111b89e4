"""Where names stand in a kernel's debug information.

Going through all of it takes seconds, so what was found is kept beside a kernel that was built here, in
clockhand.elf.names, and used as long as that is the same file.
"""
import json
import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, "build") + os.sep
DW_OP_ADDR = 0x03
VERSION = 1                     # of what is kept


def name_of(die):
    attribute = die.attributes.get("DW_AT_name")
    return attribute.value.decode() if attribute else ""


class Index:
    """variables: name -> {file: [address, place of what has its type]}; structs: name -> place;
    constants: name -> {file: value}; enums: name -> {constant: value}."""

    def __init__(self):
        self.variables, self.structs, self.constants, self.enums = {}, {}, {}, {}

    def read(self, dwarf):
        """Go through all of a kernel's debug information."""
        for unit in dwarf.iter_CUs():
            top = unit.get_top_DIE()
            for die in top.iter_children():
                if die.tag == "DW_TAG_variable":
                    self._variable(name_of(top), die)
                elif die.tag == "DW_TAG_enumeration_type":
                    self._enum(name_of(top), die)
                elif die.tag == "DW_TAG_structure_type" and "DW_AT_declaration" not in die.attributes:
                    self.structs.setdefault(name_of(die), die.offset)

    def _variable(self, file, die):
        location = die.attributes.get("DW_AT_location")
        if not location or not isinstance(location.value, list) or location.value[0] != DW_OP_ADDR:
            return
        named = die if "DW_AT_name" in die.attributes else die.get_DIE_from_attribute("DW_AT_specification")
        typed = die if "DW_AT_type" in die.attributes else named
        address = int.from_bytes(bytes(location.value[1:5]), "little")
        self.variables.setdefault(name_of(named), {})[file] = [address, typed.offset]

    def _enum(self, file, die):
        values = {name_of(c): c.attributes["DW_AT_const_value"].value for c in die.iter_children()}
        if name_of(die):
            self.enums.setdefault(name_of(die), values)
        for name, value in values.items():
            self.constants.setdefault(name, {})[file] = value


def load(path, elf):
    """The Index of the kernel at `path`."""
    index, kept = Index(), path + ".names"
    status = os.stat(path)
    key = [VERSION, status.st_size, status.st_mtime_ns]
    try:
        with open(kept, encoding="utf-8") as f:
            stored = json.load(f)
        if stored["key"] == key:
            vars(index).update(stored["names"])
            return index
    except (OSError, ValueError, LookupError, TypeError):
        pass                    # none, or not ours: made anew
    index.read(elf.get_dwarf_info())
    if os.path.abspath(path).startswith(BUILD):
        _keep(kept, {"key": key, "names": vars(index)})
    return index


def _keep(kept, what):
    """Several may do so at once: whoever ends last wins."""
    own = f"{kept}.{os.getpid()}"
    try:
        with open(own, "w", encoding="utf-8") as f:
            json.dump(what, f)
        os.replace(own, kept)
    except OSError:
        pass                    # a tree that is read-only: slower, but as good

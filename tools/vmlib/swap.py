"""Swap areas: what each slot's count is made of."""
import struct

from . import VmError
from .machine import PAGE


class Area:
    """One swap area in use: counts and cache pointers of all its slots."""

    def __init__(self, m, number, area):
        self.m, self.number, self.area = m, number, area
        self.name, self.size = area.dev.name, area.size
        self.counts = self._map(area.counts, "H", 2)
        self.cache = self._map(area.cache, "I", 4)

    def _map(self, directory, letter, bytes_):
        """The entries of all slots; they lie in single frames behind a directory."""
        per_frame = PAGE // bytes_
        out = []
        for i in range(-(-self.size // per_frame)):
            frame = self.m.memory.read(self.m.memory.word(directory + 4 * i), PAGE)
            out += struct.unpack(f"<{per_frame}{letter}", frame)
        return out[:self.size]

    def state(self):
        return self.m.enum_name("area_state", self.area.state, "AREA_").lower()


class Swap:
    """All areas of machine `m`."""

    def __init__(self, m):
        self.m = m
        self.bad = m.constant("SLOT_BAD")

    def areas(self):
        off = self.m.constant("AREA_OFF")
        return [Area(self.m, i, area) for i, area in enumerate(self.m.variable("swap_areas")) if area.state != off]

    def area(self, name):
        """By its partition's name or its number."""
        for area in self.areas():
            if name in (area.name, str(area.number)):
                return area
        raise VmError(f"no such swap area: {name} (in use: {', '.join(a.name for a in self.areas()) or 'none'})")

    def entry_text(self, entry):
        """"hda1 slot 17" of (area, slot)."""
        number, slot = entry
        names = {a.number: a.name for a in self.areas()}
        return f"{names.get(number, f'area {number}')} slot {slot}"

"""Machines for the tests of tools/vmview: dumps with the guest's own figures, and memory that is changed on the way."""
import functools
import glob
import os
import re
import struct
import sys
import tempfile

from .guest import ROOT, run

sys.path.insert(0, os.path.join(ROOT, "tools"))
from vmlib import commands, dwarf, machine, memory, view        # noqa: E402  (the path comes first)

RMAPS = sorted(p.split(os.sep)[-2] for p in glob.glob(os.path.join(ROOT, "mm", "rmap", "*", "rmap_types.h")))
# Three processes that share pages; a hog that pushes them out; then the figures, and off.
SWAPPED = "t_view share & sleep 2; hogmem 12 1; t_view"
SMALL = ("--tests", "--ram", "8M", "--swap", "32M", "--param", "test.faults=1")
FOLDER = tempfile.TemporaryDirectory(prefix="clockhand-views-")


class Dumped:
    """A run that left a dump: `path`, the run, its view, and figures of the guest by name."""

    def __init__(self, rmap, name, last):
        self.path = os.path.join(FOLDER.name, f"{rmap}-{name}.dump")
        self.run = run(f"{SWAPPED} {last}", "--rmap", rmap, "--dump", self.path, "--timeout", 120, *SMALL)
        self.run.expect(self.run.exit == 0 and os.path.exists(self.path), f"no dump: {self.run.err[-400:]}")
        self.view = open_file(self.path, rmap)

    def figures(self):
        """The last figures in the log: ({pid: (rss, swap, vm)}, {area: (slots, used)}, {name: pages})."""
        log = self.run.log
        tasks = {int(m[0]): tuple(map(int, m[1:])) for m in
                 re.findall(r"figures: pid (\d+) rss (\d+) swap (\d+) vm (\d+)", log)}
        areas = {m[0]: (int(m[1]), int(m[2])) for m in re.findall(r"figures: area (\w+) slots (\d+) used (\d+)", log)}
        words = re.findall(r"figures: (total .*)", log)[-1].split()
        return tasks, areas, dict(zip(words[::2], map(int, words[1::2])))

    def sharers(self):
        """(pids, address) of what is shared."""
        m = re.search(r"share: pids (\d+) (\d+) (\d+) page (0x[0-9a-f]+)", self.run.log)
        return [int(m[1]), int(m[2]), int(m[3])], m[4]

    def show(self, line):
        """What vmview prints for a command."""
        name, *arguments = line.split()
        return list(commands.lines(self.view, name, arguments))


@functools.cache
def debug_info(rmap):
    return dwarf.DebugInfo(os.path.join(ROOT, "build", rmap, "clockhand.elf"))


def open_file(path, rmap):
    debug = debug_info(rmap)
    return view.checked(debug, memory.Dump(path, debug.kernel_base()))


@functools.cache
def swapped(rmap):
    """A sound machine that has swapped."""
    return Dumped(rmap, "swapped", "figures")


class Changed(memory.Memory):
    """Another memory with some words changed."""

    def __init__(self, below, words):
        super().__init__()
        self.below, self.words = below, words

    def fetch(self, address, count):
        data = bytearray(self.below.fetch(address, count))
        for place, word in self.words.items():
            if address <= place < address + count:
                struct.pack_into("<I", data, place - address, word & 0xffffffff)
        return bytes(data)


def changed(v, words):
    """The view `v` with {address: word} put into its memory."""
    return view.View(machine.Machine(v.m.debug, Changed(v.m.memory, words)))

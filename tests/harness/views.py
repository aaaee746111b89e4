"""Machines for the tests of tools/vmview: dumps with the guest's own figures, and memory that is changed on the way."""
import functools
import os
import re
import struct
import subprocess
import sys
import tempfile
import time

from .guest import ROOT, run

sys.path.insert(0, os.path.join(ROOT, "tools"))
from runner import build                                        # noqa: E402  (the path comes first)
from runner.qemu import Machine                                 # noqa: E402
from vmlib import commands, dwarf, machine, memory, view        # noqa: E402

GDB_SECONDS = 120
SHARE = r"share: pids (\d+) (\d+) (\d+) page (0x\w+) barred (0x\w+)"
# Three processes that share pages; a hog that pushes them out; then the figures, and off.
SWAPPED = "t_view share & sleep 2; hogmem 12 1; t_view figures"
SMALL = ("--tests", "--ram", "8M", "--swap", "32M", "--param", "test.faults=1")
FOLDER = tempfile.TemporaryDirectory(prefix="clockhand-views-")


class Dumped:
    """A run that left a dump: `path`, the run, its view, and figures of the guest by name."""

    def __init__(self, rmap, name, command):
        self.path = os.path.join(FOLDER.name, f"{rmap}-{name}.dump")
        self.run = run(command, "--rmap", rmap, "--dump", self.path, "--timeout", 120, *SMALL)
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
        """(pids, address of the page that they share, address of one that they may not touch)."""
        m = re.search(SHARE, self.run.log)
        return [int(m[1]), int(m[2]), int(m[3])], m[4], m[5]

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
    """A sound machine that has swapped; booted once."""
    return Dumped(rmap, "swapped", SWAPPED)


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


def vmview(*argv):
    """The command itself. Whatever happens, it never shows its own insides."""
    done = subprocess.run([os.path.join(ROOT, "tools", "vmview"), *map(str, argv)], capture_output=True, text=True,
                          check=False, timeout=GDB_SECONDS, cwd=ROOT)
    assert "Traceback" not in done.stderr, done.stderr
    return done


# ---- A machine that runs ----

class Sharing:
    """A machine in which three processes share a page; `line` is QEMU's for gdb."""

    def __init__(self, rmap, folder):
        self.machine = Machine(rmap)
        self.machine.ram = 16 << 20
        self.machine.modules = [build.tests_archive(rmap)]
        self.line = str(folder / "gdb")
        self.machine.extra = ["-gdb", f"unix:{self.line},server=on,wait=off"]
        (folder / "command").write_bytes(b"/bin/t_view\0share\0")
        self.machine.files = [("/etc/command", str(folder / "command"))]

    def __enter__(self):
        self.machine.start()
        end, log = time.monotonic() + 60, ""
        while "share: pids" not in log and time.monotonic() < end:
            time.sleep(0.1)
            log = self.log()
        found = re.search(SHARE, log)
        self.pids, self.page, self.barred = [int(found[i]) for i in (1, 2, 3)], found[4], found[5]
        return self

    def log(self):
        try:
            with open(self.machine.line("serial1.txt"), encoding="latin-1") as f:
                return f.read()
        except OSError:
            return ""

    def __exit__(self, *_exc):
        self.machine.stop()

    def gdb(self, *orders):
        """One session of gdb; returns what it said."""
        argv = ["gdb", "-q", "-nx", "-batch", build.kernel_symbols(self.machine.rmap), "-ex", "set architecture i386",
                "-ex", f"source {ROOT}/tools/vmlib/gdbcommands.py", "-ex", "ch-ps", "-ex", f"target remote {self.line}"]
        for order in orders:
            argv += ["-ex", order]
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=GDB_SECONDS, cwd=ROOT)
        assert "Traceback" not in done.stderr and "Python Exception" not in done.stderr, done.stderr
        return done.stdout, done.stderr

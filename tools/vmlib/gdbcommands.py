"""gdb's commands ch-NAME: the views of tools/vmview on a machine that gdb has stopped. tools/gdb loads this;
elsewhere: `source tools/vmlib/gdbcommands.py`, with build/RMAP/clockhand.elf as gdb's program.

ch-page and ch-rmap leave the number of the frame in $pfn. An argument that begins with $ is gdb's to
evaluate: `ch-rmap $pfn`, `ch-mm $pid`.
"""
import os
import sys

import gdb

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from vmlib import NONSENSE, BadMemory, VmError      # noqa: E402  (the path comes first)
from vmlib.commands import COMMANDS, lines          # noqa: E402
from vmlib.dwarf import DebugInfo                   # noqa: E402
from vmlib.memory import Memory                     # noqa: E402
from vmlib.view import checked                      # noqa: E402
from vmlib.words import place                       # noqa: E402

_read = {}                      # ELF's name -> DebugInfo: read once in a session


class InferiorMemory(Memory):
    """The stopped machine's memory, through gdb."""

    def fetch(self, address, count):
        try:
            return bytes(gdb.selected_inferior().read_memory(address, count))
        except gdb.error as e:
            raise BadMemory(f"bad memory: gdb can't read {address:#x} (is the machine connected, its kernel running?)") from e


def _debug():
    """The kernel that gdb has as its program."""
    name = gdb.current_progspace().filename
    if not name:
        raise VmError("gdb has no program: start it with build/RMAP/clockhand.elf")
    if name not in _read:
        _read[name] = DebugInfo(name)
    return _read[name]


def _argument(text):
    """What gdb knows is a number for us."""
    if not text.startswith("$"):
        return text
    try:
        return str(int(gdb.parse_and_eval(text)))
    except gdb.error as e:
        raise VmError(f"{text} is no number: {e}") from e


class _Show(gdb.Command):
    """One command."""

    def __init__(self, name):
        self.name = name
        super().__init__("ch-" + name, gdb.COMMAND_DATA)

    def invoke(self, argument, _from_tty):
        try:
            arguments = [_argument(word) for word in gdb.string_to_argv(argument)]
            if gdb.selected_inferior().pid == 0:
                raise VmError("no machine is connected: target remote SOCKET")
            if gdb.selected_thread() is not None and gdb.selected_thread().is_running():
                raise VmError("the machine runs: interrupt it first (Ctrl-C)")
            view = checked(_debug(), InferiorMemory())
            for line in lines(view, self.name, arguments):
                print(line)
            if self.name in ("page", "rmap"):
                gdb.set_convenience_variable("pfn", place(view, arguments))
        except VmError as e:
            raise gdb.GdbError(f"ch-{self.name}: {e}") from None
        except NONSENSE as e:
            raise gdb.GdbError(f"ch-{self.name}: what lies in memory there makes no sense: {type(e).__name__}: {e}") from None


def _define():
    for name, command in COMMANDS.items():
        text = command.help[0].upper() + command.help[1:]
        doc = f"{text}.\nUsage: ch-{name} {command.usage}".rstrip() + "\nThe machine must stand still. Numbers: 17 or 0x11."
        type("Show_" + name, (_Show,), {"__doc__": doc})(name)


_define()

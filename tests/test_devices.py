"""The parts of the PC: screen, keyboard, serial lines, clock, PCI, disks both ways; and a fault before any of
them is set up."""
import contextlib
import os
import re
import subprocess
import sys
import time

import pytest

from harness.guest import ROOT, run, shell

sys.path.insert(0, os.path.join(ROOT, "tools"))
from runner import build                                # noqa: E402  (the path comes first)
from runner.machine import Run                          # noqa: E402
from runner.qemu import Machine                         # noqa: E402

VGA_TEXT, VGA_BYTES, COLUMNS = 0xB8000, 2 * 80 * 25, 80
SMALL = ("--ram", "8M", "--swap", "16M")


@contextlib.contextmanager
def machine(**fields):
    """A Machine with these fields, started; ended and gone afterwards."""
    m = Machine()
    m.ram = 16 << 20
    for name, value in fields.items():
        setattr(m, name, value)
    try:
        m.start()
        yield m
    finally:
        m.stop()


def lines_of_screen(memory):
    """What stands in the VGA's text memory: characters and their colours by turns."""
    text = memory[::2].decode("cp437")
    return [text[i:i + COLUMNS].rstrip() for i in range(0, len(text), COLUMNS)]


def screen(m):
    """The screen of a running machine, as lines."""
    path = m.line("vga")
    m.monitor.human(f'pmemsave {VGA_TEXT} {VGA_BYTES} "{path}"')
    with open(path, "rb") as f:
        return lines_of_screen(f.read())


def text_of(m, name):
    with open(m.line(name), encoding="utf-8", errors="replace") as f:
        return f.read()


def console_until(m, pattern, seconds=60):
    """Read the programs' console until `pattern` shows; all that came."""
    seen, end = "", time.monotonic() + seconds
    m.console.setblocking(False)
    while not re.search(pattern, seen) and time.monotonic() < end:
        m.monitor.wait(0.05)
        with contextlib.suppress(BlockingIOError):
            seen += m.console.recv(65536).decode(errors="replace")
    return seen


# ---- screen, keyboard, serial lines ----

KEYS = {" ": "spc", "\n": "ret", "-": "minus", "_": "shift-minus", "'": "apostrophe", "\b": "backspace"}


def test_boot_keyboard_01():
    """what is typed at the keyboard reaches the shell; its answer stands on screen and console"""
    with machine(interactive=True, vga=True) as m:
        console_until(m, r"[$#] $")
        for c in "ecko\b\bho Typed_'a  b'\n":
            m.monitor.human("sendkey " + KEYS.get(c, f"shift-{c.lower()}" if c.isupper() else c))
            time.sleep(0.15)
        seen = console_until(m, r"Typed_a  b\r?\n")
        assert re.search(r"^Typed_a  b\r?$", seen, re.MULTILINE), repr(seen)
        assert "Typed_a  b" in screen(m), "\n".join(screen(m))


def test_boot_lines_01():
    """the log goes to the first serial line, port 0xE9 and the screen; programs' output to the second, and the screen"""
    with machine(interactive=True, vga=True) as m:
        first = console_until(m, r"[$#] $")
        log, report, shown = text_of(m, "serial1.txt"), text_of(m, "e9.txt"), "\n".join(screen(m))
        for part in (log, report, shown):
            assert "proc started, pid" in part, part
        assert "proc started" not in first and re.search(r"^clockhand\$", shown, re.MULTILINE)
        m.console.sendall(b"swapon -s\r")
        assert "Filename" in console_until(m, "Filename") and "Filename" not in text_of(m, "serial1.txt")


# ---- the first instructions ----

# gdb stops the machine before the first C function runs and sends it astray.
EARLY = [("set $eip = 0x12345678", r"page fault at 0x12345678"),
         ("set *(unsigned short *) &boot = 0x0b0f\nset $eip = &boot", r"invalid opcode"),
         ("set *(unsigned short *) &boot = 0x40cd\nset $eip = &boot", r"fault in the kernel"),
         ("set $esp = (unsigned) &boot_stack_guard + 4096 + 8", r"kernel stack overflow|double fault")]


@pytest.mark.parametrize("orders, words", EARLY, ids=[f"boot-early-{n:02}" for n in range(1, len(EARLY) + 1)])
def test_boot_early(tmp_path, orders, words):
    """a fault before the first C instruction is told with registers and place, on both lines and the screen"""
    with machine(gdb=str(tmp_path / "gdb"), vga=True) as m:
        while not os.path.exists(m.gdb):
            m.monitor.wait(0.02)
        argv = ["gdb", "-q", "-nx", "-batch", build.kernel_symbols(m.rmap)]
        for order in ["set architecture i386", f"target remote {m.gdb}", "break *kernel_main", "continue", *orders.split("\n"),
                      "delete", "break machine_halt", "continue",
                      f"dump binary memory {tmp_path}/vga {0xC0000000 + VGA_TEXT} {0xC0000000 + VGA_TEXT + VGA_BYTES}", "detach"]:
            argv += ["-ex", order]
        gdb = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL)
        result = Run(m, lambda data: None, lambda data: None, 30).run()
        assert result.cause == "panic", f"{result.cause} {result.words}\n{gdb.stdout}{gdb.stderr}"
        for part in (text_of(m, "serial1.txt"), text_of(m, "e9.txt"), "\n".join(lines_of_screen((tmp_path / "vga").read_bytes()))):
            assert re.search(rf"PANIC: .*(?:{words})", part) and "eip" in part and "BACKTRACE" in part, part


# ---- clock, PCI, disks ----

CLOCK = """#include <stdio.h>
#include <time.h>
int main(void) { printf("%lld\\n", (long long)time(NULL)); return 0; }
"""


@pytest.fixture(scope="module")
def clock(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clock")
    (folder / "clock.c").write_text(CLOCK)
    subprocess.run([os.path.join(ROOT, "build/bin/i386-clockhand-gcc"), "-o", folder / "clock", folder / "clock.c"], check=True)
    return str(folder / "clock")


@pytest.mark.parametrize("date", ["", "2024-02-29T23:59:40", "1999-12-31T23:59:50", "2031-03-01T00:00:00"],
                         ids=[f"boot-rtc-{n:02}" for n in range(1, 5)])
def test_boot_rtc(clock, date):
    """wall time is the real-time clock's, leap days and turns of the century included"""
    wanted = time.time()
    options = []
    if date:
        wanted = time.mktime(time.strptime(date + " UTC", "%Y-%m-%dT%H:%M:%S %Z")) - time.timezone
        options = ["--extra=-rtc", f"--extra=base={date}"]
    done = run("/tmp/clock", "--put", clock, *options)
    done.expect(done.exit == 0 and -2 <= int(done.out) - wanted <= 30, f"{done.out} instead of {wanted}")


def test_boot_rtc_05(clock):
    """in the lab wall time starts at epoch="""
    done = run("/tmp/clock", "--put", clock, "--lab", "--param", "epoch=1000000000")
    done.expect(done.out.strip() in ("1000000000", "1000000001"), done.out)


@pytest.mark.parametrize("board, found", [("pc", True), ("isapc", False)], ids=["boot-pci-01", "boot-pci-02"])
def test_boot_pci(board, found):
    """the PCI bus is scanned where there is one"""
    done = shell("true", "--machine", board)
    done.expect(bool(re.search(r"pci: 00:01\.1 8086:7010 class 01\.01", done.log)) == found, done.log)


@pytest.mark.parametrize("options, dma", [(["--param", "ide=dma"], 1), (["--param", "ide=pio"], 0), (["--machine", "isapc"], 0)],
                         ids=[f"disk-mode-{n:02}" for n in range(1, 4)])
def test_disk_mode(options, dma):
    """a sort beyond memory by DMA, by PIO on the same machine, and by PIO without PCI"""
    done = shell("qsbench -n 2500000", *SMALL, *options)
    hda = done.json["disks"]["hda"]
    done.expect(hda["dma"] == dma and hda["writes"] > 20 and hda["reads"] > 20 and hda["errors"] == 0, str(hda))


DEVICE_CONTROL, NO_INTERRUPT = 0x3F6, 2
SECOND_PIC_MASK, ALL_LINES, SECOND_PIC_WANTED = 0xA1, 0xFF, 0x3F        # the kernel's: lines 14 and 15
LOST = [("dma", SECOND_PIC_MASK, ALL_LINES, "an interrupt was lost"), ("pio", SECOND_PIC_MASK, ALL_LINES, "an interrupt was lost"),
        ("dma", DEVICE_CONTROL, NO_INTERRUPT, "no answer")]


@pytest.mark.slow
@pytest.mark.parametrize("mode, port, value, words", LOST, ids=[f"disk-lost-{n:02}" for n in range(1, 4)])
def test_disk_lost(mode, port, value, words):
    """interrupts that don't come, or a drive that falls silent: the log says so, nobody is killed, nothing is lost"""
    with machine(ram=8 << 20, swaps=[16 << 20], interactive=True, parameters={"ide": mode}) as m:
        console_until(m, r"[$#] $")
        m.console.sendall(b"hogmem 10 20 && audit\r")
        seen = console_until(m, r"\.\.")                 # it swaps
        m.monitor.human(f"o/b {port:#x} {value:#x}")
        end = time.monotonic() + 60
        while not re.search(words, text_of(m, "serial1.txt")) and time.monotonic() < end:
            m.monitor.wait(0.1)
        if port == SECOND_PIC_MASK:
            m.monitor.human(f"o/b {port:#x} {SECOND_PIC_WANTED:#x}")
        seen += console_until(m, r"violations|Killed", 120)
        log = text_of(m, "serial1.txt")
        assert "Memory speed" in seen and "audit: 0 violations" in seen, seen + log
        assert re.search(rf"ide: hda: .*{words}", log) and "Out of memory" not in log, log


@pytest.mark.parametrize("name", ["noop", "linus"], ids=["disk-elevator-01", "disk-elevator-02"])
def test_disk_elevator(name):
    """a sort beyond memory under each elevator, several pages a request both ways"""
    done = shell("qsbench -n 2500000", *SMALL, "--param", f"elevator={name}")
    hda = done.json["disks"]["hda"]
    done.expect(done.json["config"]["elevator"] == name and hda["merges"] > 100, str(hda))
    done.expect(hda["read_sectors"] > 16 * hda["reads"] and hda["write_sectors"] > 16 * hda["writes"], str(hda))


def test_disk_elevator_03():
    """an elevator that isn't there is named, and another serves"""
    done = shell("true", "--swap", "8M", "--param", "elevator=bogus")
    done.expect('no elevator "bogus"' in done.log and done.json["config"]["elevator"] == "linus", done.log)

"""QEMU's command line for one machine, and its process.

A Machine holds what the machine consists of; start() gives it a temporary folder with the lines
that come out of it (docs/formats.md, "Lines out of the machine"):

    serial1.txt   the kernel's log
    serial2.txt   the programs' console, when it is not a terminal
    e9.txt        log and report
    qemu.txt      QEMU's own words, "Triple fault" among them

They are plain files, which take every byte at once: that is what keeps lab runs identical.
"""
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import tempfile

from . import build, disk
from .monitor import Monitor, MonitorError

PR_SET_PDEATHSIG = 1            # linux/prctl.h

LAB_ARGUMENTS = ["-rtc", "base=2020-01-01T00:00:00,clock=host"]
MIPS_BY_SHIFT = [1000 / 2**k for k in range(11)]        # what QEMU's -icount shift=k makes of the lab's CPU
LAB_PARAMETERS = {"lab": "1", "disk": "model:ata2001"}
DUMP_SECONDS = 60
DRIVES_MAX = 4                  # two channels, two drives each


class Machine:
    """What to start. Fields may be set freely before start()."""

    def __init__(self, rmap=build.DEFAULT_RMAP):
        self.rmap = rmap
        self.kernel = None              # another one than the build's
        self.modules = []               # further archives; the system's comes first
        self.ram = 64 << 20
        self.swaps = []                 # bytes, one drive each
        self.disks = []                 # image files, after the swap drives
        self.inject = {}                # drive number -> blkdebug rules file
        self.parameters = {}            # kernel command line
        self.cpu = "pentium3"
        self.machine = "pc"
        self.lab = False
        self.mips = 1000                # in the lab; one of MIPS_BY_SHIFT
        self.interactive = False        # serial 2 is a socket instead of a file
        self.vga = False
        self.gdb = None                 # path of a socket; the machine then waits for gdb
        self.dump = None                # file for its memory at the end; it then has no exit device
        self.extra = []                 # QEMU arguments
        self.files = []                 # (name in the guest, host file)
        self.keep = False               # leave the folder behind
        self.folder = self.process = self.monitor = self.console = None

    def cmdline(self):
        parameters = dict(LAB_PARAMETERS) if self.lab else {}
        parameters.update(self.parameters)
        return " ".join(f"{name}={value}" for name, value in parameters.items())

    def line(self, name):
        return os.path.join(self.folder, name)

    def _drives(self):
        images = []
        for i, size in enumerate(self.swaps):
            image = self.line(f"swap{i}.img")
            disk.make_swap_disk(image, size, f"{i} {size}")
            images.append(image)
        arguments = []
        for i, image in enumerate(images + self.disks):
            arguments += ["-blockdev", f"driver=file,filename={image},node-name=file{i},cache.no-flush=on"]
            below = f"file{i}"
            if i in self.inject:
                below = f"debug{i}"
                arguments += ["-blockdev", f"driver=blkdebug,image=file{i},config={self.inject[i]},node-name={below}"]
            arguments += ["-blockdev", f"driver=raw,file={below},node-name=disk{i}",
                          "-device", f"ide-hd,bus=ide.{i // 2},unit={i % 2},drive=disk{i}"
                                     ",werror=report,rerror=report"]
        return arguments

    def _modules(self):
        modules = list(self.modules)
        if self.files:
            extra = self.line("extra.arc")
            build.make_archive(extra, self.files)
            modules.append(extra)
        return ",".join(m.replace(",", ",,") for m in modules)

    def arguments(self):
        """The whole command line; makes the disks and the extra archive."""
        arguments = [build.QEMU, "-M", self.machine, "-cpu", self.cpu, "-accel", "tcg",
                     "-m", f"{self.ram >> 10}K", "-display", "none", "-nodefaults", "-no-user-config",
                     "-no-reboot", "-no-shutdown", "-d", "cpu_reset", "-D", self.line("qemu.txt"),
                     "-serial", "file:" + self.line("serial1.txt")]
        if self.interactive:
            arguments += ["-chardev", f"socket,id=console,fd={self.console_end.fileno()}",
                          "-serial", "chardev:console"]
        else:
            arguments += ["-serial", "file:" + self.line("serial2.txt")]
        arguments += ["-debugcon", "file:" + self.line("e9.txt")]
        # The exit device ends QEMU at once, and the memory with it.
        arguments += [] if self.dump else ["-device", "isa-debug-exit,iobase=0xf4,iosize=4"]
        arguments += ["-vga", "std"] if self.vga else []
        if self.lab:
            arguments += ["-icount", f"shift={MIPS_BY_SHIFT.index(self.mips)},sleep=off"] + LAB_ARGUMENTS
        if self.gdb:
            arguments += ["-S", "-gdb", f"unix:{self.gdb},server=on,wait=off"]
        arguments += self.monitor.arguments() + self._drives()
        return arguments + ["-kernel", self.kernel, "-append", self.cmdline(),
                            "-initrd", self._modules()] + self.extra

    def start(self):
        """Start QEMU. It dies with us, whatever happens. BuildError if there is no such build."""
        self.kernel = self.kernel or build.kernel(self.rmap)
        self.modules.insert(0, build.archive(self.rmap))
        self.folder = tempfile.mkdtemp(prefix="clockhand-")
        self.monitor = Monitor()
        inherited = [self.monitor.qemu_end.fileno()]
        if self.interactive:
            self.console, self.console_end = socket.socketpair()
            inherited.append(self.console_end.fileno())
        libc = ctypes.CDLL(None)
        with open(self.line("stderr.txt"), "wb") as errors:
            self.process = subprocess.Popen(
                self.arguments(), stdin=subprocess.DEVNULL, stdout=errors, stderr=errors,
                pass_fds=inherited, start_new_session=True,
                preexec_fn=lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL))
        self.monitor.started()
        if self.interactive:
            self.console_end.close()

    def save_memory(self):
        """Stop the machine and write its memory to `dump`, an ELF core. MonitorError if that fails."""
        self.monitor.command("stop")
        done = self.monitor.command("dump-guest-memory", seconds=DUMP_SECONDS, paging=False,
                                    protocol="file:" + os.path.abspath(self.dump))
        if done is None:
            raise MonitorError(f"QEMU can't write {self.dump}")

    def symbols(self):
        """The kernel that runs, with its symbols."""
        beside = self.kernel + ".elf"
        return beside if os.path.exists(beside) else build.kernel_symbols(self.rmap)

    def errors(self):
        """What QEMU itself complained about."""
        with open(self.line("stderr.txt"), encoding="utf-8", errors="replace") as f:
            return [line for line in f.read().splitlines()
                    if line and "icount sleep disabled" not in line]

    def triple_fault(self):
        with open(self.line("qemu.txt"), encoding="latin-1") as f:
            return "Triple fault" in f.read()

    def stop(self):
        """End QEMU, now, and remove the folder. Harmless when repeated."""
        if self.process and self.process.poll() is None:
            try:
                self.monitor.command("quit", seconds=1)
                self.process.wait(1)
            except (MonitorError, subprocess.TimeoutExpired):
                self.process.kill()
                self.process.wait()
        if self.folder and not self.keep:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder = None

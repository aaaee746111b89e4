"""From power-on to a command, on all kinds of machines."""
import os
import re
import subprocess
import sys
import time

import pytest

from harness.guest import ROOT, run, shell

CPUS = {"486": "486", "486-nofpu": "486,-fpu", "pentium3": "pentium3"}
MATRIX = [(cpu, machine, ram) for cpu in CPUS for machine in ("pc", "isapc") for ram in (8, 16, 64, 512)]


@pytest.mark.parametrize("cpu, machine, ram", MATRIX, ids=[f"boot-matrix-{n:02}" for n in range(1, len(MATRIX) + 1)])
def test_boot_matrix(cpu, machine, ram):
    """every CPU, machine and size of memory gets to a command, swap found"""
    done = shell("echo here; free; swapon -s", "--cpu", CPUS[cpu], "--machine", machine, "--ram", f"{ram}M", "--swap", "8M")
    done.expect("here" in done.out and "hda1" in done.out, f"{cpu} {machine} {ram}M: {done.out}")


@pytest.mark.parametrize("ram", [4, 6, 100, 1000], ids=[f"boot-ram-{n:02}" for n in range(1, 5)])
def test_boot_ram(ram):
    """odd sizes of memory: with 4 MiB and swap a shell, and what lies above 896 MiB is left alone, in words"""
    done = shell("echo here", "--ram", f"{ram}M", "--swap", "16M")
    done.expect(("MiB of RAM lie above 896 MiB and are not used" in done.log) == (ram > 896), done.log[:600])


@pytest.mark.slow
@pytest.mark.parametrize("cpu, machine", [("486", "isapc"), ("486,-fpu", "pc"), ("pentium3", "isapc")],
                         ids=[f"boot-sort-{n:02}" for n in range(1, 4)])
def test_boot_sort(cpu, machine):
    """the main job in small runs on each kind of machine, swapping by PIO where there is no PCI"""
    done = shell("qsbench -n 2000000", "--cpu", cpu, "--machine", machine, "--ram", "8M", "--swap", "16M")
    done.expect(done.counters["pswpout"] > 0 and done.counters["pswpin"] > 0, "nothing was swapped")


def test_boot_shell_01():
    """a shell on a machine of 8 MiB without swap"""
    shell("ls /bin; ps", "--ram", "8M")


def test_boot_memory_01():
    """at the prompt of a 64 MiB machine 60 MiB are free, and the kernel takes at most 1 MiB besides its page array"""
    done = shell("free", "--lab", "--ram", "64M")
    free = int(re.search(r"^Mem: +\d+ +\d+ +(\d+)", done.out, re.MULTILINE).group(1))
    array = int(re.search(r"(\d+) KiB of page descriptors", done.log).group(1))
    at_boot, of = map(int, re.search(r"memory: (\d+) KiB free of (\d+) KiB", done.log).groups())
    done.expect(free >= 60 << 10 and of - at_boot - array <= 1 << 10, f"{free} KiB free; {done.log[:800]}")


def test_boot_nofpu_01():
    """without an FPU a program that uses it gets SIGILL, the log says why, the shell goes on"""
    done = run("t_fpu; echo alive; audit", "--tests", "--cpu", "486,-fpu")
    lines = re.findall(r"^fpu: t_fpu used the FPU at 0x[0-9a-f]+, and this machine has none$", done.log, re.MULTILINE)
    done.expect("ok 1 fpu-none-01" in done.out and "alive" in done.out and len(lines) == 1, f"{done.out}\n{done.log[-400:]}")


def test_boot_param_01():
    """an unknown parameter and a value out of range are named in the log; the boot goes on"""
    done = shell("true", "--param", "nonsense=1", "--param", "overcommit=9")
    done.expect("nonsense" in done.log and "overcommit" in done.log, done.log[:600])


# ---- a disk that boots by itself ----

def make_image(tmp_path, *words, parameters=()):
    out = tmp_path / "disk.img"
    argv = [os.path.join(ROOT, "tools", "image"), str(out)] + [f"--param={p}" for p in parameters] + ["--", *words]
    subprocess.run(argv, check=True, capture_output=True)
    return out


def wait_for(path, text, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if path.exists() and text in path.read_text(errors="replace"):
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize("machine", ["pc", "isapc"], ids=["image-qemu-01", "image-qemu-02"])
def test_image_qemu(tmp_path, machine):
    """the image boots through GRUB in QEMU, finds its swap partition and swaps"""
    image, console = make_image(tmp_path, "sh", "-c", "swapon -s; hogmem 12 1; audit"), tmp_path / "serial2"
    log, report = tmp_path / "serial1", tmp_path / "e9"
    argv = ["qemu-system-i386", "-M", machine, "-m", "8M", "-display", "none", "-no-reboot",
            "-drive", f"file={image},format=raw,if=ide", "-serial", f"file:{log}", "-serial", f"file:{console}",
            "-debugcon", f"file:{report}", "-device", "isa-debug-exit,iobase=0xf4,iosize=4"]
    done = subprocess.run(argv, timeout=120, capture_output=True, text=True, check=False)
    assert done.returncode == 1, f"status {done.returncode}: {log.read_text(errors='replace')[-600:]}"
    assert "hda2" in console.read_text() and "Memory speed" in console.read_text()
    assert "@exit 0" in report.read_text(errors="replace")


def test_image_hda_01(tmp_path):
    """the image boots by plain `qemu-system-i386 -hda`, without any device of ours"""
    image, log = make_image(tmp_path, "echo", "here"), tmp_path / "serial1"
    console = tmp_path / "serial2"
    process = subprocess.Popen(["qemu-system-i386", "-hda", str(image), "-display", "none", "-serial", f"file:{log}",
                                "-serial", f"file:{console}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        assert wait_for(console, "here", 60), log.read_text(errors="replace")[-600:]
        assert process.wait(20) == 0, "poweroff by ACPI"
    finally:
        process.kill()
        process.wait()


BOCHS = """display_library: term
config_interface: textconfig
plugin_ctrl: unmapped=1, biosdev=1, speaker=0, extfpuirq=1, parallel=0, serial=1, iodebug=0, gameport=0, e1000=0
memory: guest=32, host=32
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/vgabios/vgabios.bin
boot: disk
ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14
ata0-master: type=disk, path={image}, mode=flat, cylinders={cylinders}, heads=16, spt=63
cpu: model=pentium, count=1, ips=50000000, reset_on_triple_fault=0
clock: sync=none, time0=1000000000
com1: enabled=1, mode=file, dev={folder}/serial1
com2: enabled=1, mode=file, dev={folder}/serial2
port_e9_hack: enabled=1
log: {folder}/bochs.log
panic: action=fatal
"""


@pytest.mark.slow
def test_image_bochs_01(tmp_path):
    """the image boots through GRUB in Bochs, sorts, and powers off"""
    image = make_image(tmp_path, "sh", "-c", "qsbench -n 100000 && echo sorted")
    cylinder = 16 * 63 * 512
    cylinders = -(-os.path.getsize(image) // cylinder)
    os.truncate(image, cylinders * cylinder)
    (tmp_path / "rc").write_text(BOCHS.format(image=image, folder=tmp_path, cylinders=cylinders))
    (tmp_path / "go").write_text("c\n")
    console = tmp_path / "serial2"
    # The terminal display wants a terminal: script gives it one.
    process = subprocess.Popen(["script", "-qec", f"bochs-bin -q -f {tmp_path}/rc -rc {tmp_path}/go", "/dev/null"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env=dict(os.environ, TERM="xterm"), start_new_session=True)
    try:
        assert wait_for(console, "sorted", 240), (tmp_path / "serial1").read_text(errors="replace")[-800:]
        assert process.wait(60) is not None
    finally:
        subprocess.run(["kill", "--", f"-{process.pid}"], check=False, stderr=subprocess.DEVNULL)
        process.wait()


# ---- make run, make gdb ----

def test_boot_run_01():
    """make run ends by itself when its input ends: the main job, a shell, power off"""
    done = subprocess.run([sys.executable, os.path.join(ROOT, "tools/boot"), "--job", "echo job"], capture_output=True,
                          text=True, timeout=120, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 0 and "job" in done.stdout, done.stdout[-800:] + done.stderr


def test_boot_run_02():
    """commands piped into make run are run in the shell, one after the other"""
    done = subprocess.run([sys.executable, os.path.join(ROOT, "tools/boot"), "--job", ""], capture_output=True,
                          text=True, timeout=120, input="echo first\necho sec''ond\npoweroff\n", check=False)
    assert re.search(r"^first$", done.stdout, re.MULTILINE), done.stdout[-800:]
    assert done.returncode == 0


def test_boot_run_03():
    """make run's vmstat ends with the job, and even one that goes on for ever does not keep the machine up"""
    def boot(job):
        done = subprocess.run([sys.executable, os.path.join(ROOT, "tools/boot"), "--job", job], capture_output=True,
                              text=True, timeout=120, stdin=subprocess.DEVNULL, check=False)
        assert done.returncode == 0, done.stdout[-800:] + done.stderr
        return done.stdout.split("clockhand$ ")[-1]
    after = boot("vmstat 1 &\nsleep 1\nkill $!\nwait\nsleep 2")
    assert not re.search(r"^(?: *\d+){14,}", after, re.MULTILINE), after
    boot("vmstat 1 &")


@pytest.mark.parametrize("keys", [b"\x01x", b"poweroff\r"], ids=["boot-terminal-01", "boot-terminal-02"])
def test_boot_terminal(keys):
    """Ctrl-A X and poweroff end make run, and the terminal is as it was"""
    import pty
    import termios
    master, slave = pty.openpty()
    before = termios.tcgetattr(slave)
    process = subprocess.Popen([sys.executable, os.path.join(ROOT, "tools/boot"), "--job", ""],
                               stdin=slave, stdout=slave, stderr=slave)
    seen = b""
    os.set_blocking(master, False)
    try:
        end = time.monotonic() + 60
        while time.monotonic() < end and not seen.rstrip(b" ").endswith((b"#", b"$")):
            time.sleep(0.1)
            try:
                seen += os.read(master, 65536)
            except BlockingIOError:
                pass
        os.write(master, keys)
        assert process.wait(30) == 0, seen[-500:]
        assert termios.tcgetattr(slave) == before
    finally:
        process.kill()
        process.wait()
        os.close(master)
        os.close(slave)


def test_boot_gdb_01():
    """make gdb stops at a breakpoint in the kernel, with names and arguments, and QEMU ends with gdb"""
    done = subprocess.run([os.path.join(ROOT, "tools/gdb"), "--", "-batch", "-ex", "break task_start_proc", "-ex", "continue",
                           "-ex", "backtrace"], capture_output=True, text=True, timeout=120, check=False,
                          stdin=subprocess.DEVNULL)
    assert re.search(r"#0 .*task_start_proc", done.stdout), done.stdout[-800:] + done.stderr[-400:]
    assert re.search(r"#1 .*\w+ \(", done.stdout)


def test_boot_gdb_02():
    """make gdb is one command: gdb takes its orders from the terminal, or a here-document"""
    done = subprocess.run(["make", "--no-print-directory", "gdb"], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
                          input="print $pc\nbreak kernel_main\ncontinue\ninfo registers eip\nquit\n")
    assert done.returncode == 0 and re.search(r"eip +0x[0-9a-f]+ +0x[0-9a-f]+ <kernel_main", done.stdout), done.stdout + done.stderr

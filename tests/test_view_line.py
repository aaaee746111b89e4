"""tools/vmview and gdb's ch- commands: what can't be shown is refused in words; dumps and machines that run."""
import os
import re
import subprocess

import pytest

from harness import views
from harness.guest import ROOT, run
from harness.views import GDB_SECONDS, Sharing, swapped, vmview

from vmlib import VmError           # (harness.views sets the path)

MAP = os.environ.get("RMAP") or views.build.DEFAULT_RMAP      # where any reverse mapping will do


# ---- What can't be shown is refused in words ----

REFUSED = [(["mm", "4711"], "no such pid: 4711"), (["page", "0xfffff"], "no such pfn"), (["page", "blue"], "not a pfn: blue"),
           (["swap", "hdz9"], "no such swap area: hdz9"), (["swap", "hda1", "99999999"], "no such slot"),
           (["dance"], "no such command: dance"), (["mm"], "mm takes PID"), (["lru", "1"], "lru takes no arguments"),
           (["rmap", "1", "0x1000"], "has no page at 0x1000"), (["trace", "-4"], "not a count")]


@pytest.mark.parametrize("argv, words", REFUSED, ids=[f"view-refused-{n:02}" for n in range(1, len(REFUSED) + 1)])
def test_view_refused(argv, words):
    """what is not there is refused in one line, with status 2"""
    done = vmview(swapped(MAP).path, "--", *argv)
    assert done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1, done.stderr


def cut(path, bytes_):
    def make(folder):
        with open(path(), "rb") as f:
            (folder / "dump").write_bytes(f.read(bytes_))
        return folder / "dump"
    return make


def written(data):
    def make(folder):
        (folder / "dump").write_bytes(data)
        return folder / "dump"
    return make


def our_dump():
    return swapped(MAP).path


BAD_DUMPS = [(cut(our_dump, 3 << 20), "is cut off"), (cut(our_dump, 100), "cut off"), (cut(our_dump, 20), "cut off"),
             (cut(our_dump, 0), "has nothing at"), (written(b"\0" * (8 << 20)), "kernel"), (written(b"hello\n" * 1000), "has nothing at"),
             (lambda _folder: os.path.join(ROOT, "build", MAP, "clockhand.elf"), "no core"),
             (lambda folder: folder / "nowhere", "No such file"), (lambda folder: folder, "directory"),
             (lambda _folder: "localhost:1", "no machine answers")]


@pytest.mark.parametrize("make, words", BAD_DUMPS, ids=[f"view-baddump-{n:02}" for n in range(1, len(BAD_DUMPS) + 1)])
def test_view_baddump(make, words, tmp_path):
    """a dump that is cut off, foreign, or none, is refused in one line"""
    done = vmview(make(tmp_path), "audit")
    assert done.returncode == 2 and words in done.stderr and not done.stdout, done.stdout[-300:] + done.stderr
    assert done.stderr.count("\n") == 1


def another_build(folder):
    """Our kernel with one instruction changed, as another build would have."""
    path = os.path.join(ROOT, "build", MAP, "clockhand.elf")
    with open(path, "rb") as f:
        data = bytearray(f.read())
    section = views.debug_info(MAP).elf.get_section_by_name(".text")
    data[section["sh_offset"] + section["sh_size"] // 2] ^= 0x40
    (folder / "kernel.elf").write_bytes(data)
    return folder / "kernel.elf"


BAD_KERNELS = [(another_build, "another kernel"), (lambda _f: "/bin/true", "debug information"),
               (lambda _f: os.path.join(ROOT, "README.md"), "no ELF file"),
               (lambda _f: os.path.join(ROOT, "build/user/bin/sh.debug"), ""), (lambda f: f / "none", "No such file")]


@pytest.mark.parametrize("make, words", BAD_KERNELS, ids=[f"view-badkernel-{n:02}" for n in range(1, len(BAD_KERNELS) + 1)])
def test_view_badkernel(make, words, tmp_path):
    """a kernel of another build, a foreign ELF file, or no kernel at all, is refused in one line"""
    done = vmview("--kernel", make(tmp_path), our_dump(), "ps")
    assert done.returncode == 2 and words in done.stderr and not done.stdout and done.stderr.count("\n") == 1, done.stderr


# ---- Dumps ----

def test_view_dump_01(tmp_path):
    """a panic leaves a dump too, and the exit code stays"""
    done = run("fault panic", "--rmap", MAP, "--ram", "8M", "--param", "test.faults=1", "--dump", tmp_path / "d")
    done.expect(done.exit == 120, f"exit {done.exit}")
    v = views.open_file(tmp_path / "d", MAP)
    assert v.m.variable("panics", "kernel/panic.c") == 1


@pytest.mark.slow
def test_view_dump_02(tmp_path):
    """a machine that has to be stopped leaves a dump, and so does one without ACPI"""
    done = run("sleep 100", "--ram", "8M", "--timeout", "4", "--dump", tmp_path / "d")
    done.expect(done.exit == 122 and os.path.getsize(tmp_path / "d") > 8 << 20, f"exit {done.exit}")
    done = run("false", "--ram", "8M", "--machine", "isapc", "--dump", tmp_path / "e")
    done.expect(done.exit == 1 and os.path.getsize(tmp_path / "e") > 8 << 20, f"exit {done.exit}")


@pytest.mark.slow
def test_view_dump_03(tmp_path):
    """lab runs with and without a dump have the same figures"""
    argv = ("hogmem 2 1", "--ram", "8M", "--lab")
    plain, dumped = run(*argv), run(*argv, "--dump", tmp_path / "d")
    dumped.expect(plain.json == dumped.json and plain.trace == dumped.trace, "the figures differ")


# ---- A machine that runs ----

def mappers(text):
    return [int(pid) for pid in re.findall(r"^  pid (\d+) \(t_view\) at", text, re.MULTILINE)]


@pytest.mark.each_map
def test_view_gdb_01(reverse_map, tmp_path):
    """in one gdb session, ch-rmap of a page shared by three processes lists all three, in both of its forms"""
    with Sharing(reverse_map, tmp_path) as s:
        place = f"{s.pids[0]} {s.page}"
        out, err = s.gdb("ch-ps", "echo ==\\n", f"ch-mm {s.pids[0]}", "echo ==\\n", f"ch-page {place}", "echo ==\\n", "ch-rmap $pfn",
                         "echo ==\\n", f"ch-rmap {place}", "echo ==\\n", "ch-swap", "ch-trace 5", f"ch-tables {s.pids[0]} {s.barred}", "ch-audit", "help ch-rmap",
                         "ch-mm 4711", "ch-page 0xfffff", "ch-page blue", "ch-rmap", "ch-rmap $nothing")
        ps, mm, page, by_pfn, by_place, rest = out.split("==\n")
        assert all(re.search(rf"^ +{pid} +\d+ +sleeping .* t_view", ps, re.MULTILINE) for pid in s.pids)
        assert f"{s.page} " in mm and "limits: " in mm
        assert "anonymous" in page and "held by 3 PTEs" in page
        assert mappers(by_pfn) == mappers(by_place) == sorted(s.pids) and "agree: 3 PTEs" in by_pfn
        assert re.search(r": frame 0x\w+: none user", rest), rest           # PROT_NONE: mapped, and out of reach
        assert "no area is in use" in rest and len(re.findall(r"^\d+\.\d{9} \w+ tid=", rest, re.MULTILINE)) == 5
        assert "audit: 0 violations" in rest and "Usage: ch-rmap PFN | PID ADDRESS" in rest
        for words in ("ch-ps: no machine is connected", "ch-mm: no such pid: 4711", "ch-page: no such pfn", "ch-page: not a pfn: blue",
                      "ch-rmap: rmap takes PFN | PID ADDRESS"):
            assert words in err, (words, err)


@pytest.mark.slow
@pytest.mark.kept_map
def test_view_line_01(reverse_map, tmp_path):
    """vmview asks a running machine through gdb's protocol, which goes on afterwards; and a raw dump says the same"""
    with Sharing(reverse_map, tmp_path) as s:
        done = vmview(s.line, "rmap", s.pids[1], s.page)
        assert done.returncode == 0 and mappers(done.stdout) == sorted(s.pids), done.stdout + done.stderr
        for argv in ((s.line, "mm", 4711), ("--kernel", another_build(tmp_path), s.line, "ps")):
            assert s.machine.monitor.command("query-status")["running"]
            assert vmview(*argv).returncode == 2
        assert s.machine.monitor.command("query-status")["running"]
        s.machine.monitor.command("stop")
        s.machine.monitor.human(f'pmemsave 0 {s.machine.ram} "{tmp_path / "raw"}"')
        s.machine.dump = str(tmp_path / "core")
        s.machine.save_memory()
        said = [vmview(tmp_path / name, "summary").stdout for name in ("raw", "core")]
        assert said[0] == said[1] and "zone DMA" in said[0], said


@pytest.mark.slow
def test_view_line_02(tmp_path):
    """a machine that hasn't started its kernel is refused in words"""
    with_nothing = Sharing(MAP, tmp_path)
    with_nothing.machine.gdb, with_nothing.machine.extra = with_nothing.line, []
    with_nothing.machine.start()
    try:
        done = vmview("--rmap", MAP, with_nothing.line, "ps")
        assert done.returncode == 2 and ("running yet" in done.stderr or "another kernel" in done.stderr), done.stderr
    finally:
        with_nothing.machine.stop()


@pytest.mark.slow
def test_view_toolsgdb_01():
    """tools/gdb has the commands, at a breakpoint in the kernel too"""
    done = subprocess.run([os.path.join(ROOT, "tools", "gdb"), "--ram", "16M", "--", "-batch", "-ex", "break mm_fork", "-ex",
                           "continue", "-ex", "ch-ps", "-ex", "ch-page $nothing", "-ex", "help ch-page"],
                          capture_output=True, text=True, check=False, timeout=GDB_SECONDS, stdin=subprocess.DEVNULL)
    assert re.search(r"^32768 +\d+ +running .* proc", done.stdout, re.MULTILINE), done.stdout + done.stderr
    assert "Everything about one page" in done.stdout and "Python Exception" not in done.stderr, done.stderr


def test_view_setup_01():
    """without pyelftools vmview calls set-up for it, and says so when that fails"""
    code = ("import importlib.util, runpy, sys, subprocess; importlib.util.find_spec = lambda name: None;"
            "subprocess.run = lambda argv, **k: print(argv[1:]) or type('R', (), {'returncode': 1});"
            "sys.argv = ['vmview', 'x', 'ps']; runpy.run_path('tools/vmview', run_name='__main__')")
    done = subprocess.run(["/usr/bin/python3", "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 2 and "['view']" in done.stdout and "pyelftools" in done.stderr, done.stderr


def test_view_unknown_01():
    """a name that the kernel lacks is an error in words, not a guess"""
    v = swapped(MAP).view
    for question in (lambda: v.m.variable("nonesuch"), lambda: v.m.constant("NONESUCH"), lambda: v.m.debug.struct("nonesuch"),
                     lambda: v.frames.zones()[0].nonesuch, lambda: v.m.variable("frames")):
        with pytest.raises(VmError):
            question()

"""What runs on the host, tested on the host."""
import json
import os
import re
import struct
import subprocess
import sys
import time

import pytest

from harness import evidence, tap
from harness.guest import ROOT

sys.path.insert(0, os.path.join(ROOT, "tools"))
from runner import disk, report, symbols             # noqa: E402  (the path comes first)


def tool(*argv, **more):
    return subprocess.run([os.path.join(ROOT, argv[0]), *argv[1:]], capture_output=True, text=True,
                          check=False, cwd=ROOT, **more)


# ---- images ----

def test_tools_swapdisk_01(tmp_path):
    """mkswap and blkid agree that our swap header is theirs"""
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    disk.make_swap_disk(ours, 50 << 20, "x")
    area = ours.read_bytes()[disk.FIRST_SECTOR * 512:]
    assert len(area) == 50 << 20
    theirs.write_bytes(b"\0" * len(area))
    theirs.chmod(0o600)
    subprocess.run(["/sbin/mkswap", "-U", "00000000-0000-4000-8000-000000000000", theirs],
                   check=True, capture_output=True)
    made = bytearray(theirs.read_bytes()[:4096])
    mine = bytearray(area[:4096])
    made[1036:1052] = mine[1036:1052] = b"\0" * 16      # the UUIDs differ
    assert made == mine


def test_tools_swapdisk_02(tmp_path):
    """the partition table has one entry of type 0x82 at 1 MiB, and two runs give the same bytes"""
    a, b = tmp_path / "a", tmp_path / "b"
    disk.make_swap_disk(a, 3 << 20, "x")
    disk.make_swap_disk(b, 3 << 20, "x")
    assert a.read_bytes() == b.read_bytes()
    entry = a.read_bytes()[446:462]
    assert entry[4] == 0x82 and struct.unpack("<II", entry[8:]) == (2048, 6144)
    assert a.read_bytes()[462:510] == b"\0" * 48 and a.read_bytes()[510:512] == b"\x55\xaa"


@pytest.mark.parametrize("text, size", [("64M", 64 << 20), ("512K", 512 << 10), ("1G", 1 << 30), ("4096", 4096),
                                        ("8MiB", 8 << 20), ("3X", None), ("", None), ("-1M", None), ("1.5M", None)],
                         ids=[f"tools-size-{n:02}" for n in range(1, 10)])
def test_tools_size(text, size):
    """sizes are read, and what is none is refused"""
    if size is None:
        with pytest.raises(ValueError):
            disk.parse_size(text)
    else:
        assert disk.parse_size(text) == size


# ---- the report ----

REPORT = b"""Clockhand
@report begin
@exit 7
@cause exit
@time elapsed 1500000000
@config reclaim 2.6
@config seed 1
@counter pswpin 12
@disk hda mode 1
@trace 0.1 FAULT pid=1
@report end
"""


def test_tools_report_01():
    """a report is read, however it is cut into pieces"""
    for step in (1, 7, len(REPORT)):
        r = report.Report()
        for i in range(0, len(REPORT), step):
            r.feed(REPORT[i:i + step])
        assert r.complete and r.exit == 7 and r.cause == "exit" and r.time == {"elapsed": 1.5}
        assert r.config == {"reclaim": "2.6", "seed": 1} and r.counters == {"pswpin": 12}
        assert r.disks == {"hda": {"mode": 1}} and r.trace == ["0.1 FAULT pid=1"]


def test_tools_report_02():
    """registers are read from QEMU's monitor"""
    text = "EAX=00000001 EBX=c0100000\nESI=0 EBP=c0200ff0 ESP=c0200fe0\nEIP=c0101234 EFL=00000046\nCR0=80000011 CR2=0"
    registers = symbols.parse_registers(text)
    assert registers["EIP"] == 0xc0101234 and registers["EBP"] == 0xc0200ff0 and registers["CR0"] == 0x80000011


# ---- the harness ----

def test_tools_tap_01():
    """TAP: names, sentences, notes, and a broken plan is a failure"""
    text = "1..3\nok 1 mm-a-01 - fine\nnot ok 2 mm-a-02 - bad\n# a.c:3: x == y\nok 3 mm-a-03\n"
    cases = tap.parse(text, "x")
    assert [(c.name, c.ok) for c in cases] == [("mm-a-01", True), ("mm-a-02", False), ("mm-a-03", True)]
    assert cases[1].sentence == "bad" and "x == y" in cases[1].details
    assert not tap.parse("1..2\nok 1 mm-a-01\n", "x")[-1].ok
    assert "PANIC: frame.1" in tap.parse("# PANIC: frame.1\nBail out! panic\n", "x")[-1].details
    assert not tap.parse("ok 1 mm-a-01\n", "x")[-1].ok


def test_tools_evidence_01():
    """a failure is told in four lines, with invariant, last events, place and command"""
    class Past:
        err, out = "", ""
        log = "INV swap.3: a slot's count equals its PTEs plus the swap cache: count 1, PTEs 2"
        trace = ["0.184310 swap_out pfn=0x1a3 slot=17", "0.191007 fork parent=9 child=12"]
    lines = evidence.block("vm-swap-cow-07", "child reads back", "exit 1, wanted 0", "41", Past).split("\n")
    assert re.match(r"FAIL vm-swap-cow-07  child reads back +seed 41$", lines[0])
    assert lines[1].startswith("INV  swap.3: a slot's count") and lines[2].startswith("LAST 0.184310 swap_out")
    assert lines[3].startswith("LOOK ") and lines[3].endswith("AGAIN make test T=vm-swap-cow-07 SEED=41")


def test_tools_harness_01(tmp_path):
    """tests of any folder run, are counted in the last line, and a failure makes the status 1"""
    (tmp_path / "test_x.py").write_text('def test_x_y_01():\n    """fine"""\n\ndef test_x_y_02():\n    assert 1 == 2\n')
    (tmp_path / "host").mkdir()
    (tmp_path / "host" / "z.c").write_text('#include <stdio.h>\nint main(void)\n{\n\tputs("1..2\\nok 1 z-z-01\\nok 2 z-z-02");\n}\n')
    done = tool("tests/run", "--folder", str(tmp_path))
    assert done.stdout.rstrip().split("\n")[-1] == "3 passed, 1 failed" and done.returncode == 1
    assert "AGAIN make test T=x-y-02" in done.stdout
    done = tool("tests/run", "--folder", str(tmp_path), "--name", "z-z")
    assert done.stdout.rstrip().split("\n")[-1] == "2 passed, 0 failed" and done.returncode == 0
    with open(tmp_path / "host" / "z.c", encoding="utf-8") as f:
        text = f.read()
    (tmp_path / "host" / "z.c").write_text(text.replace("ok 2", "not ok 2"))
    done = tool("tests/run", "--folder", str(tmp_path), "--name", "z-z")
    assert done.stdout.rstrip().split("\n")[-1] == "1 passed, 1 failed" and done.returncode == 1


def test_tools_harness_03(tmp_path):
    """a unit that ends in a panic says which, and is found by the name that it is told under; a name that none has is told"""
    (tmp_path / "host").mkdir()
    (tmp_path / "host" / "vma.c").write_text('#include <stdio.h>\nint main(void)\n{\n\tputs("# PANIC: frame.1");\n\treturn 1;\n}\n')
    done = tool("tests/run", "--folder", str(tmp_path), "--name", "host-vma-00")
    assert re.search(r"^INV  frame\.1.*\nLOOK mm/frame_check\.c .* AGAIN make test T=host-vma-00 ", done.stdout, re.MULTILINE), done.stdout
    done = tool("tests/run", "--folder", str(tmp_path), "--name", "nonesuch")
    assert "no test's name has 'nonesuch'" in done.stdout and done.returncode == 1
    done = tool("tests/run", "--rmap", "nonesuch")
    assert "no reverse mapping nonesuch" in done.stderr and done.returncode == 1


def test_tools_evidence_02():
    """of a panic the last events are in the log, and the place is the assertion's"""
    class Past:
        err, out, trace = "", "", []
        log = "PANIC: x\nINV rmap.1: fits: 0x1c  [mm/rmap/anonmm/anonmm.c:215 rmap_page_dup]\nTRACE\n  0.185271691 ALLOC tid=5 pfn=0x1f\n"
    lines = evidence.block("mem-mremap-05", "moves", "no plan", "1", Past, "anonmm").split("\n")
    assert lines[2] == "LAST 0.185271691 ALLOC tid=5 pfn=0x1f"
    assert lines[3] == "LOOK mm/rmap/anonmm/anonmm.c rmap_page_dup()      AGAIN make test T=mem-mremap-05 RMAP=anonmm SEED=1"


GUEST_TEST = """/* run: --ram 8M */
#include "user/tests/tap.h"

int main(void)
{
	tap_case(1, "x-guest-01", "fine");
	tap_equal(1, 2, "x-guest-02", "not fine");
	return tap_done();
}
"""


def test_tools_harness_02(tmp_path):
    """a program for the guest from any folder is compiled and run there, by make test TESTS="""
    (tmp_path / "guest").mkdir()
    (tmp_path / "guest" / "t_x.c").write_text(GUEST_TEST)
    environment = {name: value for name, value in os.environ.items() if name != "RMAP"}
    done = subprocess.run(["make", "--no-print-directory", "test", f"TESTS={tmp_path}", "SEED=5"], cwd=ROOT, capture_output=True,
                          text=True, check=False, env=environment)
    assert done.stdout.rstrip().split("\n")[-1] == "1 passed, 1 failed" and done.returncode != 0, done.stdout + done.stderr
    assert "FAIL x-guest-02  not fine" in done.stdout and "AGAIN make test T=x-guest-02 SEED=5" in done.stdout


MAP_TEST = """import os
import pytest

@pytest.mark.each_map
def test_x_map_01(reverse_map):
    assert os.environ["RMAP"] == reverse_map and reverse_map != "anonmm"

def test_x_map_02():
    pass

@pytest.mark.kept_map
def test_x_map_03(reverse_map):
    assert os.environ["RMAP"] == reverse_map
"""


# Of three builds two keep a map; a test that runs with those runs with the third if it is asked for by name.
@pytest.mark.parametrize("only, total", [("", "5 passed, 1 failed"), ("anonmm", "2 passed, 1 failed"), ("anon_vma", "3 passed, 0 failed"),
                                         ("scan", "3 passed, 0 failed")], ids=[f"tools-maps-{n:02}" for n in range(1, 5)])
def test_tools_maps(tmp_path, only, total):
    """what concerns memory runs with each reverse mapping, or the one named; a failure is repeated with the same"""
    (tmp_path / "test_x.py").write_text(MAP_TEST)
    done = tool("tests/run", "--folder", str(tmp_path), "--rmap", only)
    assert done.stdout.rstrip().split("\n")[-1] == total, done.stdout
    assert ("AGAIN make test T=x-map-01 RMAP=anonmm SEED=" in done.stdout) == (only in ("", "anonmm")), done.stdout
    assert re.search(rf"^ok .* x-map-02 +{only} *$", done.stdout, re.MULTILINE), done.stdout


# ---- make help, make doctor ----

def test_tools_help_01():
    """make help names every command that the README speaks of, and each is a target"""
    said = subprocess.run(["make", "--no-print-directory", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as f:
        spoken = set(re.findall(r"[`\n ]make ([a-z-]+)", f.read())) - {"sure", "help"}
    offered = set(re.findall(r"^make ([a-z-]+)", said, re.MULTILINE))
    assert {"run", "test", "image", "gdb", "doctor", "check"} <= offered and spoken <= offered, f"{spoken} {offered}"
    for word in offered:
        assert subprocess.run(["make", "-n", word], cwd=ROOT, capture_output=True, check=False).returncode == 0, word


def test_tools_doctor_01(tmp_path):
    """make doctor has a line for everything and status 0 here; it names what lacks and then fails"""
    done = subprocess.run(["make", "--no-print-directory", "doctor"], cwd=ROOT, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and len(lines) >= 9 and all(line.startswith("ok ") for line in lines), done.stdout
    fake(tmp_path, "dpkg-query", "echo 'dpkg-query: no packages found matching nasm' >&2; exit 1\n")
    done = tool("tools/doctor", env=dict(os.environ, PATH=f"{tmp_path}:{os.environ['PATH']}"))
    assert done.returncode == 1 and re.search(r"^LACK .*packages: run +nasm$", done.stdout, re.MULTILINE), done.stdout


# ---- the runner's words ----

@pytest.mark.parametrize("argv", [["--ram", "3X", "--", "ls"], ["--swap", "x", "--", "ls"], ["--param", "x", "--", "ls"],
                                  ["--put", "/nowhere", "--", "ls"], [], ["--bogus", "--", "ls"],
                                  ["--swap", "1M"] * 5 + ["--", "ls"], ["--ram", "100K", "--", "ls"], ["--seed", "-1", "--", "ls"],
                                  ["--timeout", "-1", "--", "ls"], ["--swap", "0M", "--", "ls"], ["--swap", "8M:40000", "--", "ls"],
                                  ["--swap", "8M:x", "--", "ls"], ["--inject", "3:/etc/passwd", "--", "ls"],
                                  ["--json", "/nowhere/x", "--", "ls"], ["--log", "/nowhere/x", "--", "ls"],
                                  ["--disk", "/nowhere", "--", "ls"]],
                         ids=[f"run-usage-{n:02}" for n in range(1, 18)])
def test_run_usage(argv):
    """a wrong option exits 125 and says what is wrong with it"""
    done = tool("tools/run", *argv)
    assert done.returncode == 125 and "tools/run: " in done.stderr and not done.stdout


def test_run_nobuild_01():
    """a build that is not there exits 124 and says how to make it"""
    done = tool("tools/run", "--rmap", "nosuch", "--", "ls")
    assert done.returncode == 124 and "RMAP=nosuch make" in done.stderr


# ---- set-up ----

def fake(folder, name, script):
    path = folder / name
    path.write_text("#!/bin/sh\n" + script)
    path.chmod(0o755)


def setup_with(tmp_path, dpkg, apt, uid="0"):
    fake(tmp_path, "dpkg-query", dpkg)
    fake(tmp_path, "apt-get", f'echo "$@" >>{tmp_path}/calls\n' + apt)
    fake(tmp_path, "id", f"echo {uid}")
    done = tool("tools/setup", "run", env=dict(os.environ, PATH=f"{tmp_path}:{os.environ['PATH']}"))
    calls = tmp_path / "calls"
    return done, calls.read_text() if calls.exists() else ""


NOTHING = "exit 0\n"


def test_setup_noop_01():
    """when all is there, set-up does nothing and is quick about it"""
    begin = time.monotonic()
    done = tool("tools/setup", "run", "test")
    assert done.returncode == 0 and not done.stdout and not done.stderr
    assert time.monotonic() - begin < 1


def test_setup_remove_01(tmp_path):
    """what would remove a package is refused by its name, and nothing is installed"""
    apt = 'case "$*" in "-s "*) echo "Inst gcc"; echo "Remv precious [1.0]";; esac\n'
    done, calls = setup_with(tmp_path, NOTHING, apt)
    assert done.returncode != 0 and "precious" in done.stderr and " -y " not in calls


def test_setup_noroot_01(tmp_path):
    """without root it prints the one command and fails"""
    done, calls = setup_with(tmp_path, NOTHING, NOTHING, uid="1000")
    assert done.returncode != 0 and not calls
    assert re.search(r"apt-get install --no-install-recommends --no-remove gcc .*qemu-system-x86", done.stderr)


def test_setup_says_01(tmp_path):
    """it says packages, megabytes and minutes before it installs"""
    apt = 'case "$*" in "-s "*) echo "Inst gcc (1)"; echo "Inst nasm (1)";; *--print-uris*) ' \
          'echo "\'http://x\' gcc.deb 12000000 SHA"; echo "\'http://y\' nasm.deb 3000000 SHA";; esac\n'
    done, calls = setup_with(tmp_path, NOTHING, apt)
    assert done.returncode == 0 and "2 packages" in done.stdout and "15 MB" in done.stdout and "minutes" in done.stdout
    assert re.search(r"install --no-install-recommends --no-remove -y", calls)


def test_setup_list_01():
    """make run needs at most ten packages, each named once"""
    with open(os.path.join(ROOT, "tools", "packages"), encoding="utf-8") as f:
        section = f.read().split("[run]")[1].split("[")[0]
    names = [line.split()[0] for line in section.splitlines() if line.strip()]
    assert 0 < len(names) <= 10 and len(set(names)) == len(names)


# ---- the tree ----

def test_tools_check_01():
    """the source tree keeps its rules"""
    done = tool("tools/check")
    assert done.returncode == 0, done.stdout[-1500:]


def test_tools_quickstart_01():
    """the README's quick start has the two commands and no other"""
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as f:
        start = re.search(r"## Quick start\n(.*?)\n## ", f.read(), re.DOTALL).group(1)
    commands = [line.strip() for block in re.findall(r"```\n(.*?)```", start, re.DOTALL) for line in block.splitlines()]
    assert [re.split(r"\s{2,}#|\s#", c)[0].strip() for c in commands] == ["make run", "make test"]


def test_tools_compiledb_01():
    """compile_commands.json names every C file of the kernel with its real flags"""
    done = subprocess.run(["make", "-s", "compile-commands"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with open(os.path.join(ROOT, "compile_commands.json"), encoding="utf-8") as f:
        entries = {e["file"]: e["arguments"] for e in json.load(f)}
    assert "kernel/main.c" in entries and "-march=i486" in entries["kernel/main.c"]
    assert all(f"-Imm/rmap/{name}" in entries[f"mm/rmap/{name}/{name}.c"] for name in ("anon_vma", "anonmm", "scan"))
    assert any(name.startswith("user/") for name in entries)

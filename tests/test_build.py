"""What the build makes, and how fast it makes it again."""
import os
import re
import shutil
import subprocess
import sys
import time

import pytest

from harness.guest import ROOT

sys.path.insert(0, os.path.join(ROOT, "tools"))
from runner import build                                # noqa: E402  (the path comes first)

TOO_NEW = re.compile(r"\s(?:cmov\w+|endbr\w+|sysenter|[a-z]+ .*%xmm\d.*|[a-z]+ .*%mm\d.*)")


def rmap():
    """The build that this test is about."""
    return os.environ["RMAP"]


def disassembly(path):
    return subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], capture_output=True, text=True, check=True).stdout


def user_programs():
    folder = os.path.join(ROOT, "build", "user")
    return [os.path.join(d, f) for d in (folder + "/bin", folder + "/tests") if os.path.isdir(d)
            for f in sorted(os.listdir(d)) if not f.endswith(".debug")]


def test_build_486_01():
    """no program holds an instruction that a 486 lacks"""
    programs = user_programs()
    assert len(programs) >= 5
    for program in programs:
        found = [line for line in disassembly(program).splitlines() if TOO_NEW.search(line)]
        assert not found, f"{program}: {found[0]}"


@pytest.mark.each_map
def test_build_486_02():
    """nor does the kernel, but for saving the FPU's larger state"""
    found = [line for line in disassembly(build.kernel_symbols(rmap())).splitlines()
             if TOO_NEW.search(line) and "fxsave" not in line and "fxrstor" not in line]
    assert not found, found[:3]


@pytest.mark.each_map
def test_build_size_01():
    """the kernel's image is at most 256 KiB, the system's archive 512 KiB"""
    assert os.path.getsize(build.kernel(rmap())) <= 256 << 10
    assert os.path.getsize(build.archive(rmap())) <= 512 << 10


@pytest.mark.each_map
def test_build_multiboot_01():
    """GRUB's own tool takes the kernel for one"""
    assert subprocess.run(["grub-file", "--is-x86-multiboot", build.kernel(rmap())], check=False).returncode == 0


@pytest.mark.each_map
def test_build_stacks_01():
    """no function of the kernel takes more than a sixth of its stack of 8 KiB"""
    deep = [(int(n, 16), line) for line in disassembly(build.kernel_symbols(rmap())).splitlines()
            for n in re.findall(r"sub\s+\$0x([0-9a-f]+),%esp", line)]
    assert all(n <= 8192 // 6 for n, _ in deep if n < 0x80000000), max(deep)


def test_build_again_01():
    """with nothing changed, make is done in a second and compiles nothing"""
    begin = time.monotonic()
    done = subprocess.run(["make", "--no-print-directory", "kernel", "system"], cwd=ROOT, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0 and " CC " not in done.stdout and time.monotonic() - begin < 2, done.stdout + done.stderr


# ---- make in a copy of the tree, so that nobody else's build is disturbed ----

@pytest.fixture
def copy(tmp_path):
    """A copy of the tree and of what is built in it."""
    tree = tmp_path / "tree"
    shutil.copytree(ROOT, tree, symlinks=True, ignore=shutil.ignore_patterns(".git", "host", "*.img"))
    return tree


def make(tree, *words, **more):
    return subprocess.run(["make", "--no-print-directory", *words], cwd=tree, capture_output=True, text=True, check=False, **more)


def test_build_werror_01(copy):
    """a warning ends the build, in the kernel and in programs; with WERROR=0 it does not"""
    for source, target in (("kernel/string.c", f"build/{rmap()}/kernel/string.o"), ("user/bin/files.c", "build/user/user/bin/files.o")):
        with open(copy / source, "a", encoding="utf-8") as f:
            f.write("\nstatic int nobody_uses_this;\n")
        strict, relaxed = make(copy, target), make(copy, target, "WERROR=0")
        assert strict.returncode != 0 and "nobody_uses_this" in strict.stderr, strict.stdout + strict.stderr
        assert relaxed.returncode == 0 and "nobody_uses_this" in relaxed.stderr, relaxed.stderr


QEMU = """#!/bin/sh
date +%s.%N >"$QEMU_STARTED"
exit 1
"""


def seconds_to_qemu(tree, tmp_path, before=()):
    """How long `make run` takes until it starts QEMU, and what it said."""
    folder = tmp_path / "bin"
    folder.mkdir(exist_ok=True)
    (folder / "qemu-system-i386").write_text(QEMU)
    (folder / "qemu-system-i386").chmod(0o755)
    stamp = tmp_path / "started"
    environment = dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}", QEMU_STARTED=str(stamp))
    begin = time.time()
    done = subprocess.run([*before, "make", "--no-print-directory", "run"], cwd=tree, capture_output=True, text=True, check=False,
                          env=environment, stdin=subprocess.DEVNULL)
    assert stamp.exists(), done.stdout + done.stderr
    return float(stamp.read_text()) - begin, done.stdout


def test_build_run_01(copy, tmp_path):
    """a second make run starts QEMU within 2 s, after one changed line within 5 s, and compiles that file only"""
    seconds_to_qemu(copy, tmp_path)
    again = min(seconds_to_qemu(copy, tmp_path)[0] for _ in range(3))
    with open(copy / "mm" / "commit.c", "a", encoding="utf-8") as f:
        f.write("\n")
    changed, said = seconds_to_qemu(copy, tmp_path)
    assert again < 2, f"{again:.1f} s"
    assert re.findall(r"(?:U?CC|NASM|ULINK) +(\S+)", said) == ["mm/commit.c"], said
    assert changed < 5, f"{changed:.1f} s"


def test_build_offline_01(copy, tmp_path):
    """make run needs no network once the packages are there"""
    if subprocess.run(["unshare", "-n", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("only root can take the network away")
    with open(copy / "mm" / "commit.c", "a", encoding="utf-8") as f:
        f.write("\n")
    seconds_to_qemu(copy, tmp_path, before=["unshare", "-n"])


def test_build_rmap_01():
    """a reverse mapping that isn't there is named, with those that are"""
    done = make(ROOT, "RMAP=nosuch", "kernel")
    assert done.returncode != 0 and re.search(r"RMAP=nosuch: .*anon_vma", done.stderr), done.stderr
    assert not os.path.exists(os.path.join(ROOT, "build", "nosuch"))


def test_build_headers_02(copy):
    """a changed header compiles again who includes it, and nobody else"""
    os.utime(copy / "drivers" / "pit.h")
    said = make(copy, "kernel").stdout
    built = re.findall(r"CC +(\S+)", said)
    assert built, said
    for source in built:
        with open(copy / "build" / rmap() / (source[:-2] + ".d"), encoding="utf-8") as f:
            assert "drivers/pit.h" in f.read(), source


def test_build_headers_01():
    """an object depends on the headers it includes, and they on nothing that is gone"""
    with open(os.path.join(ROOT, "build", rmap(), "kernel", "main.d"), encoding="utf-8") as f:
        text = f.read()
    assert "kernel/lock.h" in text or "kernel/types.h" in text


@pytest.mark.parametrize("source, header", [("user/servers/table", "user/servers/table.h"), ("user/libc/memory", "kernel/abi/mman.h"),
                                            ("user/bin/memory", "user/include/clockhand.h")],
                         ids=["build-headers-03", "build-headers-04", "build-headers-05"])
def test_build_headers_user(source, header):
    """a program's object depends on our headers, in every folder they come from"""
    with open(os.path.join(ROOT, "build/user", source + ".d"), encoding="utf-8") as f:
        assert header in f.read(), f"{source} would not be compiled again when {header} changes"


@pytest.mark.parametrize("program", ["#include <stdio.h>\nint main(void){printf(\"%d\\n\", 42);return 0;}\n",
                                     "#include <stdlib.h>\n#include <string.h>\nint main(void){char *p=malloc(100000);"
                                     "memset(p,1,100000);return p[99999]-1;}\n"], ids=["build-cc-01", "build-cc-02"])
def test_build_cc(tmp_path, program):
    """i386-clockhand-gcc makes a program that runs in the guest"""
    from harness.guest import run
    source, out = tmp_path / "p.c", tmp_path / "p"
    source.write_text(program)
    done = subprocess.run([os.path.join(ROOT, "build/bin/i386-clockhand-gcc"), "-O2", "-o", out, source],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    ran = run("/tmp/p", "--put", str(out))
    ran.expect(ran.exit == 0, f"exit {ran.exit}: {ran.err[-300:]}")

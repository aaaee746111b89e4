"""The reverse mappings, and the build without one: what differs between them, and that nothing else does."""
import glob
import os
import re

import pytest

from harness.guest import ROOT, run, shell

WORKS, FAILS = "1 vma, mremap of the whole works", "2 vmas, mremap of the whole fails: Bad address"
SEAMS = ("split and joined", "split, touched and joined", "moved side by side")
MOVE = {"anon_vma": ("0", (WORKS, FAILS, FAILS)), "anonmm": ("{shared}", (WORKS, WORKS, WORKS)),
        "scan": ("0", (WORKS, WORKS, WORKS))}
SMALL = ("--ram", "16M", "--swap", "16M")
CODE_LINES = 300


@pytest.mark.each_map
@pytest.mark.parametrize("pages, shared", [(49, 29), (1, 0), (1500, 900)], ids=[f"rmap-cowmremap-{n:02}" for n in range(1, 4)])
def test_rmap_cowmremap(reverse_map, pages, shared):
    """only anonmm copies, just the shared pages that are moved; only anon_vma leaves seams that no mremap crosses"""
    done = run(f"cowmremap {pages}", "--ram", "32M")
    done.expect(done.exit == 0, f"exit {done.exit}: {done.err[-300:]}")
    copied, ends = MOVE[reverse_map]
    told = [f"pages moved: {pages}", f"of them shared: {shared}", "copied for it: " + copied.format(shared=shared)]
    done.expect(done.out.splitlines() == told + [f"{how}: {end}" for how, end in zip(SEAMS, ends)], done.out)
    said = re.findall(r"cowmremap \(\d+\): mremap moved (\d+) cows", done.log)
    done.expect(said == ([str(shared)] if reverse_map == "anonmm" and shared else []), f"the log tells of {said}")


@pytest.mark.each_map
def test_rmap_cowmremap_04():
    """and what it leaves is sound: the audit finds nothing"""
    shell("cowmremap", *SMALL)


@pytest.mark.kept_map
def test_rmap_bytes_01(reverse_map):
    """anonmm takes 32 bytes for a process more, whatever it maps; anon_vma takes some for each of its vmas"""
    sums = {}
    for processes in (10, 40):
        done = run(f"sharing {processes} 1", "--lab", "--ram", "32M", "--swap", "32M")
        sums[processes] = int(re.search(r"^rmap_bytes (\d+)", done.out, re.MULTILINE).group(1))
    each = (sums[40] - sums[10]) / 30
    fits = {"anonmm": each == 32, "anon_vma": each > 32 and each % 12 == 0, "scan": each == 0}
    done.expect(fits[reverse_map], f"{each} bytes a process")


@pytest.mark.kept_map
def test_rmap_probes_01(reverse_map):
    """a page that the youngest of a family has alone: anonmm looks there first, anon_vma at all its elders before"""
    done = run("sharing 30 1", "--lab", "--ram", "32M", "--swap", "32M")
    probes = int(re.search(r"^private_probes (\d+)", done.out, re.MULTILINE).group(1))
    fits = {"anonmm": probes == 2, "anon_vma": probes == 60, "scan": probes <= 2 * 40}      # used? unmap!
    done.expect(fits[reverse_map], f"{probes} for two questions")


@pytest.mark.parametrize("name", ["anon_vma", "anonmm", "scan"], ids=["rmap-size-01", "rmap-size-02", "rmap-scan-10"])
def test_rmap_size(name):
    """a reverse mapping takes at most 300 lines of code, without what breaks it for the audit's tests; none is chosen by #if"""
    lines = 0
    for path in glob.glob(os.path.join(ROOT, "mm", "rmap", name, "*.[ch]")):
        with open(path, encoding="utf-8") as f:
            text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.DOTALL)
        assert not re.search(r"^\s*#\s*if(?!ndef \w+_H$)", text, re.MULTILINE), path
        if os.path.basename(path) != "break.c":
            lines += sum(bool(line.strip()) for line in text.splitlines())
    assert 100 < lines <= CODE_LINES, f"{lines} lines"
    for path in glob.glob(os.path.join(ROOT, "mm", "**", "*.[ch]"), recursive=True):
        with open(path, encoding="utf-8") as f:
            assert not re.search(rf"#\s*(el)?if.*\b{name}\b", f.read(), re.IGNORECASE), path

"""The checks are told on: break each invariant on purpose, and the audit or an assertion must name that one."""
import glob
import os
import re

import pytest

from harness import maps
from harness.guest import ROOT, run
from test_docs import read, rows

SEEN = 4                        # status of `fault break N`: the audit found something
ROW = re.compile(r'^\t\{ "([a-z]+\.\d+)",\s+"', re.MULTILINE)
# What needs pages in swap, or families of processes, and so somebody who makes them meanwhile.
SWAPPING = ("swap.", "frame.")
FAMILIES = ("rmap.",)
DRIVES = ("drive.",)            # ... and what needs a modelled drive


def breakages(reverse_map):
    """The invariants in the order in which that kernel numbers its breakages (mm/audit_break.c)."""
    files = glob.glob(os.path.join(ROOT, "*/break*.c")) + [os.path.join(ROOT, "mm/swap/break.c"),
                                                           os.path.join(ROOT, f"mm/rmap/{reverse_map}/break.c")]
    arrays = {}
    for path in files:
        name, rest = re.search(r"^const struct breakage (\w+)\[\] = \{\n(.*?)^\};", read(path), re.MULTILINE | re.DOTALL).groups()
        arrays[name] = ROW.findall(rest)
    areas = re.search(r"areas\[\] = \{(.*?)\}", read("mm/audit_break.c"), re.DOTALL).group(1)
    return [number for name in re.findall(r"\w+", areas) for number in arrays[name]]


def named(number):
    """frame.2 -> break-frame-02"""
    area, _, n = number.partition(".")
    return f"break-{area}-{int(n):02}"


def pytest_generate_tests(metafunc):
    """Every number once, and what the reverse map has a say in with each."""
    if "number" not in metafunc.fixturenames:
        return
    found = []
    for reverse_map in maps.wanted(metafunc.config):
        numbers = list(dict.fromkeys(breakages(reverse_map)))
        again = [n for n in numbers if n.startswith("rmap.") or n == "vma.5"]
        found += [(reverse_map, n) for n in (again if found else numbers)]
    metafunc.parametrize(("reverse_map", "number"), found, indirect=["reverse_map"], ids=[f"{named(n)}-{m}" for m, n in found])


def command(number, n):
    if number.startswith(SWAPPING):
        return f"hogmem 10 1 & sleep 1; fault break {n}; s=$?; wait; exit $s"
    if number.startswith(FAMILIES):
        return f"qsbench -n 1500000 -p 3 & sleep 0.3; fault break {n}; exit $?"
    return f"fault break {n}; exit $?"


def test_break(reverse_map, number):
    """the broken invariant is named, by the audit or by a panic"""
    options = ["--param", "disk=model:ata2001"] if number.startswith(DRIVES) else []
    if number.startswith(FAMILIES):
        options = ["--lab"]         # so that the family is there after 0.3 s, however busy the host is
    for n in [n for n, broken in enumerate(breakages(reverse_map)) if broken == number]:
        done = run(command(number, n), "--ram", "8M", "--swap", "16M", "--timeout", "60", "--param", "test.faults=1",
                   "--param", "watchdog.ms=30000", *options)
        done.expect(done.exit == SEEN or done.cause == "panic", f"exit {done.exit}: {done.out} {done.log[-600:]}")
        done.expect(f"INV {number}:" in done.log, f"{number} is not named: {done.log[-600:]}")


@pytest.mark.each_map
def test_audit_break_10(reverse_map):
    """there is nothing else to break, and an audit of a sound machine is silent"""
    done = run(f"fault break {len(breakages(reverse_map))}; audit", "--param", "test.faults=1")
    done.expect(done.exit == 0 and "fault" in done.out + done.err + done.log and "INV " not in done.log, f"exit {done.exit}: {done.log[-400:]}")


def names_of_tests():
    """Of host units, and of tests in Python: test_lab_sample_01 is lab-sample-01."""
    in_c = {name for path in glob.glob(os.path.join(ROOT, "tests/host/*.c")) for name in re.findall(r'"([a-z_]+-[a-z_]+-\d+)"', read(path))}
    in_python = {name for path in glob.glob(os.path.join(ROOT, "tests/test_*.py")) for name in re.findall(r"^def test_(\w+)\(", read(path), re.MULTILINE)}
    return in_c | {name.replace("_", "-") for name in in_python}


def test_audit_break_11():
    """every invariant can be broken here, or by a test that its row names, or holds by construction"""
    known = names_of_tests()
    broken = {number for reverse_map in maps.known() for number in breakages(reverse_map)}
    for number, (_, where) in rows().items():
        tests = set(re.findall(r"\b[a-z_]+-[a-z_]+-\d\d\b", where))
        assert tests <= known, f"{number}: there is no test {sorted(tests - known)}"
        assert number in broken or tests or "by construction" in where, f"nobody breaks {number}"
    assert broken <= set(rows()), f"broken, but without a sentence: {sorted(broken - set(rows()))}"

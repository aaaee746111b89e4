"""The checks are told on: break each invariant on purpose, and the audit or an assertion must name that one."""
import glob
import os
import re

import pytest

from harness.guest import ROOT, run
from harness.host import rmap
from test_docs import read, rows

SEEN = 4                        # status of `fault break N`: the audit found something
ROW = re.compile(r'^\t\{ "([a-z]+\.\d+)",\s+"', re.MULTILINE)
# What needs pages in swap, and so a program that swaps meanwhile.
SWAPPING = ("swap.", "rmap.", "frame.")


def breakages():
    """The invariants in the order in which the kernel numbers its breakages (mm/audit_break.c)."""
    files = glob.glob(os.path.join(ROOT, "*/break*.c")) + [os.path.join(ROOT, "mm/swap/break.c"),
                                                           os.path.join(ROOT, f"mm/rmap/{rmap()}/break.c")]
    arrays = {}
    for path in files:
        name, rest = re.search(r"^const struct breakage (\w+)\[\] = \{\n(.*?)^\};", read(path), re.MULTILINE | re.DOTALL).groups()
        arrays[name] = ROW.findall(rest)
    areas = re.search(r"areas\[\] = \{(.*?)\}", read("mm/audit_break.c"), re.DOTALL).group(1)
    return [number for name in re.findall(r"\w+", areas) for number in arrays[name]]


BROKEN = breakages()
NUMBERS = sorted(set(BROKEN), key=BROKEN.index)


def test_id(number):
    """frame.2 -> break-frame-02"""
    area, _, n = number.partition(".")
    return f"break-{area}-{int(n):02}"


def command(n):
    if BROKEN[n].startswith(SWAPPING):
        return f"hogmem 10 1 & sleep 1; fault break {n}; s=$?; wait; exit $s"
    return f"fault break {n}; exit $?"


@pytest.mark.parametrize("number", NUMBERS, ids=[test_id(n) for n in NUMBERS])
def test_break(number):
    """the broken invariant is named, by the audit or by a panic"""
    for n in [n for n, broken in enumerate(BROKEN) if broken == number]:
        done = run(command(n), "--ram", "8M", "--swap", "16M", "--timeout", "30", "--param", "test.faults=1",
                   "--param", "watchdog.ms=15000")
        done.expect(done.exit == SEEN or done.cause == "panic", f"exit {done.exit}: {done.out} {done.log[-600:]}")
        done.expect(f"INV {number}:" in done.log, f"{number} is not named: {done.log[-600:]}")


test_id.__test__ = False


def test_audit_break_10():
    """there is nothing else to break, and an audit of a sound machine is silent"""
    done = run(f"fault break {len(BROKEN)}; audit", "--param", "test.faults=1")
    done.expect(done.exit == 0 and "fault" in done.out + done.err + done.log and "INV " not in done.log, f"exit {done.exit}: {done.log[-400:]}")


def names_of_host_tests():
    return {name for path in glob.glob(os.path.join(ROOT, "tests/host/*.c")) for name in re.findall(r'"([a-z_]+-[a-z_]+-\d+)"', read(path))}


def test_audit_break_11():
    """every invariant can be broken here, or by a host test that its row names, or holds by construction"""
    known = names_of_host_tests()
    for number, (_, where) in rows().items():
        named = set(re.findall(r"\b[a-z_]+-[a-z_]+-\d\d\b", where))
        assert named <= known, f"{number}: there is no test {sorted(named - known)}"
        assert number in BROKEN or named or "by construction" in where, f"nobody breaks {number}"
    assert set(BROKEN) <= set(rows()), f"broken, but without a sentence: {sorted(set(BROKEN) - set(rows()))}"

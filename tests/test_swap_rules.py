"""What kernels of different times did with slots and neighbours (mm/swap/rules.h), each rule on a real machine."""
import re

import pytest

from harness.guest import run, shell

MACHINE = ("--lab", "--tests", "--ram", "16M", "--swap", "4M", "--param", "swap.steal=0", "--param", "swap.readahead=1")
SLOTS = 1023

# Of 400 of 1023 slots: after reading 200 back, writing to the other 200, and then to those that were read.
FEW = {"keep": (400, 400, 400), "write": (400, 200, 0), "80": (400, 200, 0), "50": (400, 400, 400), "always": (200, 0, 0)}
# Of 900: `80` frees on reads while more than 818 are cached, `50` while more than 511 are in use, and not by later writes.
MANY = {"80": (818, 368, 0), "50": (511, 511, 511), "keep": (900, 900, 900)}


def slots_of(rule, pages):
    """The slots that swaprule had when its pages were out, and after each of its steps."""
    done = shell(f"swaprule {pages}", *MACHINE, "--param", f"swap.free={rule}")
    return done, [int(n) for n in re.findall(r"^(?:out|read|written|later) (\d+)$", done.out, re.MULTILINE)]


@pytest.mark.parametrize("rule", list(FEW), ids=[f"swap-rule-{n:02}" for n in range(1, 6)])
def test_swap_rule_few(rule):
    """while slots are plenty: who reads, writes, or writes to what it has read, frees slots as the rule says"""
    done, got = slots_of(rule, 400)
    done.expect(got == [400, *FEW[rule]], f"{got}, wanted 400 and {FEW[rule]}")


@pytest.mark.parametrize("rule", list(MANY), ids=[f"swap-rule-{n:02}" for n in range(6, 9)])
def test_swap_rule_many(rule):
    """when most slots are in use, reads free them down to the rule's limit"""
    done, got = slots_of(rule, 900)
    done.expect(got == [900, *MANY[rule]], f"{got}, wanted 900 and {MANY[rule]}")


@pytest.mark.parametrize("pages, later", [(400, (400, 400, 400)), (900, (818, 818, 818))], ids=["swap-rule-14", "swap-rule-15"])
def test_swap_rule_full(pages, later):
    """`full`: reads and writes keep their slots until four fifths of all are in use, and from then on free them, but not by a later write"""
    done, got = slots_of("full", pages)
    done.expect(got == [pages, *later], f"{got}, wanted {pages} and {later}")


@pytest.mark.parametrize("parameter", ["swap.free", "swap.search", "swap.window"], ids=[f"swap-rule-{n:02}" for n in range(9, 12)])
def test_swap_rule_unknown(parameter):
    """a rule that there isn't is refused by name"""
    done = run("true", "--lab", "--param", f"{parameter}=never")
    done.expect(done.exit == 120 and f"{parameter}=never: there is no such rule" in done.log, f"exit {done.exit}: {done.log[-300:]}")


# Slots 8 to 15 are the block of slot 13: `aligned` reads all but slot 10, `hole` stops there.
@pytest.mark.parametrize("window, pages", [("aligned", 7), ("hole", 3)], ids=["swap-rule-12", "swap-rule-13"])
def test_swap_rule_window(window, pages):
    """a free slot is left out of the pages that are read with one, or ends them"""
    done = shell("swaprule around", "--lab", "--tests", "--ram", "16M", "--swap", "64M", "--param", "swap.readahead=8", "--param",
                 f"swap.window={window}")
    done.expect(done.out.splitlines()[0] == f"read {pages}", done.out)

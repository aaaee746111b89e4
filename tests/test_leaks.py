"""The leak detector: silent about programs that are clean, loud about what was lost on purpose."""
import re

import pytest

from harness.guest import run

OPTIONS = ("--ram", "12M", "--swap", "32M", "--param", "overcommit=1", "--param", "test.faults=1")
VERDICT = re.compile(r"^leaks: (\d+) frames gained; nobody's: (\d+) frames, (\d+) slab objects, (\d+) slots$", re.MULTILINE)

# Swapping, killed for want of memory, many processes, an exception, shared memory, exec that fails.
CLEAN = ["qsbench -n 3000000", "hogmem 60 1", "qsbench -n 100000 -p 8", "t_signals", "t_object_swap", "t_exec", "no_such_command"]

# What is lost, and the line that names it.
LOST = {"page": r"held \+1: nobody\n  frame 0x[0-9a-f]+, order 0", "slab": r"slab objects \+1: kmalloc-64", "slot": r"slots \+1: nobody",
        "stack": r"kernel stack \+[12]: nobody\n  frame 0x", "object": r"object \+1: nobody\n  frame 0x[0-9a-f]+, page 0",
        "table": r"page table \+1: nobody\n  frame 0x"}


def verdicts(done):
    """[(frames gained, nobody's frames, slab objects, slots)] of each `leaks`."""
    return [tuple(map(int, row)) for row in VERDICT.findall(done.out)]


@pytest.mark.kept_map
@pytest.mark.parametrize("command", CLEAN, ids=[f"leaks-clean-{n + 1:02}" for n in range(len(CLEAN))])
def test_leaks_clean(command):
    """nothing is lost, and a second run leaves nothing behind but pages of proc's table: a row for each new pid, up to 1,024"""
    done = run(f"leaks {command}; leaks {command}; echo both", "--tests", "--timeout", "200", *OPTIONS)
    found = verdicts(done)
    done.expect(len(found) == 2 and "both" in done.out, f"{found} {done.out[-600:]}")
    done.expect(found[0][1:] == (0, 0, 0), f"the first run: {found} {done.out[-900:]}")
    second = done.out[VERDICT.search(done.out).end():]
    table = sum(map(int, re.findall(r"^anonymous \+(\d+): proc ", second, re.MULTILINE)))
    done.expect(found[1] == (table, 0, 0, 0) and table <= 2, f"the second run: {found} {done.out[-900:]}")


@pytest.mark.parametrize("what", LOST, ids=[f"leaks-lost-{n + 1:02}" for n in range(len(LOST))])
def test_leaks_lost(what):
    """what was lost on purpose is found and named, and the status says so"""
    done = run(f"leaks true; leaks fault lose {what}; echo status $?", *OPTIONS)
    found = verdicts(done)
    done.expect(len(found) == 2 and sum(found[0][1:]) == 0 and sum(found[1][1:]) > 0, f"{found} {done.out}")
    done.expect("status 1" in done.out and re.search(LOST[what], done.out), done.out)


def test_leaks_alive_01():
    """what belongs to a process that goes on is its own, by name, and no leak"""
    done = run("leaks true; leaks sh -c 'sleep 30 &'; echo status $?", *OPTIONS)
    done.expect(verdicts(done)[1][0] > 3 and "status 0" in done.out and "1 more tasks live" in done.out, done.out)
    for state in ("page table", "anonymous", "kernel stack", "object"):
        done.expect(re.search(rf"^{state} \+\d+: sleep \(\d+\)$", done.out, re.MULTILINE), done.out)


def test_leaks_faults_01():
    """without test.faults=1 nothing can be lost on purpose"""
    done = run("fault lose page; echo status $?", "--ram", "12M")
    done.expect("status 1" in done.out, done.out + done.err)

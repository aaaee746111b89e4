"""The audit is told on: break an invariant on purpose, and it must name that one."""
import pytest

from harness.guest import run

# The kernel's list (mm/audit_break.c): number -> what the audit then cites.
BROKEN = ["frame.2", "frame.3", "frame.4", "frame.4", "rmap.1", "swap.3", "swap.2", "swap.4", "frame.11"]
SEEN = 4                        # status of `fault break N`: the audit found something


@pytest.mark.each_map
@pytest.mark.parametrize("number", range(len(BROKEN)), ids=[f"audit-break-{n + 1:02}" for n in range(len(BROKEN))])
def test_audit_break(number):
    """the broken invariant is named by the audit, which fails"""
    done = run(f"hogmem 10 1 & sleep 1; fault break {number}; s=$?; wait; exit $s", "--ram", "8M", "--swap", "16M",
               "--param", "test.faults=1", "--param", "log=serial")
    done.expect(done.exit == SEEN or done.cause == "panic", f"exit {done.exit}: {done.out}")
    done.expect(f"INV {BROKEN[number]}:" in done.log, f"{BROKEN[number]} is not named: {done.log[-600:]}")


# What the reverse map adds to the list (mm/rmap/RMAP/break.c).
MAP_BROKEN = {"anon_vma": ["rmap.2", "rmap.3", "rmap.4"], "anonmm": ["rmap.2", "rmap.5", "rmap.6", "rmap.7", "rmap.8"]}


@pytest.mark.each_map
def test_audit_map_01(reverse_map):
    """each invariant of the reverse map's own, once broken, is named by the audit, which fails"""
    for number, invariant in enumerate(MAP_BROKEN[reverse_map], len(BROKEN)):
        done = run(f"qsbench -n 3000000 -p 2 & sleep 1; fault break {number}", "--ram", "16M", "--swap", "32M",
                   "--param", "test.faults=1", "--param", "log=serial")
        done.expect(done.exit == SEEN or done.cause == "panic", f"{number}: exit {done.exit}: {done.out}")
        done.expect(f"INV {invariant}:" in done.log, f"{invariant} is not named: {done.log[-600:]}")


@pytest.mark.each_map
def test_audit_break_10(reverse_map):
    """there is nothing else to break, and an audit of a sound machine is silent"""
    number = len(BROKEN) + len(MAP_BROKEN[reverse_map])
    done = run(f"fault break {number}; audit", "--param", "test.faults=1")
    done.expect(done.exit == 0 and "fault" in done.out + done.err + done.log and "INV " not in done.log, f"exit {done.exit}: {done.log[-400:]}")

"""The OOM rules of Linux (docs/history.md 7): when somebody is killed, and who. At their boundaries: tests/host/oom.c."""
import re

import pytest

from harness.guest import run

MACHINE = ("--lab", "--ram", "16M", "--swap", "8M", "--param", "reclaim=2.6", "--param", "overcommit=1", "--timeout", "60")
# Seconds until a hog is killed: rules that wait for failures take one at least.
FASTEST = {"2.4.9": 0, "2.4.13": 0, "2.4.14-pre6": 1, "2.4.14": 1, "2.6": 1}


@pytest.mark.parametrize("rule", list(FASTEST), ids=[f"oom-rule-{n:02}" for n in range(1, 6)])
def test_oom_rule_kills(rule):
    """a hog is killed by the rule, with the words of its time beside ours, after the time that the rule wants; the shell lives"""
    done = run("hogmem 40 1; echo alive", *MACHINE, "--param", f"oom={rule}")
    done.expect(done.cause == "oom" and "alive" in done.out and done.counters["oom_kill"] == 1, f"exit {done.exit}: {done.out}")
    done.expect(f"rule {rule}\n" in done.log and re.search(r"^Out of Memory: Killed process \d+ \(hogmem\)\.$", done.log, re.MULTILINE),
                done.log[-900:])
    done.expect(FASTEST[rule] <= done.json["elapsed_seconds"] < FASTEST[rule] + 4, f"{done.json['elapsed_seconds']} s")


def test_oom_rule_06():
    """a rule that there isn't is refused with the list of those that there are"""
    done = run("true", "--lab", "--param", "oom=2.4.15")
    done.expect(done.cause == "panic" and re.search(r"oom=2\.4\.15: there is no such rule.*: default, .*2\.4\.14-pre6, 2\.4\.14, 2\.6",
                                                    done.log), done.log[-400:])


def killed(rule, *wanted):
    """Somebody has mapped most and touched little, and a hog touches twice the RAM. How both end, and how many are killed, must be as wanted."""
    done = run("t_task idle; audit", *MACHINE, "--tests", "--param", f"oom={rule}")
    got = (re.search(r"^hog (\d+), onlooker (\d+)$", done.out, re.MULTILINE).groups(), done.counters["oom_kill"])
    done.expect(got == wanted and "audit: 0" in done.out, f"{got}, wanted {wanted}")
    return done, done.json["elapsed_seconds"]


def test_oom_rule_07():
    """2.6: who has mapped most dies first, though it frees next to nothing, and the hog five seconds later"""
    done, last = killed("2.6", ("9", "9"), 2)
    done.expect(6 <= last < 9, f"the last was killed after {last} s")


def test_oom_rule_08():
    """2.4.14: the same, but it takes no more than what ten failures take"""
    done, last = killed("2.4.14", ("9", "9"), 2)
    done.expect(2 <= last < 5, f"the last was killed after {last} s")


def test_oom_rule_09():
    """default: the hog dies, and nobody else"""
    killed("default", ("9", "15"), 1)

"""Lab runs repeat to the last digit: idle, loaded, and for each seed its own."""
import os
import subprocess

import pytest

from harness.guest import run

SORT = "qsbench -n 2500000; micro"
SMALL = ("--lab", "--ram", "8M", "--swap", "16M")


def same(a, b):
    a.expect(a.exit == 0, f"exit {a.exit} ({a.cause}): {a.err[-300:]}")
    if a.out != b.out or a.json != b.json:
        different = [k for k in a.json if a.json[k] != (b.json or {}).get(k)]
        counters = [k for k in a.counters if a.counters[k] != b.counters.get(k)]
        a.expect(False, f"two runs differ: {different} {counters[:8]}")


@pytest.mark.slow
def test_lab_same_01():
    """two runs give identical output, JSON and trace"""
    a, b = (run(SORT, *SMALL) for _ in range(2))
    same(a, b)
    a.expect(a.trace and a.trace == b.trace and "host_seconds" not in a.json, "traces differ")


@pytest.mark.slow
def test_lab_same_02():
    """idle and with every core busy, the main job and micro are the same to the byte"""
    command, options = ["sh", "-c", "qsbench -n 10000000; micro"], ("--lab", "--ram", "32M", "--swap", "64M")
    idle = run(command, *options)
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(os.cpu_count() or 1)]
    try:
        loaded = run(command, *options)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    same(idle, loaded)


def test_lab_same_03():
    """several processes, pipes of work and sleeps repeat as well"""
    a, b = (run("qsbench -n 300000 -p 6 & sleep 1; ps; wait; vmstat 1 3", *SMALL) for _ in range(2))
    same(a, b)


@pytest.mark.slow
def test_lab_seed_01():
    """another seed is another run"""
    a, b = (run("qsbench -n 2500000", *SMALL, seed=n) for n in (1, 2))
    a.expect(a.exit == 0 and b.exit == 0 and a.json["trace_sha256"] != b.json["trace_sha256"], "the seed changes nothing")


def test_lab_clock_01():
    """sleeping costs no host time and exactly its virtual time"""
    done = run("sleep 100", "--lab")
    done.expect(done.exit == 0 and 100 <= done.json["elapsed_seconds"] < 102, f"{done.json and done.json['elapsed_seconds']}")


def test_lab_disk_01():
    """the modelled disk takes its time: 200 us a request and 30 us a page"""
    done = run("hogmem 12 2", *SMALL)
    c = done.counters
    least = (c["pswpin"] + c["pswpout"]) * 30e-6
    done.expect(done.exit == 0 and c["pswpin"] > 0 and done.json["elapsed_seconds"] > least, f"{done.json['elapsed_seconds']} < {least}")


def test_lab_budget_01():
    """from the kernel's entry to the end of `true` takes less than a second of virtual time"""
    done = run("true", "--lab")
    done.expect(done.exit == 0 and done.json["elapsed_seconds"] < 1, f"{done.json['elapsed_seconds']} s")

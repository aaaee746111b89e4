"""Lab runs repeat to the last digit: idle, loaded, and for each seed its own."""
import contextlib
import os
import socket
import subprocess
import tempfile
import threading
import time

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
def test_lab_same_04():
    """time that passes inside the disk recipe, another amount for each request, changes nothing"""
    still, *shaken = (run("qsbench -n 2200000", *SMALL, "--param", f"test.recipe_jitter={n}") for n in (0, 999, 100003))
    for done in shaken:
        name = "test.recipe_jitter"
        still.expect(done.json["config"].pop(name) != still.json["config"][name], "no jitter was asked for")
        done.json["config"][name] = still.json["config"][name]
        same(still, done)
        still.expect(done.trace and done.trace == still.trace, "traces differ")


@contextlib.contextmanager
def busy_monitor(path):
    """Calls QEMU's main loop all the time, by commands to a second monitor at `path`. Yields the list of replies."""
    replies, over = [], threading.Event()

    def ask():
        with socket.socket(socket.AF_UNIX) as s:
            while s.connect_ex(path) != 0 and not over.is_set():
                time.sleep(0.01)
            with contextlib.suppress(OSError):
                s.sendall(b'{"execute": "qmp_capabilities"}\n')
                while data := s.recv(65536):
                    replies.append(len(data))
                    s.sendall(b'{"execute": "query-status"}\n' * 8)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield replies
    finally:
        over.set()
        thread.join()


@pytest.mark.slow
def test_lab_same_05():
    """what calls QEMU's main loop just as the CPU stops for want of work changes nothing"""
    command = "hogmem 12 4"
    quiet = run(command, *SMALL)
    for _ in range(3):
        with tempfile.TemporaryDirectory(prefix="clockhand-test-") as folder:
            path = os.path.join(folder, "qmp")
            with busy_monitor(path) as replies:
                busy = run(command, *SMALL, "--extra=-qmp", f"--extra=unix:{path},server=on,wait=off")
        quiet.expect(len(replies) > 100, f"{len(replies)} replies: the monitor was not busy")
        same(quiet, busy)
        quiet.expect(busy.trace and busy.trace == quiet.trace, "traces differ")


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
    """disk=model:fixed takes its time: 200 us a request and 30 us a page"""
    done = run("hogmem 12 2", *SMALL, "--param", "disk=model:fixed")
    c = done.counters
    least = (c["pswpin"] + c["pswpout"]) * 30e-6
    done.expect(done.exit == 0 and c["pswpin"] > 0 and done.json["elapsed_seconds"] > least, f"{done.json['elapsed_seconds']} < {least}")


def test_lab_budget_01():
    """from the kernel's entry to the end of `true` takes less than a second of virtual time"""
    done = run("true", "--lab")
    done.expect(done.exit == 0 and done.json["elapsed_seconds"] < 1, f"{done.json['elapsed_seconds']} s")

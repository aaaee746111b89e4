"""Planted faults: the runner must name each, and where it happened."""
import concurrent.futures
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

import pytest

from harness.guest import ROOT, run

PLANT = ("--param", "test.faults=1")


def test_run_panic_01():
    """a panic exits 120, with its cause and a backtrace that has the system call in it"""
    done = run("fault panic", *PLANT)
    done.expect(done.exit == 120 and done.cause == "panic", f"exit {done.exit}")
    done.expect("panic:" in done.err and re.search(r"0x[0-9a-f]{8} sys_machine\+0x", done.err), done.err[-500:])


def test_run_panic_02():
    """the last trace records come with a panic"""
    done = run("fault panic", *PLANT)
    done.expect(len(re.findall(r"^.*\b(?:FAULT|SWITCH|EXEC|CALL|MAP|ALLOC)\b.*=", done.log, re.MULTILINE)) >= 8,
                f"no trace in the log: {done.log[-800:]}")


def test_run_triple_01():
    """a triple fault exits 121 and the place is named"""
    done = run("fault triple", *PLANT)
    done.expect(done.exit == 121 and done.cause == "triple-fault", f"exit {done.exit}")
    done.expect(re.search(r"0x[0-9a-f]{8} \w+\+0x", done.err), done.err[-500:])


def test_run_hang_01():
    """a kernel that hangs exits 122 and the place of the loop is named"""
    done = run("fault hang", "--timeout", "8", *PLANT)
    done.expect(done.exit == 122 and done.cause == "timeout", f"exit {done.exit}")
    done.expect(re.search(r"0x[0-9a-f]{8} sys_machine\+0x", done.err), done.err[-500:])


def test_run_hang_02():
    """a program that never ends exits 122; the machine goes on until then"""
    done = run("echo begun; sleep 100000", "--timeout", "5")
    done.expect(done.exit == 122 and "begun" in done.out, f"exit {done.exit}")


def test_run_hang_03():
    """in the lab a program that takes too much virtual time exits 122"""
    done = run("sleep 30", "--lab", "--timeout", "10")
    done.expect(done.exit == 122, f"exit {done.exit}: {done.err}")


def test_run_overflow_01():
    """a kernel stack overflow is a panic that says so, not a triple fault"""
    done = run("fault overflow", *PLANT)
    done.expect(done.exit == 120 and "stack overflow" in (done.err + done.log).lower(), f"exit {done.exit}: {done.err}")


def test_run_refuse_01():
    """planted faults are refused without test.faults=1"""
    done = run("fault panic")
    done.expect(done.exit not in (0, 120), f"exit {done.exit}")


def test_run_boot_01(tmp_path):
    """a machine that never starts the command exits 124"""
    done = run("ls", "--extra=-device", "--extra=nosuchdevice")
    done.expect(done.exit == 124 and "nosuchdevice" in done.err, f"exit {done.exit}: {done.err}")


@pytest.mark.parametrize("status", [0, 1, 7, 42, 120, 255], ids=[f"run-status-{n:02}" for n in range(1, 7)])
def test_run_status(status):
    """the command's exit status is the runner's, and JSON tells it from the machine's"""
    done = run(["sh", "-c", f"exit {status}"])
    done.expect(done.exit == status and done.json["cause"] == "exit" and done.json["exit"] == status, f"exit {done.exit}")


def test_run_stdout_01():
    """the command's output alone goes to standard output"""
    done = run("echo one; echo two")
    done.expect(done.out == "one\ntwo\n" and done.log.strip(), repr(done.out))


def test_run_put_01(tmp_path):
    """--put brings a file into the guest's /tmp, to the byte"""
    file = tmp_path / "poem"
    file.write_text("".join(f"line {n}\n" for n in range(2000)))
    done = run("cat /tmp/poem", "--put", str(file))
    done.expect(done.exit == 0 and done.out == file.read_text(), f"exit {done.exit}, {len(done.out)} bytes")


def test_run_words_01():
    """a command of several words is not split again"""
    done = run(["echo", "a  b", "c"])
    done.expect(done.out == "a  b c\n", repr(done.out))


def test_run_json_01():
    """the JSON has the documented keys in the documented order"""
    done = run("true", "--swap", "8M:3", "--param", "overcommit=1")
    keys = ["exit", "cause", "elapsed_seconds", "user_seconds", "system_seconds", "kswapd_seconds", "idle_seconds",
            "config", "counters", "disks", "image_sha256", "cc", "newlib", "qemu", "seed", "trace_sha256", "host_seconds"]
    done.expect(list(done.json) == keys, f"keys {list(done.json)}")
    done.expect(done.json["config"]["overcommit"] == 1 and done.json["counters"]["pgfault"] > 0, "config, counters")
    done.expect("hda" in done.json["disks"] and done.json["elapsed_seconds"] > 0, "disks, time")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL], ids=[f"run-signal-{n:02}" for n in range(1, 4)])
def test_run_signal(tmp_path, number):
    """a runner that is ended takes its machine with it, and its files too unless it had no chance"""
    argv = [sys.executable, os.path.join(ROOT, "tools", "run"), "--log", "/dev/null", "--", "echo begun; sleep 1000"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, env=dict(os.environ, TMPDIR=str(tmp_path))) as process:
        assert process.stdout.readline() == "begun\n"
        process.send_signal(number)
        status = process.wait(20)
    assert status == (-number if number == signal.SIGKILL else 128 + number)
    end = time.monotonic() + 10
    while (left := machines_in(tmp_path)) and time.monotonic() < end:
        time.sleep(0.1)
    assert not left and (number == signal.SIGKILL or os.listdir(tmp_path) == [])


def machines_in(folder):
    """Process numbers of the QEMUs whose machine lives in `folder`."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as f:
                words = f.read()
        except OSError:
            continue
        if b"qemu" in words and os.fsencode(str(folder)) in words:
            found.append(name)
    return found


def test_run_twice_01():
    """two machines run at once, and leave no file behind"""
    with concurrent.futures.ThreadPoolExecutor(2) as pool, tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, TMPDIR=folder)
        for number, done in enumerate(pool.map(lambda n: run(f"echo {n}", environment=environment), range(2))):
            done.expect(done.exit == 0 and done.out == f"{number}\n", f"exit {done.exit}")
        assert os.listdir(folder) == []


PLANTED_LEAK = """from harness.guest import shell

def test_x_leak_01():
    '''a machine whose books don't balance'''
    shell("fault break 0", "--param", "test.faults=1")
"""


def test_run_leak_01(tmp_path):
    """a test after which the audit finds something fails, and names invariant, place and last events"""
    (tmp_path / "test_x.py").write_text(PLANTED_LEAK)
    done = subprocess.run([os.path.join(ROOT, "tests/run"), "--folder", str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stdout.rstrip().endswith("0 passed, 1 failed"), done.stdout[-800:]
    for line in (r"^FAIL x-leak-01  a machine whose", r"^INV  frame\.1: ", r"^LAST \d+\.\d+ \w+", r"^LOOK mm/frame_check\.c \w+\(\)"):
        assert re.search(line, done.stdout, re.MULTILINE), f"{line}: {done.stdout[-800:]}"

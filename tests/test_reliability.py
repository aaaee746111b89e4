"""Attacks: random calls with a model of every byte, failing allocations, disks that fail, lie, or are slow.

What was run at length, with commands and counts: docs/reliability.md. Here is a smaller form of each.
"""
import re

import pytest

from harness import disks
from harness.guest import run, shell

pytestmark = pytest.mark.kept_map

STRESS = "stress -n 60 -p 5 -r 3"
TWO_AREAS = ("--ram", "8M", "--swap", "12M", "--swap", "12M", "--tests", "--timeout", "120")
# Without a shell, whose own pages would be lost as others are; stress audits by itself.
LOSSY = (["stress", "-n", "300", "-p", "10", "-l"], "--ram", "8M", "--tests", "--timeout", "120")
SLOTS = range(40, 1000, 60)     # that fail; used soon, and again and again


def stressed(done):
    """The stress program found every byte right, the audit nothing, and the machine lives."""
    done.expect(re.search(r"^well: ", done.out, re.MULTILINE) and "INV" not in done.log and done.exit == 0,
                f"exit {done.exit}: {done.out[-900:]}")
    return done


def rules_for(path, event, once=False, slots=SLOTS):
    """Rules for blkdebug: each of `slots` fails, once or always."""
    texts = [disks.blkdebug(path, event, first=2048 + 8 * slot, once=once).read_text() for slot in slots]
    path.write_text("".join(texts))
    return path


def filtered(image, node, *error_policy):
    """QEMU's arguments for one more drive, `image` below the block node `node` (a dict of -blockdev)."""
    policy = "".join("," + p for p in error_policy)
    chain = ["-blockdev", f"driver=file,filename={image},node-name=base", "-blockdev", node + ",node-name=filter",
             "-blockdev", "driver=raw,file=filter,node-name=attacked",
             "-device", f"ide-hd,bus=ide.0,unit=0,drive=attacked{policy}"]
    return [f"--extra={word}" for word in chain]


@pytest.mark.each_map
def test_stress_01():
    """random calls of many processes that swap: every byte is what it should be"""
    stressed(shell(STRESS, *TWO_AREAS))


@pytest.mark.slow
def test_stress_02():
    """300 processes share pages that are in swap: counts beyond a byte"""
    done = stressed(run("stress -c 300; audit", "--ram", "40M", "--swap", "48M", "--tests", "--timeout", "200"))
    done.expect(done.counters["pswpin"] > 0, "nothing was swapped")


@pytest.mark.each_map
def test_allocfail_01():
    """each allocation of a workload fails once: told or killed, the books balance, no frame is missing"""
    done = run("leaks allocfail; s=$?; audit && exit $s", "--tests", "--ram", "8M", "--swap", "16M", "--param", "test.faults=1",
               "--timeout", "200")
    count = re.search(r"# (\d+) allocations failed", done.out)
    done.expect(done.exit == 0 and count and int(count.group(1)) > 80 and "not ok" not in done.out, f"exit {done.exit}: {done.out[-1200:]}")


@pytest.mark.each_map
def test_fuzz_01():
    """random system calls with hostile arguments: no panic, no leak, proc answers"""
    done = run("leaks fuzz -n 150000; s=$?; audit && exit $s", "--tests", "--ram", "8M", "--swap", "16M", "--param", "overcommit=1",
               "--timeout", "200")
    done.expect(done.exit == 0 and "servers answer" in done.out, f"exit {done.exit}: {done.out[-900:]}")


RULES = [("read_aio", True), ("read_aio", False), ("write_aio", True), ("write_aio", False)]


@pytest.mark.parametrize("event, once", RULES, ids=[f"attack-disk-{n:02}" for n in range(1, 5)])
def test_attack_disk(tmp_path, event, once):
    """sectors that fail, once or always: who needs the page is told, no other byte is wrong, the audit is clean"""
    rules = rules_for(tmp_path / "rules", event, once)
    done = stressed(run(*LOSSY, "--swap", "16M", "--swap", "16M", "--inject", f"0:{rules}", "--inject", f"1:{rules}"))
    done.expect(once or done.counters["disk_errors"] > 0, "no error was met")


def test_attack_ignored_01(tmp_path):
    """a drive that reports reads as done and moves nothing is found out: who needs the page is told, no byte is another's"""
    image, rules = disks.swap_disk(tmp_path / "d", 24), rules_for(tmp_path / "rules", "read_aio", slots=SLOTS[::4])
    done = stressed(run(*LOSSY, *filtered(image, f"driver=blkdebug,image=base,config={rules}", "rerror=ignore")))
    done.expect(done.counters["pswpin"] > 100 and done.counters["disk_errors"] == 0, "hardly anything was read, or an error was told")


def test_attack_slow_01(tmp_path):
    """a disk of 300 transfers a second: slow, and everything is right"""
    image = disks.swap_disk(tmp_path / "d", 24)
    done = stressed(run("stress -n 30 -p 3; audit", "--ram", "6M", "--tests", "--timeout", "200", "--extra=-object",
                        "--extra=throttle-group,id=slow,x-iops-total=300",
                        *filtered(image, "driver=throttle,throttle-group=slow,file=base")))
    done.expect(done.counters["pswpout"] > 0, "nothing was swapped out")


def test_attack_slow_02(tmp_path):
    """each read takes 10 ms and each write 20 ms, by nbdkit: many requests are under way, and everything is right"""
    image = disks.swap_disk(tmp_path / "d", 24)
    with disks.served(image, str(tmp_path), ["delay"], "rdelay=10ms", "wdelay=20ms") as drive:
        done = shell("hogmem 8 2", "--ram", "6M", "--timeout", "200", *drive)
    done.expect(done.counters["pswpin"] > 0 and done.counters["pswpout"] > 0, "nothing was swapped")

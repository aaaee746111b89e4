"""The workloads at their sizes: what must finish where Linux 6.1 kills."""
import re

import pytest

from harness import maps
from harness.guest import run, shell

# Everything back in memory and no cache left: then what is free says what is held.
SETTLED = "swapoff hda1; swapon hda1; dropcaches; free"
# proc keeps the pages of its process table that were ever used.
MANY_PROCESSES = "qsbench -n 1000 -p 12"

# Options, command, whether both ways of swapping must be seen. From the "Done when" and smaller.
JOBS = [
    ("--ram 64M --swap 50M", "qsbench -n 22500000 -p 1 -s 140175100", True),
    ("--ram 64M --swap 50M", "qsbench -n 5625000 -p 4", True),
    ("--ram 32M --swap 128M", "qsbench -n 2000000 -p 8 -s 1", True),
    ("--ram 64M --swap 150M", "hogmem 100 3", True),
    ("--ram 16M --swap 64M", "qsbench -n 8000000", True),
    ("--ram 8M --swap 16M", "qsbench -n 3000000", True),
    ("--ram 64M", "qsbench -n 1000000", False),
    ("--ram 6M --swap 32M", "qsbench -n 200000 -p 16", True),
    ("--ram 64M --swap 50M", "qsbench -n 22500000 -p 1 -s 7", True),
]


def slow(n):
    return [pytest.mark.slow] if n < 5 or n == 8 else []


@pytest.mark.kept_map
@pytest.mark.parametrize("options, command, swapping", [pytest.param(*job, marks=slow(n), id=f"work-size-{n + 1:02}")
                                                        for n, job in enumerate(JOBS)])
def test_work_size(options, command, swapping):
    """ends well, without a kill, in 120 s"""
    done = shell(command, *options.split(), "--timeout", "120")
    done.expect(done.counters["oom_kill"] == 0, "somebody was killed")
    if swapping:
        done.expect(done.counters["pswpin"] > 0 and done.counters["pswpout"] > 0, "nothing was swapped")


@pytest.mark.each_map
def test_work_sharing_01(reverse_map):
    """the reverse map reaches each of 30 sharers of a page, and for one process's own page no more than those; without one all are asked"""
    done = shell("sharing 30", "--lab", "--ram", "32M", "--swap", "32M")
    got = {name: int(value) for name, value in (line.split() for line in done.out.splitlines() if "audit" not in line)}
    done.expect(got["shared_unmaps"] == 30 and 60 <= got["shared_probes"] <= 90, done.out)
    done.expect(got["private_unmaps"] == 1 and 2 <= got["private_probes"] <= (90 if reverse_map == maps.NOTHING_KEPT else 60), done.out)
    searched = got["moved_probes"] > 30 * 1024
    done.expect(got["moved_unmaps"] == (29 if reverse_map == "anonmm" else 30) and searched == (reverse_map == maps.NOTHING_KEPT), done.out)


@pytest.mark.kept_map
@pytest.mark.slow
def test_work_oom_01():
    """more than there is, overcommitted: 123, the shell lives, the report names the victim"""
    done = run(["sh", "-c", "qsbench -n 22500000; echo alive"], "--ram", "64M", "--swap", "16M", "--param", "overcommit=1")
    done.expect(done.exit == 123 and done.out.endswith("alive\n"), f"exit {done.exit}: {done.out}")
    done.expect(re.search(r"Out of memory: killed \d+ \(qsbench\)", done.log), done.log[-600:])
    done.expect("qsbench" in done.err, done.err)


@pytest.mark.kept_map
def test_work_oom_02():
    """a descendant's death exits 123 even if the rest went on; small ones are left alone"""
    done = run("hogmem 40 1 & sleep 1; wait; echo alive; audit", "--ram", "16M", "--swap", "8M", "--param", "overcommit=1")
    done.expect(done.exit == 123 and "alive" in done.out and done.counters["oom_kill"] == 1, f"exit {done.exit}: {done.out}")


@pytest.mark.kept_map
@pytest.mark.parametrize("what, ram", [("objects", "16M"), ("vmas", "6M")], ids=["work-oom-03", "work-oom-04"])
def test_work_oom_hidden(what, ram):
    """who fills the machine with memory objects, or with vmas, is the victim, though no page of it is mapped"""
    done = run(f"t_task {what}; audit", "--tests", "--ram", ram)
    done.expect("hog 9, onlooker 15" in done.out and "audit: 0" in done.out, done.out + done.log[-1500:])


@pytest.mark.kept_map
@pytest.mark.parametrize("command", ["qsbench -n 3000000", "qsbench -n 300000 -p 8", "hogmem 14 2", "true",
                                     "hogmem 60 1"],
                         ids=[f"work-leak-{n:02}" for n in range(1, 6)])
def test_work_leak(command):
    """afterwards, with caches dropped, as many pages are free as at the first prompt"""
    options = ("--ram", "12M", "--swap", "32M", "--param", "overcommit=1")
    done = run(f"{MANY_PROCESSES}; {SETTLED}; {command}; {SETTLED}; audit", *options)
    free = [int(n) for n in re.findall(r"^Mem:\s+\d+\s+\d+\s+(\d+)", done.out, re.MULTILINE)]
    done.expect(len(free) == 2 and free[0] == free[1], f"free before and after: {free} {done.out[-400:]}")


def test_work_time_01():
    """time prints the csh line of the threads"""
    done = shell("time qsbench -n 1000000")
    done.expect(re.search(r"^\d+\.\d{3}u \d+\.\d{3}s \d+:\d\d\.\d\d \d+\.\d% \d+\+\d+k \d+\+\d+io \d+pf\+\d+w$",
                          done.out + done.err, re.MULTILINE), done.out)


def test_work_idle_01():
    """idle writes to its memory once: that goes to swap and stays there when others have ended"""
    done = run("idle 6000 & hogmem 10 3; free; audit", "--lab", "--rmap", "scan", "--ram", "12M", "--swap", "24M")
    used = int(re.search(r"^Swap:\s+\d+\s+(\d+)", done.out, re.MULTILINE).group(1))
    done.expect(5000 < used <= 7000 and "audit: 0" in done.out, f"{used} kB in swap")
    done = run("idle 0", "--lab", "--rmap", "scan")
    done.expect(done.exit == 2 and "usage: idle KIB" in done.err + done.out, done.out)


def test_work_vmstat_01():
    """vmstat prints the columns of the time, a line a second"""
    done = run("vmstat 1 & sleep 4", "--lab")
    rows = re.findall(r"^(?: *\d+){14,} *$", done.out, re.MULTILINE)
    done.expect(len(rows) >= 3 and "swpd" in done.out, done.out)


def test_work_accounts_01():
    """user, system, kswapd and idle add up to the time since boot, each counted once"""
    done = run("hogmem 12 6", "--lab", "--ram", "8M", "--swap", "16M", "--param", "disk=model:fixed")
    parts = [done.json[f"{name}_seconds"] for name in ("user", "system", "kswapd", "idle")]
    done.expect(all(p > 0 for p in parts) and abs(sum(parts) - done.json["elapsed_seconds"]) < 0.005,
                f"{parts}: {sum(parts)} of {done.json['elapsed_seconds']}")


def test_work_accounts_02():
    """a process's time in ps and time is its own: one that computes, one that sleeps"""
    done = shell("sleep 3 & time qsbench -n 3000000; ps", "--lab")
    user, system = map(float, re.search(r"^(\d+\.\d+)u (\d+\.\d+)s", done.out, re.MULTILINE).groups())
    sleeper = re.search(r"(\d+):(\d+\.\d+) sleep$", done.out, re.MULTILINE)
    done.expect(user > 0.2 > system, done.out)
    done.expect(sleeper and float(sleeper.group(2)) < 0.05, done.out)


ROWS = ["null_syscall", "null_ipc", "yield_switch", "first_touch", "cow_copy", "fork_exit_wait", "mmap_munmap",
        "swap_in_cache", "swap_in_disk"]


@pytest.mark.parametrize("options", [["--lab"], ["--cpu", "486"]], ids=["work-micro-01", "work-micro-02"])
def test_work_micro(options):
    """micro has a figure for each operation, with a TSC and without"""
    done = shell("micro", "--ram", "16M", "--swap", "32M", *options)
    rows = dict(re.findall(r"^(\w+) +(\d+) +\d+ (?:tsc|ns)$", done.out, re.MULTILINE))
    done.expect(all(int(rows.get(name, 0)) > 0 for name in ROWS), done.out)
    done.expect(int(rows["swap_in_disk"]) > int(rows["swap_in_cache"]), done.out)


PROMISES = [("overcommit=0", "24 0 0 64 1"), ("overcommit=1", "24 64 1000 64 1"), ("overcommit=2", "0 0 0 23 0")]
# The same for shared memory, of which the child needs no second promise, and for MAP_NORESERVE, which rule 2 ignores.
SHARED = [("overcommit=0", "24 0 0 64 1 64"), ("overcommit=1", "24 64 1000 64 1 64"), ("overcommit=2", "0 0 0 23 1 0")]


@pytest.mark.parametrize("rule, wanted", PROMISES, ids=[f"commit-rule-{n:02}" for n in range(1, 4)])
def test_commit_rule(rule, wanted):
    """what each rule promises with 16 MiB of RAM and 16 of swap: 24, 64, 1000 at once; 64 one by one; 15 and a child"""
    done = shell("t_commit one 24; t_commit one 64; t_commit one 1000; t_commit sum 64; t_commit fork 15", "--tests", "--ram", "16M",
                 "--swap", "16M", "--param", rule)
    done.expect(done.out.split()[:5] == wanted.split(), done.out)


@pytest.mark.parametrize("rule, wanted", SHARED, ids=[f"commit-rule-{n:02}" for n in range(4, 7)])
def test_commit_shared(rule, wanted):
    """what each rule promises of shared memory: 24, 64, 1000 at once; 64 one by one; 15 and a child; 64 with MAP_NORESERVE"""
    commands = [f"one {n}" for n in (24, 64, 1000)] + ["sum 64", "fork 15", "noreserve 64"]
    done = shell("; ".join(f"t_commit {c} shared" for c in commands), "--tests", "--ram", "16M", "--swap", "16M", "--param", rule)
    done.expect(done.out.split()[:6] == wanted.split(), done.out)


def test_run_trace_01():
    """the last trace records come on request, with the names of their fields"""
    done = run("hogmem 1 1; trace 20; echo after")
    records = re.findall(r"^ +\d+\.\d{9} [A-Z_]+ tid=\d+(?: \w+=\w+)+$", done.log, re.MULTILINE)
    done.expect(len(records) == 20 and "after" in done.out, done.log[-600:])


def test_work_tools_01():
    """free, ps, swapon -s, audit and micro each print what they are for"""
    done = shell("free; ps; swapon -s; micro", "--swap", "8M", "--lab", "--ram", "16M")
    done.expect(all(word in done.out for word in ("Mem:", "Swap:", "PID", "hda1", "syscall")), done.out[-800:])

"""reclaim=2.2 and oom=2.2: what Linux 2.2.0-pre6 did (docs/history.md 1), each rule on a small machine."""
import collections
import re

import pytest

from harness import disks
from harness.guest import run, shell

POLICY = ("--lab", "--rmap", "scan", "--param", "reclaim=2.2")
SMALL = (*POLICY, "--ram", "16M", "--swap", "32M")
# Two hogs that don't fit, on a CPU slow enough for them to run side by side.
HOGS = ("hogmem 14 3 & hogmem 14 3 & wait", *POLICY, "--ram", "16M", "--swap", "48M", "--mips", "62.5")
PATCH = ("--param", "swap.cluster=256", "--param", "swap.readahead_limit=0")


def words(done):
    """The figures that idle22 tells: {word: number}."""
    return {word: int(n) for word, n in re.findall(r"(\w+) (\d+)", done.out)}


@pytest.fixture(scope="module")
def hogs():
    """Two hogs, as pre6 was and with the patch of January 1999."""
    return shell(*HOGS), shell(*HOGS, *PATCH)


def hit_rate(done):
    return done.counters["swap_cache_find_success"] / done.counters["swap_cache_find_total"]


MARKS = [("4M", (10, 20, 30)), ("16M", (32, 64, 96)), ("64M", (128, 256, 384)), ("256M", (256, 512, 768))]


@pytest.mark.parametrize("ram, wanted", MARKS, ids=[f"reclaim-22-{n:02}" for n in range(1, 5)])
def test_reclaim_22_marks(ram, wanted):
    """freepages.min, low and high go by RAM alone: a page in 128, from 10 to 256, twice and three times that"""
    done = shell("true", *POLICY, "--ram", ram)
    zones = [[int(n) for n in line] for line in re.findall(r"reclaim=2\.2: zone .*watermarks (\d+) (\d+) (\d+)", done.log)]
    got = tuple(map(sum, zip(*zones)))
    done.expect(got == wanted, f"{got}, wanted {wanted}")


def test_reclaim_22_05(hogs):
    """who has to reclaim does so in batches up to `high`: pages freed or begun to be written"""
    done = hogs[0]
    c = done.counters
    batch = (c["pgsteal_direct"] + c["pswpout"]) / c["allocstall"]
    done.expect(40 < batch <= 96, f"{batch:.1f} pages a batch; high is 96, low 64, min 32")


def test_reclaim_22_06():
    """kswapd looks once a second and writes nothing, even if nothing else could be freed"""
    done = shell("idle22 kswapd 5", *SMALL, "--tests")
    got = words(done)
    done.expect(got["looks"] in (4, 5, 6) and got["free"] < got["high"], str(got))
    done.expect(got["written"] == 0 and got["freed"] == 0, str(got))


def test_reclaim_22_07():
    """pages that were read ahead and not used are what the clock frees first"""
    done = shell("idle22 around 5", *SMALL, "--tests")
    got = words(done)
    done.expect(got["before"] > 40 and got["freed"] > 40 and got["written"] == 0, str(got))


def test_reclaim_22_08():
    """the largest process loses pages first, a small one that sleeps keeps its own"""
    done = shell("idle22 sizes", *SMALL, "--tests")
    got = words(done)
    done.expect(got["large"] > 50 and got["small"] * 20 < got["large"], str(got))


def test_reclaim_22_09(hogs):
    """two hogs: with 256 slots a cluster and without the limit at least twice as fast"""
    before, after = (done.json["elapsed_seconds"] for done in hogs)
    hogs[1].expect(before > 2 * after, f"{before} s, {after} s with the patch")


def test_reclaim_22_10(hogs):
    """swap cache: at least three times as many looks find a page with the patch"""
    before, after = map(hit_rate, hogs)
    hogs[1].expect(after > 3 * before and 0.25 < after < 0.4, f"{before:.3f}, {after:.3f} with the patch")


def test_reclaim_22_11(hogs):
    """the limit leaves hardly any readahead while memory is short; without it most pages come by it"""
    before, after = (done.counters["swap_readahead"] / done.counters["pswpin"] for done in hogs)
    hogs[0].expect(before < 0.25 < 0.7 < after, f"{before:.2f} of the pages read, {after:.2f} without the limit")


def test_reclaim_22_12():
    """swapon -s tells of the swap cache in the words of the time, and the counters agree with the log"""
    done = shell("hogmem 20 2; swapon -s", *SMALL, audit=False)
    line = r"^Swap cache: add (\d+), delete (\d+), find (\d+)/(\d+)$"
    told, logged = re.search(line, done.out, re.MULTILINE), re.search(line, done.log, re.MULTILINE)
    done.expect(told and logged and int(told.group(1)) > 500, done.out)
    names = ("swap_cache_add", "swap_cache_delete", "swap_cache_find_success", "swap_cache_find_total")
    done.expect([int(n) for n in logged.groups()] == [done.counters[name] for name in names], logged.group(0))


@pytest.mark.each_map
def test_reclaim_22_13(reverse_map):
    """a build with a reverse map refuses it by name, the one without runs it"""
    done = run("true", "--lab", "--param", "reclaim=2.2")
    if reverse_map == "scan":
        done.expect(done.exit == 0 and "reclaim=2.2: zone" in done.log, done.log[-300:])
    else:
        done.expect(done.exit == 120 and "reclaim=2.2: not with this build" in done.log, f"exit {done.exit}: {done.log[-300:]}")


def test_reclaim_22_14():
    """random calls of many processes under this policy: every byte, and the audit"""
    shell("stress -s 3 -n 250 -p 5", *SMALL, "--tests", "--timeout", 600)


def test_reclaim_22_15():
    """swapoff under load moves all to the other area"""
    done = shell("hogmem 12 6 & swapoff hda1; s=$?; wait; swapon -s; exit $s", *POLICY, "--ram", "8M", "--swap", "24M:5", "--swap", "24M:3",
                 audit=False)
    done.expect("hda1" not in done.out and "hdb1" in done.out and "changed" not in done.err, done.out)


BAD = ("--rmap", "scan", "--param", "reclaim=2.2", "--ram", "10M", "--tests")
BAD_SLOT = {"first": 2048 + 8 * 100}
ERRORS = [("qsbench -n 3000000", BAD_SLOT, ("--swap", "16M"), ""),
          ("qsbench -n 3000000; swapon -s", {}, ("--swap", "16M:5", "--swap", "32M:3"), ""),
          ("t_object_swap object", BAD_SLOT, ("--swap", "48M"), "0 lost, 0 wrong"),
          ("t_object_swap shared", BAD_SLOT, ("--swap", "48M"), "reader: status 0")]


@pytest.mark.parametrize("command, where, swaps, answer", ERRORS, ids=[f"reclaim-22-{n}" for n in range(16, 20)])
def test_reclaim_22_errors(command, where, swaps, answer, tmp_path):
    """a slot, or a whole disk, that can't be written is given up, pages and objects go elsewhere, nothing is lost"""
    rules = disks.blkdebug(tmp_path / "rules", "write_aio", **where)
    done = shell(command, *BAD, *swaps, "--inject", f"0:{rules}")
    done.expect(done.counters["swap_bad_slots"] >= 1 and done.counters["oom_kill"] == 0, done.log[-600:])
    done.expect(answer in done.out, done.out)


def test_reclaim_22_20(tmp_path):
    """two that write more than may be under way get equally many pages through, both waiting for the drive"""
    stream = tmp_path / "stream"
    done = shell("hogmem 50 1 & hogmem 50 1 & wait", *POLICY, "--ram", "64M", "--swap", "200M", "--stream", stream,
                 "--param", "trace.stream=SWAP_OUT")
    written = collections.Counter(re.findall(r" SWAP_OUT tid=(\d+)", stream.read_text())[:2000])
    done.expect(len(written) == 2 and max(written.values()) < 1.5 * min(written.values()),
                f"of the first 2000 pages: {dict(written)}, by thread; see wait_for_write()")


def test_oom_22_01():
    """without memory and slots the fault of the hog kills it, in 2.2's words; the rest of the machine goes on"""
    done = run("hogmem 40 1; echo later $?; audit", *POLICY, "--ram", "8M", "--swap", "4M", "--param", "overcommit=1")
    done.expect(done.exit == 123 and "VM: killing process hogmem" in done.log, f"exit {done.exit}: {done.log[-300:]}")
    done.expect("later 137" in done.out and "0 violations" in done.out and done.counters["oom_kill"] == 1, done.out)


@pytest.mark.parametrize("machine", [SMALL, ("--lab", "--param", "oom=2.2", "--ram", "16M", "--swap", "32M")],
                         ids=["oom-22-02", "oom-22-03"])
def test_oom_22_faulter(machine):
    """who faults dies, not who is largest; with this policy and with the default one"""
    done = run("idle22 victim; audit", *machine, "--tests")
    done.expect("faulter 9 large 1" in done.out, done.out)
    done.expect(done.exit == 123 and "0 violations" in done.out, f"exit {done.exit}: {done.log[-300:]}")

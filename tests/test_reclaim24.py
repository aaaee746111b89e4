"""The policies after Linux 2.4: 2.4.13, the pre-releases of 2.4.14, -aa, von Krawczynski's patches (docs/history.md 2).

`reread` writes once and then only reads: the end of qsbench, at length. On TIGHT, swap is full before long of the slots of
pages that are in memory, and some pages have none.
"""
import re

import pytest

from harness.guest import run, shell

POLICIES = ("2.4.13", "2.4.14-pre5", "2.4.14-pre6", "2.4.14", "aa", "skraw1", "skraw2")
SMALL = ("--ram", "8M", "--swap", "24M")
TIGHT = ("--ram", "13M", "--swap", "8M")
ROOMY = ("--ram", "12M", "--swap", "15M")
REREAD = "reread 14 24"        # pre6 comes to its end after some 16 passes


# Counters of time: to ask one rule more takes some instructions.
TICKING = {"interrupts", "irq0", "timer_ticks"}


def under(policy, *options, lab=False):
    """Options for a run with the policy."""
    return ("--rmap", "scan", "--param", f"reclaim={policy}", *(["--lab"] if lab else []), *options)


def numbered(first, items):
    return {"argnames": "policy", "argvalues": items, "ids": [f"reclaim-24-{n:02}" for n in range(first, first + len(items))]}


def completes(done):
    """Not killed, and with the right contents (reread looks)."""
    done.expect(done.exit == 0 and done.counters["oom_kill"] == 0, f"exit {done.exit} ({done.cause}): {done.log[-600:]}")
    return done


def killed(done):
    done.expect(done.cause == "oom" and "Out of Memory: Killed process" in done.log, f"exit {done.exit} ({done.cause})")
    return done


def scanned(done):
    return done.counters["pgscan_kswapd"] + done.counters["pgscan_direct"]


# ---- the machinery ----

@pytest.mark.parametrize("ram", ["4M", "24M", "100M"], ids=[f"reclaim-24-{n:02}" for n in range(1, 4)])
def test_reclaim_24_watermarks(ram):
    """min is a zone's size by 32 (DMA) or 128 within 20 and 255, low twice and high three times that"""
    done = run("true", *under("2.4.14", "--ram", ram))
    zones = re.findall(r"zone (\w+): (\d+) frames, watermarks (\d+) (\d+) (\d+)", done.log)
    done.expect(zones, "the log names no watermarks")
    for name, *figures in zones:
        frames, low_end, low, high = (int(f) for f in figures)
        least = min(max(frames // (32 if name == "DMA" else 128), 20), 255)
        done.expect((low_end, low, high) == (least, 2 * least, 3 * least), f"{name}: {figures}, min should be {least}")


@pytest.mark.parametrize("policy, listed", [("2.4.13", False), ("2.4.14-pre5", True), ("aa", False)],
                         ids=[f"reclaim-24-{n:02}" for n in range(4, 7)])
def test_reclaim_24_lists(policy, listed):
    """a fresh anonymous page is on the inactive list at once from 2.4.14-pre3 on; before, and with -aa, on none"""
    done = run("hogmem 3 1", *under(policy, "--ram", "16M", "--param", "trace.entries=65536"))
    events = [line.split() for line in done.trace]
    filled = sum("ZERO_FILL" in e for e in events)
    added = sum("LRU_ADD" in e for e in events)
    done.expect(filled > 700 and (added >= filled if listed else added < filled / 10), f"{filled} filled, {added} listed")


def test_reclaim_24_07():
    """the hand of swap_out stays where it was: a page is unmapped again when all others have had their turn"""
    done = completes(run(["reread", "14", "2"], *under("2.4.14-pre5", "--ram", "16M", "--swap", "15M", "--param", "trace.entries=40000", lab=True)))
    unmapped = [int(address, 16) for address in re.findall(r" UNMAP .* pid=0x2 addr=(0x\w+)", "\n".join(done.trace))]
    back = sum(now < before for before, now in zip(unmapped, unmapped[1:]))
    calls = done.counters["swap_out_calls"]
    done.expect(len(unmapped) > 1000 and back < calls / 4, f"{back} times back among {len(unmapped)} PTEs in {calls} calls")


def test_reclaim_24_08():
    """too many mapped pages end shrink_cache, or else it goes on: that is what it looks at for each call of swap_out"""
    leaves, goes_on = (run(REREAD, *under(policy, *ROOMY, lab=True)) for policy in ("2.4.14-pre5", "skraw1"))
    per_call = [scanned(done) / done.counters["swap_out_calls"] for done in (leaves, goes_on)]
    goes_on.expect(per_call[0] < 500 < per_call[1], f"pages looked at for a call: {per_call}")


def test_reclaim_24_09():
    """when nothing can be freed kswapd sleeps for a second, and allocating threads do the work"""
    done = completes(run(REREAD, *under("2.4.14-pre5", *TIGHT, lab=True)))
    c = done.counters
    done.expect(c["pageoutrun"] < done.json["elapsed_seconds"] * 3 + 5 and c["reclaim_failed"] > 100 and
                c["allocstall"] > 20 * c["pageoutrun"], f"{c['pageoutrun']} runs, {c['allocstall']} stalls")


@pytest.mark.parametrize("policy", ["2.4.13", "2.4.14-pre6"], ids=["reclaim-24-73", "reclaim-24-74"])
def test_reclaim_24_buffers(policy):
    """a frame goes to the buffer heads of 40 pages that were written or read, and all of them come back"""
    settled = "dropcaches > /dev/null; free"
    done = run(f"true; {settled}; hogmem 12 3; {settled}; audit", *under(policy, "--ram", "12M", "--swap", "24M", "--param", "overcommit=1"))
    c = done.counters
    free = [int(n) for n in re.findall(r"^Mem:\s+\d+\s+\d+\s+(\d+)", done.out, re.MULTILINE)]
    done.expect(c["buffer_frames"] > c["pswpin"] / 80 > 20, f"{c['buffer_frames']} frames for {c['pswpin']} pages read, {c['pswpout']} written")
    done.expect(len(free) == 2 and free[0] == free[1], f"free before and after: {free}")


# ---- the thread of October 2001 ----

def test_reclaim_24_10():
    """Q3: with swap full of slots of pages in memory, pre6 kills; Q4: and nothing changes if slots go above 80 percent cached"""
    plain, rule = (killed(run(REREAD, *under("2.4.14-pre6", *TIGHT, *more, lab=True))) for more in ((), ("--param", "swap.free=80")))
    plain.expect(plain.counters["reclaim_failed"] >= 100 and plain.counters["pswpin"] > 0, "it was another kill")
    changed = {name: (plain.counters[name], now) for name, now in rule.counters.items() if now != plain.counters[name]}
    rule.expect(not changed.keys() - TICKING, f"the rule of 80 percent changed {changed}")


@pytest.mark.parametrize("policy, more", [("2.4.14-pre6", ("--param", "swap.free=50")), ("2.4.14", ())],
                         ids=["reclaim-24-11", "reclaim-24-12"])
def test_reclaim_24_half(policy, more):
    """Q4: nobody is killed if slots go as soon as more than half of them are in use"""
    done = completes(run(REREAD, *under(policy, *TIGHT, *more, lab=True)))
    done.expect(done.counters["pswpin"] > 10000, "it hardly swapped")


def test_reclaim_24_13():
    """Q5: nor if there are more slots than pages"""
    completes(run(REREAD, *under("2.4.14-pre6", *ROOMY, lab=True)))


@pytest.mark.parametrize(**numbered(14, ("2.4.13", "aa", "2.4.14-pre5")))
def test_reclaim_24_full(policy):
    """Q3, Q7, Q8: the others complete; swap fills up in reading, and from the last slot on nothing is written but much read"""
    done = completes(run(REREAD, *under(policy, *TIGHT, lab=True)))
    c = done.counters
    done.expect(c["swap_total_pages"] - 2 <= c["pswpout"] <= c["swap_total_pages"] and c["pswpin"] > 4 * c["pswpout"],
                f"{c['swap_total_pages']} slots, {c['pswpout']} written, {c['pswpin']} read")


@pytest.mark.parametrize(**numbered(17, ("skraw1", "skraw2")))
def test_reclaim_24_skraw(policy):
    """Q10: with von Krawczynski's patches nobody is killed, and kswapd works ten times as much"""
    done = completes(run(REREAD, *under(policy, *TIGHT, lab=True)))
    before = killed(run(REREAD, *under("2.4.14-pre6", *TIGHT, lab=True)))
    rates = [d.json["kswapd_seconds"] / d.json["elapsed_seconds"] for d in (before, done)]
    done.expect(rates[1] > 10 * rates[0], f"parts of the time that kswapd worked: {rates}")


# ---- and all the rest works under them ----

@pytest.mark.parametrize(**numbered(19, POLICIES))
def test_reclaim_24_qsbench(policy):
    """a sort that doesn't fit is right, and the audit finds nothing"""
    done = shell("qsbench -n 1800000", *under(policy, *SMALL))
    done.expect(done.counters["pswpin"] > 100 and done.counters["oom_kill"] == 0, "it hardly swapped, or somebody was killed")


@pytest.mark.parametrize(**numbered(26, POLICIES))
def test_reclaim_24_stress(policy):
    """random calls of many processes that swap, swapoff among them: every byte is what it should be"""
    done = run("stress -n 40 -p 4 -r 2; audit", *under(policy, "--ram", "10M", "--swap", "16M", "--swap", "16M", "--tests"))
    done.expect(re.search(r"^well: ", done.out, re.MULTILINE) and "INV" not in done.log and done.exit == 0, done.out[-900:])


@pytest.mark.parametrize(**numbered(70, ("2.4.13", "2.4.14-pre5", "aa")))
def test_reclaim_24_no_swap(policy):
    """without swap whoever fills the memory is killed, though kswapd alone asks, and others live"""
    done = run("hogmem 12 1; echo alive; audit", *under(policy, "--ram", "8M", "--param", "overcommit=1", "--timeout", "60"))
    done.expect(done.cause == "oom" and "alive" in done.out and "audit: 0" in done.out, done.out + done.log[-600:])


AREAS = {"t_object_swap": ("48M",), "t_mlock": ("64M",), "t_swap_areas": ("4M:9", "8M:5", "8M:5", "48M:3")}
# pre6 kills or calls swapoff off where memory is this short, by its rule; pre5, its like, doesn't.
PROGRAMS = [(program, policy) for program in AREAS for policy in ("2.4.13", "2.4.14-pre5" if program == "t_object_swap" else "2.4.14-pre6")]


@pytest.mark.parametrize("program, policy", PROGRAMS, ids=[f"reclaim-24-{n:02}" for n in range(33, 33 + len(PROGRAMS))])
def test_reclaim_24_program(program, policy):
    """shared memory goes and comes, locked memory stays, areas leave"""
    areas = [word for size in AREAS[program] for word in ("--swap", size)]
    done = run(f"{program}; audit", *under(policy, "--ram", "12M", *areas, "--tests", "--timeout", "250"))
    wrong = [line for line in done.out.splitlines() if line.startswith("not ok")]
    done.expect(not wrong and "ok " in done.out and "INV" not in done.log and done.exit == 0, f"exit {done.exit}: {wrong}")


@pytest.mark.parametrize("reverse_map, policy", [("anon_vma", "2.4.14"), ("anonmm", "aa")], ids=["reclaim-24-39", "reclaim-24-40"])
def test_reclaim_24_refused(reverse_map, policy):
    """a build with a reverse map refuses them by name, and says what it needs"""
    done = run("true", "--rmap", reverse_map, "--param", f"reclaim={policy}")
    done.expect(done.cause == "panic" and f"reclaim={policy}" in done.log and "RMAP=scan" in done.log, done.log[-500:])

"""What comes out of a run while it runs, samples and streamed records: it must change nothing."""
import pytest

from harness.guest import run

SMALL = ("--lab", "--ram", "8M", "--swap", "16M")
SORT = "qsbench -n 2300000; hogmem 8 2"
EVENTS = "SWAP_IN,SWAP_OUT,SWAP_FOUND,MAP,UNMAP,DISK,DISK_DONE,KSWAPD_WAKE,KSWAPD_SLEEP,DIRECT,SWITCH,CALL,REPLY,FAULT,EXIT"
PARAMETERS = ("sample.ms", "trace.stream")


def unchanged(still, watched):
    """All results of `watched` are those of `still`, but for the parameters and what they ask for."""
    still.expect(still.exit == 0 and still.out == watched.out and still.trace, watched.err[-300:] or "output differs")
    still.expect(still.trace == watched.trace, "traces differ")
    watched.json.pop("samples", None)
    for name in PARAMETERS:
        still.json["config"].pop(name, None)
        watched.json["config"].pop(name, None)
    different = [k for k in still.json if still.json[k] != watched.json.get(k)]
    still.expect(still.json == watched.json, f"figures differ: {different}")


@pytest.mark.slow
def test_lab_sample_01():
    """sampling each millisecond changes no figure, no moment and no record of a lab run"""
    unchanged(run(SORT, *SMALL), run(SORT, *SMALL, "--param", "sample.ms=1"))


@pytest.mark.slow
def test_lab_sample_02():
    """nor does streaming, of rare events and of each switch, call and page"""
    unchanged(run(SORT, *SMALL), run(SORT, *SMALL, "--param", f"trace.stream={EVENTS}", "--param", "sample.ms=7"))


def test_lab_sample_03():
    """rows rise, are as many as asked for, and the last one has the report's counters"""
    done = run("hogmem 12 2; sleep 3; hogmem 4 1", *SMALL, "--param", "sample.ms=100")
    samples = done.json["samples"]
    columns, rows = samples["columns"], samples["rows"]
    done.expect(columns[:6] == ["time", "free", "swap_used", "swap_cached", "active", "inactive"], f"{columns}")
    done.expect(all(len(row) == len(columns) for row in rows), "a row is short")
    for before, after in zip(rows, rows[1:]):
        done.expect(before[0] < after[0] and all(a <= b for a, b in zip(before[6:], after[6:])), f"{before} {after}")
    busy = done.json["elapsed_seconds"] - done.json["idle_seconds"]
    done.expect(10 * busy <= len(rows) <= 10 * done.json["elapsed_seconds"] + 1, f"{len(rows)} rows")
    last = dict(zip(columns, rows[-1]))
    done.expect(all(done.counters[name] == last[name] for name in columns if name in done.counters), f"{last}")
    done.expect(last["free"] == done.counters["free_pages"] and last["swap_cached"] == done.counters["swap_cached_pages"],
                f"{last}")
    done.expect(abs(last["time"] / 1e9 - done.json["elapsed_seconds"]) < 1e-4, f"{last}")


def test_lab_sample_04():
    """outside the lab, with and without a TSC, there are samples too"""
    for cpu in ("pentium3", "486"):
        done = run("hogmem 12 2", "--ram", "8M", "--swap", "16M", "--cpu", cpu, "--param", "sample.ms=50")
        rows = done.json["samples"]["rows"]
        done.expect(done.exit == 0 and len(rows) >= 5 * done.json["elapsed_seconds"], f"{cpu}: {len(rows)} rows")
        done.expect(rows[-1][6] == done.counters["pswpin"] > 0, f"{cpu}: {rows[-1]}")


def test_lab_sample_05():
    """an event that isn't there is refused in words, and those that are stay wanted"""
    done = run("true", "--lab", "--param", "trace.stream=MAP,NOSUCH,,EXIT")
    done.expect(done.exit == 0 and "trace.stream: no event is called NOSUCH" in done.log, done.log[:600])

"""mm/README.md tells the life of one page; the trace of a real page must tell the same."""
import os
import re

import pytest

from harness.guest import ROOT, run

ROW = re.compile(r"^\|[^|]*\| `([A-Z_]+)` \| `(\w+)\(\)` in `([^`]+)` \|")
README = os.path.join(ROOT, "mm", "README.md")


def table():
    """The rows of the README's table: [(event, function, file)]."""
    with open(README, encoding="utf-8") as f:
        return [match.groups() for match in map(ROW.match, f) if match]


def parse(line):
    _time, event, *fields = line.split()
    return event, {k: int(v, 0) for k, v in (field.split("=") for field in fields)}


def life(lines, pid, addr):
    """The events of the page that `pid` has at `addr`, from the first touch on. ALLOC, and the
    frames' other lives while the page is on disk, are told apart by what happens in between."""
    records = [parse(line) for line in lines]
    start = max(i for i, (event, d) in enumerate(records)
                if event == "ZERO_FILL" and d["pid"] == pid and d["addr"] == addr)
    while records[start][0] != "FAULT":
        start -= 1
    events, pfn, slot = [], None, None
    for event, d in records[start:]:
        ours = d.get("addr") == addr and (event in ("MAP", "UNMAP") or d.get("pid") == pid)
        by_pfn = pfn is not None and d.get("pfn") == pfn
        by_slot = slot is not None and d.get("slot") == slot
        if event == "ALLOC" and pfn is None:
            events.append(event)
        elif ours or by_pfn or by_slot:
            events.append(event)
            if event == "FREE" and by_pfn:
                pfn = 0
            elif event in ("ZERO_FILL", "MAP") or event == "SWAP_IN":
                pfn = d["pfn"]
            elif event == "SWAP_ALLOC":
                slot = d["slot"]
    return events


def without_repeats(events):
    return [e for i, e in enumerate(events) if i == 0 or e != events[i - 1]]


def test_mm_life_01():
    """each step of the table names a function that stands in the file named"""
    rows = table()
    assert len(rows) >= 20, f"mm/README.md: only {len(rows)} rows are understood"
    for event, function, path in rows:
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            text = f.read()
        assert re.search(rf"^[A-Za-z][\w\s*]*\b{function}\(", text, re.MULTILINE), f"{path} has no {function}()"
    with open(os.path.join(ROOT, "kernel", "trace.def"), encoding="utf-8") as f:
        known = set(re.findall(r"^X\((\w+),", f.read(), re.MULTILINE))
    assert {row[0] for row in rows} <= known


@pytest.mark.kept_map
def test_mm_life_02():
    """the trace of a page that is swapped out and in tells the table's steps, in its order"""
    done = run("onepage", "--lab", "--ram", "16M", "--swap", "32M", "--param", "trace.entries=131072")
    done.expect(done.exit == 0, f"exit {done.exit} ({done.cause}): {done.err[-300:]}")
    found = re.search(r"pid (\d+) address (0x[0-9a-f]+)", done.out)
    done.expect(found, f"onepage said {done.out!r}")
    told = without_repeats(life(done.trace, int(found.group(1)), int(found.group(2), 16)))
    wanted = without_repeats([row[0] for row in table()])
    done.expect(told == wanted, f"trace: {' '.join(told)}; README: {' '.join(wanted)}")

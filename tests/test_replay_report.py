"""Replays: the report, one small job from end to end, and the latency probe. docs/replays.md."""
import glob
import html.parser
import json
import os
import re
import subprocess

import pytest

from harness import replays
from harness.guest import ROOT, run as guest_run
from harness.replays import job, judge       # tools/replaylib, which that module finds
from replaylib import figures, report, tables


def known_rows():
    return [row.id for row in tables.Tables().rows]


# ---- the report ----

class Tags(html.parser.HTMLParser):
    """Checks that tags are balanced and gathers what would be fetched."""
    VOID = {"meta"}

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.wrong, self.fetched, self.words = [], [], [], [], []

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            if name in ("src", "srcset", "data", "action") or name == "href" and not value.startswith("#"):
                self.fetched.append(value)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append((tag, self.getpos()))

    def handle_data(self, data):
        self.words.append(data)


def test_replay_report_01(tmp_path):
    """the report is one well-formed page that fetches nothing; rows, stories, the threads' figures and the hash are in it"""
    known = replays.fill(tmp_path)
    done = replays.tool("--collect", "--out", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    tags = Tags()
    tags.feed(page)
    assert not tags.wrong and not tags.open and len(set(tags.ids)) == len(tags.ids)
    assert not tags.fetched and not re.search(r"https?:|//[a-z]|@import|url\(|<(?:script|link|img|iframe)", page)
    assert set(known_rows()) <= set(tags.ids) and page.count("<svg ") >= 20
    words = " ".join(" ".join(tags.words).split())
    for thread in known.threads:
        assert " ".join(thread["story"].split()) in words
    for figure in ("6.15 + 5.77", "76003", "184.15", "20173", "195512", "12744"):
        assert figure in words, figure
    assert job.Results(str(tmp_path)).digest_of_all(known.runs) in words and str(tmp_path) not in page


def test_replay_report_02(tmp_path):
    """the same results give the same report and hash, whenever and in whatever order they came; another result another hash"""
    known = replays.fill(tmp_path / "a")
    for run in reversed(known.runs):
        replays.write(str(tmp_path / "b"), run, replays.made_up(run))
    pages = []
    for folder in ("a", "b", "a"):
        replays.tool("--collect", "--out", str(tmp_path / folder))
        pages.append((tmp_path / folder / "index.html").read_bytes())
    assert pages[0] == pages[1] == pages[2]
    before = replays.tool("--hash", "--out", str(tmp_path / "a")).stdout
    assert before == replays.tool("--hash", "--out", str(tmp_path / "b")).stdout and "44 of 44" in before
    made = replays.made_up(known.runs[0])
    made["run"]["counters"]["pswpin"] += 1
    replays.write(str(tmp_path / "a"), known.runs[0], made)
    assert before != replays.tool("--hash", "--out", str(tmp_path / "a")).stdout


def test_replay_report_03(tmp_path):
    """jobs that are missing, failed or of another command are told as that, with the cause; then --collect fails"""
    known = replays.fill(tmp_path, leave={"qs-pre6-s2"})
    late, other = known.run("qs-pre5-s1"), known.run("m1-patch-s3")
    replays.write(str(tmp_path), late, dict(replays.made_up(late), cause="timeout", words="timeout: 1000.5 s of virtual time"))
    replays.write(str(tmp_path), other, dict(replays.made_up(other), command="tools/run other"))
    done = replays.tool("--collect", "--out", str(tmp_path))
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert done.returncode == 1 and "42 of 44 jobs, 1 of them failed" in done.stdout
    assert re.search(r"^Q3 +A +incomplete", done.stdout, re.MULTILINE) and re.search(r"^Z1 +A +incomplete", done.stdout, re.MULTILINE)
    assert "qs-pre6-s2 (missing)" in page and "qs-pre5-s1 (timeout)" in page and "made by another command" in page
    assert "<td>failed: timeout</td>" in page and "timeout: 1000.5 s of virtual time" in page


def test_replay_report_04(tmp_path):
    """nothing at all, and results of runs without samples or counters, still make a report; what is said is what counters show"""
    done = replays.tool("--collect", "--out", str(tmp_path / "none"))
    page = (tmp_path / "none" / "index.html").read_text(encoding="utf-8")
    assert done.returncode == 1 and page.count(">incomplete<") == 2 * len(known_rows()) and "<td>missing</td>" in page
    known = replays.fill(tmp_path)
    assert "At most 40 % of all slots had their page in memory" in " ".join(replays.verdict(tmp_path, "Q4").words)
    for run in known.runs:
        made = replays.made_up(run)
        made["run"].pop("samples", None)
        made["run"].update(counters={}, disks={})
        replays.write(str(tmp_path), run, made)
    assert replays.verdict(tmp_path, "Q4").words == [] and replays.verdict(tmp_path, "Q7").verdict == judge.INCOMPLETE
    replays.tool("--collect", "--out", str(tmp_path))
    assert "no figure: " in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_replay_notes_01(tmp_path):
    """docs/replays.md tells of each row, and what it notes by hand stands in the report"""
    with open(report.NOTES, encoding="utf-8") as f:
        text = f.read()
    assert not [ident for ident in known_rows() if not re.search(rf"^\| {ident} \|", text, re.MULTILINE)]
    assert set(report.notes()) <= set(known_rows())
    (tmp_path / "x.md").write_text("# X\n\n### Q3\n\nby hand &\nmore\n\n### Q4\n\n## Other\n\nno\n", encoding="utf-8")
    assert report.notes(tmp_path / "x.md") == {"Q3": "by hand &\nmore", "Q4": ""}


# ---- in the machine ----

JOBS = """
[common]
rmap = "anon_vma"
param = { disk = "model:fixed" }
timeout = 60
[machine.small]
about = "a small one"
ram = "12M"
swap = ["12M:1", "12M:1"]
[kernel]
now = { reclaim = "2.6" }
few = { reclaim = "2.6", "swap.readahead" = "1" }
[job.with]
machine = "small"
kernel = "now"
command = "time hogmem 14 2; hogmem 7 2 & hogmem 7 2 & wait"
seeds = [1]
cost = 1
[job.without]
machine = "small"
kernel = "few"
command = "time hogmem 14 2; hogmem 7 2 & hogmem 7 2 & wait"
seeds = [1]
cost = 2
"""
ROWS = """
[[row]]
id = "T1"
strength = "A"
claim = "Readahead helps."
jobs = { many = "with", one = "without" }
reproduced = "many.speed_one > one.speed_one and many.find_rate > one.find_rate and many.completed"
mechanism = "Fewer reads."
compare = [{ what = "MB/s", figure = "speed_one", digits = 2, thread = { many = "1" } }]
"""
THREAD = 'id = "tiny"\ntitle = "Tiny"\nstory = "None."\n'


def write_tables(folder, jobs):
    """Tables of one thread with one row, for the build that this test runs with."""
    jobs = jobs.replace('"anon_vma"', f'"{os.environ["RMAP"]}"')
    for name, text in (("jobs.toml", jobs), ("tiny-rows.toml", ROWS), ("tiny.toml", THREAD)):
        (folder / name).write_text(text, encoding="utf-8")


def test_replay_run_01(tmp_path):
    """a small job runs twice to the same bytes; its figures, verdict and report come out of what the machine told"""
    out, own = str(tmp_path / "out"), str(tmp_path)
    write_tables(tmp_path, JOBS)
    listed = replays.tool("--list", "--tables", own, "--out", out).stdout.splitlines()
    assert [line.split()[2] for line in listed] == ["without-s1", "with-s1"]
    for line in listed:
        done = subprocess.run(line, shell=True, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0 and "exit 0" in done.stdout, done.stdout + done.stderr
    first = (tmp_path / "out" / "jobs" / "with-s1.json").read_bytes()
    subprocess.run(listed[1], shell=True, cwd=ROOT, capture_output=True, check=True)
    assert (tmp_path / "out" / "jobs" / "with-s1.json").read_bytes() == first
    kept = json.loads(first)
    assert "host_seconds" not in kept["run"] and kept["cause"] == "exit" and kept["command"] in listed[1]
    f = figures.Figures(kept)
    assert f["speed_two"] > 0 and f["pf"] > 10 and 0 < f["user"] < f["elapsed"] and f["swap_kb"] > 20000
    done = replays.tool("--collect", "--tables", own, "--out", out)
    assert done.returncode == 0 and re.search(r"^T1 +A +reproduced", done.stdout, re.MULTILINE), done.stdout + done.stderr


@pytest.mark.parametrize("command, limit, timeout, cause", [("hogmem 4", "1", "1000", "host"), ("sleep 2", "100", "1", "timeout")],
                         ids=["replay-run-02", "replay-run-03"])
def test_replay_run_ends(tmp_path, command, limit, timeout, cause):
    """a run without an end is ended, by the host's limit or the table's, and is a result with its cause"""
    jobs = re.sub(r"(timeout = )\d+", rf"\g<1>{timeout}", JOBS).replace("time hogmem 14 2; hogmem 7 2 & hogmem 7 2 & wait", command)
    write_tables(tmp_path, jobs)
    done = replays.tool("--job", "with-s1", "--tables", str(tmp_path), "--out", str(tmp_path), "--host-seconds", limit)
    assert done.returncode == 0 and f"failed: {cause}" in done.stdout, done.stdout + done.stderr
    kept = json.loads((tmp_path / "jobs" / "with-s1.json").read_text(encoding="utf-8"))
    assert kept["cause"] == cause and kept["words"]
    assert not glob.glob(str(tmp_path / "jobs" / "*.part"))


LINE = r"%s ms: min (\d+\.\d{3}) median (\d+\.\d{3}) 99%% (\d+\.\d{3}) max (\d+\.\d{3})"


def test_replay_latency_01():
    """the probe wakes ten times a second and is in time on an idle machine"""
    done = guest_run("latency -s 3", "--lab", "--ram", "8M")
    done.expect(done.exit == 0 and "latency: 30 wakes every 100 ms, 64 pages" in done.out, done.out)
    for what in ("late", "touch", "both"):
        match = re.search("^" + LINE % what, done.out, re.MULTILINE)
        done.expect(match and float(match.group(4)) < 1, done.out)


def test_replay_latency_02():
    """beside hogs it waits for its pages, the longer the more it has; it ends with its command and as that does"""
    done = guest_run("latency latency -e 1000 -p 256 sh -c 'hogmem 12 3 & hogmem 12 3 & wait; exit 3'", "--lab", "--ram", "12M", "--swap", "40M")
    done.expect(done.exit == 3, f"exit {done.exit}: {done.out}")
    f = figures.Figures({"run": done.json, "output": done.out.splitlines(), "cause": "exit"})
    done.expect(f["desktop_max"] > 10 and f["desktop_max"] > f["typing_median"] and f["typing_max"] >= f["typing_99"] >= f["typing_median"], done.out)
    done.expect(f["speed_pair"] > 0, done.out)


def test_replay_latency_03():
    """wrong options, and neither time nor command, are refused"""
    for words in ("", "-s 2 true", "-p 0 true", "-x true"):
        done = guest_run(["latency", *words.split()], "--ram", "8M", json_wanted=False)
        done.expect(done.exit == 2 and "usage: latency" in done.out, f"{words}: {done.exit} {done.out}")

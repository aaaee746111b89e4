"""Replays: the tables, the jobs they make, and the verdicts. docs/replays.md."""
import os
import re
import runpy
import shlex
import shutil
import subprocess

import pytest

from harness import replays
from harness.guest import ROOT
from harness.replays import job, judge, tables      # tools/replaylib, which that module finds
from replaylib import figures, vmstat

# The rows of the two threads and what weight each has.
STRENGTHS = {"Z1": "A", "Z2": "A", "Z3": "A", "Z4": "B", "Z5": "B", "Z6": "B", "Q1": "B", "Q2": "C", "Q3": "A", "Q4": "A", "Q5": "A",
             "Q6": "B", "Q7": "A", "Q8": "A", "Q9": "B", "Q10": "A", "Q11": "B", "Q13": "B"}
SEEDS_OF_A = 3
POLICIES = {"2.2", "2.4.9", "2.4.13", "2.4.14-pre5", "2.4.14-pre6", "2.4.14", "aa", "skraw1", "skraw2"}


# ---- tables ----

def test_replay_rows_01():
    """every row of the two threads is there, with claim, bound, mechanism and figures; those of strength A have three seeds"""
    known = tables.Tables()
    assert {row.id: row.strength for row in known.rows} == STRENGTHS
    for row in known.rows:
        assert row.claim.endswith(".") and row.mechanism.endswith(".") and row.compare and row.reproduced, row.id
        assert any(line.get("thread") for line in row.compare), f"{row.id}: no figure of the thread"
        if row.strength == "A":
            few = [name for name in row.jobs.values() if len(known.jobs[name]["seeds"]) < SEEDS_OF_A]
            assert not few, f"{row.id}: {few}"
    used = {name for row in known.rows for name in row.jobs.values()} | {run["job"] for t in known.threads for run in t.get("run", [])}
    assert used == set(known.jobs), f"jobs for nothing: {set(known.jobs) - used}"


def test_replay_rows_02():
    """all that rows name is a figure of tools/replaylib/figures.py or a counter of the kernel"""
    with open(os.path.join(ROOT, "kernel", "counters.def"), encoding="utf-8") as f:
        counters = set(re.findall(r"^X\((\w+)\)", f.read(), re.MULTILINE))
    for row in tables.Tables().rows:
        texts = [row.reproduced, row.different or "0"] + [rule["when"] for rule in row.says]
        texts += [field for rule in row.says for field, _ in judge.FIELD.findall(rule["say"])]
        named = [pair for text in texts for pair in judge.names(text)]
        named += [(alias, line["figure"]) for line in row.compare for alias in row.jobs]
        for alias, figure in named:
            assert alias in row.jobs, f"{row.id}: no alias {alias}"
            assert figure in counters or hasattr(figures.Figures, "figure_" + figure), f"{row.id}: no figure {figure}"


def test_replay_rows_03():
    """a table that doesn't fit together is refused, with the place"""
    known = tables.Tables()
    known.rows[0].jobs = {"before": "nonesuch"}
    with pytest.raises(tables.TableError, match="Z1: no job nonesuch"):
        known._check()
    known.rows[0].jobs = {"with": "m1-pre6"}
    with pytest.raises(tables.TableError, match="Z1: with can't be a name"):
        known._check()
    done = replays.tool("--collect", "--rows", "Z1,Z99")
    assert done.returncode == 2 and "no row Z99" in done.stderr
    done = replays.tool("--job", "nonesuch")
    assert done.returncode == 2 and "no job nonesuch" in done.stderr


# ---- jobs ----

def test_replay_list_01():
    """--list tells a command a job, long ones first, and the tools/run command behind it has options that there are"""
    known, parser = tables.Tables(), runpy.run_path(os.path.join(ROOT, "tools", "run"))["make_parser"]()
    lines = replays.tool("--list").stdout.splitlines()
    assert len(lines) == len(known.runs) == len(set(lines))
    costs = []
    for line in lines:
        words = shlex.split(line, comments=True)
        assert words[:2] == ["tools/replay", "--job"] and len(words) == 3, line
        run = known.run(words[2])
        costs.append(run.cost)
        assert line.endswith("# " + run.shell())
        argv = list(run.argv)
        at = argv.index("--mips")
        assert 1000 % int(argv[at + 1]) == 0
        del argv[at:at + 2]
        args = parser.parse_args(argv)
        parameters = dict(word.split("=", 1) for word in args.param)
        assert args.lab and parameters["reclaim"] in POLICIES and parameters["disk"].startswith("model:ata")
    assert costs == sorted(costs, reverse=True)


def test_replay_list_02():
    """--rows leaves the jobs that these rows need, and no others; a run serves all rows that need it"""
    done = replays.tool("--list", "--rows", "Q3,Z4")
    names = {shlex.split(line, comments=True)[2] for line in done.stdout.splitlines()}
    assert names == {f"{name}-s{seed}" for name in ("m1-pre6", "qs-pre5", "qs-pre6") for seed in (1, 2, 3)}


def test_replay_make_01(tmp_path):
    """make has a target a job, which needs no other job, and runs none whose result is there and of the same command"""
    def dry(*words):
        kernel = [f"MAP={tmp_path.name}", f"OUT={tmp_path}"]
        return subprocess.run(["make", "-n", "-j2", "--no-print-directory", "-f", "tools/make/replay.mk", *kernel, *words], cwd=ROOT,
                              capture_output=True, text=True, check=False)
    products = os.path.join(ROOT, "build", tmp_path.name)
    os.makedirs(products)
    try:
        for name in ("clockhand", "system.arc"):
            with open(os.path.join(products, name), "w", encoding="utf-8"):
                pass
        done = dry()
        names = re.findall(r"--job (\S+)", done.stdout)
        assert sorted(names) == sorted(run.name for run in tables.Tables().runs), done.stderr
        one = dry(f"{tmp_path}/jobs/{names[0]}.json").stdout
        assert re.findall(r"--job (\S+)", one) == [names[0]] and "--collect" not in one
        known = replays.fill(tmp_path)
        assert "--job" not in dry().stdout
        other = dict(replays.made_up(known.runs[0]), command="tools/run something else")
        replays.write(str(tmp_path), known.runs[0], other)
        failed = dict(replays.made_up(known.runs[1]), cause="timeout", words="too slow")
        replays.write(str(tmp_path), known.runs[1], failed)
        assert re.findall(r"--job (\S+)", dry().stdout) == [known.runs[0].name, known.runs[1].name]
    finally:
        shutil.rmtree(products)


# ---- verdicts ----

def sort(name, **changes):
    """The made-up sort `name`, changed."""
    fields = ("user", "system", "elapsed", "pf", "kswapd", "cause", "before")
    return tuple(changes.get(field, value) for field, value in zip(fields, replays.SORTS[name]))


def hogs(name, *speeds, found=None):
    return (speeds or replays.HOGS[name][0], found or replays.HOGS[name][1])


def desk(typing=(0.0, 0.0, 0.0), desktop=(0.0, 0.0, 0.0)):
    return (typing, desktop)


# Of each row: what makes it different, and what makes it not reproduced.
CHANGES = {
    "Z1": ({"m1-patch": hogs("m1-patch", 21.5, 6, 6)}, {"m1-patch": hogs("m1-patch", 10.7, 6, 6)}),
    "Z2": ({"m1-patch": hogs("m1-patch", 13, 3.9, 4.0)}, {"m1-patch": hogs("m1-patch", 13, 1.9, 1.9)}),
    "Z3": ({"m1-patch": hogs("m1-patch", found=(20000, 194300))}, {"m1-patch": hogs("m1-patch", found=(13000, 194300))}),
    "Z4": ({"m1-pre6": hogs("m1-pre6", 10, 4, 4)}, {"m1-pre6": hogs("m1-pre6", 10, 6, 6)}),
    "Z5": (None, {"m2-patch": hogs("m2-patch", 6.5, 0.5, 0.5)}),
    "Z6": ({"desk-patch": desk((0.01, 30.0, 200.0), (5000.0, 7000.0, 8000.0))}, {"desk-patch": desk()}),
    "Q1": ({"qs-pre5": sort("qs-pre5", pf=30000)}, {"qs-pre5": sort("qs-pre5", pf=30000, elapsed=150.0)}),
    "Q2": ({"qs-2_4_9": sort("qs-2_4_9", pf=30000)}, {"qs-2_4_9": sort("qs-2_4_9", pf=30000, elapsed=130.0)}),
    "Q3": ({"qs-pre6": sort("qs-pre6", user=40.0)}, {"qs-pre5": sort("qs-pre5", cause="oom")}),
    "Q4": ({"qs-pre6-80": sort("qs-pre6-80", cause="exit")}, {"qs-pre6-50": sort("qs-pre6-50", cause="oom")}),
    "Q5": (None, {"qs-pre6-80-400": sort("qs-pre6-80-400", cause="oom")}),
    "Q6": ({"qs-pre5": sort("qs-pre5", before=100000)}, {"qs-2_4_13": sort("qs-2_4_13", before=150000)}),
    "Q9": ({"qs-2_4_13": sort("qs-2_4_13", kswapd=9.0)}, {"qs-pre5": sort("qs-pre5", kswapd=9.0)}),
    "Q10": ({"qs-skraw1": sort("qs-skraw1", elapsed=170.0)}, {"qs-skraw2": sort("qs-skraw2", cause="oom")}),
    "Q11": (None, {"qs-aa": sort("qs-aa", cause="oom")}),
    "Q13": ({"qs-always-400": sort("qs-always-400", elapsed=190.0)}, {"qs-final": sort("qs-final", cause="oom")})}


@pytest.mark.parametrize("thread, rows", [("mm-fix", "Z"), ("qsbench", "Q")], ids=["replay-judge-01", "replay-judge-02"])
def test_replay_judge(tmp_path, monkeypatch, thread, rows):
    """on the thread's own figures each row is reproduced; each other verdict that it has can be reached"""
    known = replays.fill(tmp_path)
    for row in known.rows:
        if row.thread != thread:
            continue
        assert replays.verdict(tmp_path, row.id).verdict == judge.REPRODUCED, row.id
        for wanted, changes in zip((judge.DIFFERENT, judge.NOT), CHANGES.get(row.id, ())):
            for name, entry in (changes or {}).items():
                table = next(t for t in (replays.SORTS, replays.HOGS, replays.DESKS) if name in t)
                with monkeypatch.context() as patch:
                    patch.setitem(table, name, entry)
                    for run in known.runs_of(name):
                        replays.write(str(tmp_path), run, replays.made_up(run))
                assert replays.verdict(tmp_path, row.id).verdict == wanted, f"{row.id} {wanted}"
                for run in known.runs_of(name):
                    replays.write(str(tmp_path), run, replays.made_up(run))
    assert all(name.startswith(rows) or name in CHANGES for name in CHANGES)


# Swap over time of one job: samples' arguments filled kB, and pages written a second once swap is full.
@pytest.mark.parametrize("filled, written, seven, eight", [
    (195512, 0, judge.REPRODUCED, judge.REPRODUCED), (195512, 200, judge.REPRODUCED, judge.DIFFERENT),
    (195512, 4000, judge.REPRODUCED, judge.NOT), (160000, 0, judge.DIFFERENT, judge.NOT), (142648, 0, judge.NOT, judge.NOT)],
    ids=[f"replay-judge-{n:02}" for n in range(3, 8)])
def test_replay_judge_full(tmp_path, filled, written, seven, eight):
    """Q7 and Q8 are judged by swap over time: does it fill, and is anything written once it has"""
    known = replays.fill(tmp_path)
    for run in known.runs_of("qs-pre5"):
        made = replays.made_up(run)
        made["run"]["samples"] = replays.samples(134, 142648, 195512, filled)
        out = replays.COLUMNS.index("pswpout")
        for n, row in enumerate(made["run"]["samples"]["rows"]):
            row[out] += max(n - 124, 0) * written
        replays.write(str(tmp_path), run, made)
    assert replays.verdict(tmp_path, "Q7").verdict == seven
    assert replays.verdict(tmp_path, "Q8").verdict == eight


def test_replay_judge_08(tmp_path):
    """seeds that disagree are different; a missing or failed run leaves the row incomplete and is named"""
    known = replays.fill(tmp_path)
    second = known.run("qs-pre6-s2")
    made = replays.made_up(second)
    made["cause"] = made["run"]["cause"] = "exit"
    made["run"]["exit"] = 0
    replays.write(str(tmp_path), second, made)
    found = replays.verdict(tmp_path, "Q3")
    assert found.verdict == judge.DIFFERENT and found.verdicts == {1: judge.REPRODUCED, 2: judge.NOT, 3: judge.REPRODUCED}
    replays.write(str(tmp_path), second, dict(made, cause="timeout", words="too slow"))
    os.remove(job.Results(str(tmp_path)).path(known.run("qs-pre5-s3")))
    found = replays.verdict(tmp_path, "Q3")
    assert found.verdict == judge.INCOMPLETE and found.verdicts == {1: judge.REPRODUCED}
    assert sorted(found.lacking) == [("qs-pre5-s3", "missing"), ("qs-pre6-s2", "timeout")]


def test_replay_judge_09():
    """an expression can compare figures and compute, and nothing else; a figure that isn't told is no figure"""
    scope = judge.Scope({"a": {1: {"x": 3, "y": 4.0}, 2: {"x": 5, "y": 0}}}, 1, {"reproduced": False})
    for text, value in (("a.x + 2 * a.y == 11", True), ("1 <= a.x < 3", False), ("not reproduced and a.x", True), ("lowest(a.y)", 0),
                        ("highest(a.x) / lowest(a.x)", 5 / 3), ("mean(a.x)", 4), ("a.x > 9 or a.y", True)):
        assert judge.evaluate(text, scope) == value, text
    for text in ("__import__('os')", "a.x.real", "a['x']", "b.x", "open(a.x)", "[1][0]", "lambda: 1", "'a'", "a.x ** 9", "a.x >", "a.x = 1"):
        with pytest.raises(judge.ExpressionError):
            judge.evaluate(text, scope)
    with pytest.raises(figures.NoFigure):
        judge.evaluate("a.x / (a.y - a.y)", scope)
    with pytest.raises(figures.NoFigure):
        figures.Figures({"run": {"counters": {}}, "output": [], "cause": "exit"})["positioning"]


def test_replay_vmstat_01():
    """samples become lines of vmstat: rates a second, kilobytes, percents; the quiet before the last pass and full swap are found"""
    lines = vmstat.lines({"samples": replays.samples(60, 100000, 195512, 195512)})
    assert len(lines) == 61 and lines[0].words() == "100000 2400 0 0 0 0 0 0 200 300 50 10 40".split()
    assert lines[45].si == 16000 and lines[45].so == 8000
    assert vmstat.last_quiet(lines).time == 40
    assert [line.time for line in vmstat.full(lines, 195512)] == list(range(50, 60))
    assert figures.Figures(replays.made_up(tables.Tables().run("qs-pre5-s1")))["swpd_before"] == 142648
    assert not vmstat.lines({}) and vmstat.last_quiet([]) is None


def test_replay_vmstat_02():
    """a last pass that ends in what is in memory still is quiet at its end, too, and yet it is the last pass"""
    samples = replays.samples(60, 100000, 195512, 195512)
    end = list(samples["rows"][59])
    for name in ("time", "user_ns"):
        end[replays.COLUMNS.index(name)] += replays.NS
    samples["rows"][60:] = [end]
    lines = vmstat.lines({"samples": samples})
    assert lines[-1].user > 99 and lines[-1].si == 0 and lines[-1].swpd == 195512
    assert vmstat.last_quiet(lines).time == 40
    assert [line.time for line in vmstat.full(lines, 195512)] == list(range(50, 61))

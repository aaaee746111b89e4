"""Pictures of runs: what they show is what happened, and the same run gives the same bytes."""
import functools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import xml.dom.minidom

import pytest

from harness.guest import ROOT, run

sys.path.insert(0, os.path.join(ROOT, "tools"))
from plotlib import arm, cells, faultmap, picture, swapmap          # noqa: E402  (the path comes first)

FOLDER = tempfile.TemporaryDirectory(prefix="clockhand-plots-")
SMALL = ("--lab", "--ram", "8M", "--swap", "16M")
SORT = "qsbench -n 2300000"
OOM = "hogmem 5 60 & hogmem 24 1; wait"
SVG_BYTES_MOST = 1_500_000
README_BYTES_MOST = 300_000
DRIVE = {"disk.rpm": 7200, "disk.outer_kbs": 35000, "disk.inner_kbs": 25000, "disk.heads": 2, "disk.capacity_mb": 40000,
         "disk.offset_mb": 0}


def at(name):
    return os.path.join(FOLDER.name, name)


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def svg(path):
    """The picture's text; it has a title and a description that a screen reader finds."""
    text = read(path)
    root = xml.dom.minidom.parseString(text).documentElement
    assert root.getAttribute("role") == "img" and root.getAttribute("aria-labelledby") == "title desc", text[:200]
    for name in ("title", "desc"):
        found = [e for e in root.getElementsByTagName(name) if e.getAttribute("id") == name]
        assert len(found) == 1 and len(found[0].firstChild.data) > 20, f"no {name}"
    assert not re.search(r"20\d\d-\d\d-\d\d", text) and len(text) < SVG_BYTES_MOST, "a date, or too big"
    return text


def plot(*argv, environment=None):
    done = subprocess.run([sys.executable, os.path.join(ROOT, "tools", "plot"), *map(str, argv)], capture_output=True, text=True,
                          check=False, timeout=300, cwd=FOLDER.name, env=environment)
    assert "Traceback" not in done.stderr, done.stderr
    return done


def drawn(*argv):
    """What tools/plot draws, twice the same."""
    texts = []
    for _ in range(2):
        done = plot(*argv, "-o", at("drawn.svg"))
        assert done.returncode == 0, done.stderr
        texts.append(svg(at("drawn.svg")))
    assert texts[0] == texts[1], "two pictures of one run differ"
    return texts[0]


@functools.cache
def sort():
    """A run with everything: FOLDER's sort.svg, sort.json, sort.stream."""
    done = run(SORT, *SMALL, "--plot", at("sort.svg"), "--stream", at("sort.stream"), "--param", "trace.stream=DISK,DISK_DONE")
    done.expect(done.exit == 0 and os.path.exists(at("sort.svg")), done.err[-300:])
    with open(at("sort.json"), "w", encoding="utf-8") as f:
        json.dump(done.json, f)
    return done


@functools.cache
def killed():
    """A run that ended in an OOM kill with a map of swap, in FOLDER's killed.json."""
    done = run(["sh", "-c", OOM], *SMALL[:3], "--swap", "8M", "--param", "overcommit=1", "--param", "swap.map=oom")
    done.expect(done.cause == "oom", done.err[-300:])
    with open(at("killed.json"), "w", encoding="utf-8") as f:
        json.dump(done.json, f)
    return done


def test_plot_faultmap_01():
    """as many dots as the counters say; the command is the caption; tools/plot draws the same; nothing else changes"""
    done, plain = sort(), run(SORT, *SMALL)
    text = svg(at("sort.svg"))
    shown = {words: int(n) for words, n in re.findall(r">(page-in|readahead hit|page-out)[^<(]*\((\d+)\)<", text)}
    done.expect(shown["page-in"] == done.counters["pgmajfault"] > 0, f"{shown}")
    done.expect(0 < shown["readahead hit"] <= done.counters["swap_readahead"], f"{shown}")
    done.expect(0 <= done.counters["pswpout"] - shown["page-out"] <= done.counters["pswpout"] // 50, f"{shown}")
    done.expect("tools/run" in text and "--ram 8M" in text and "2300000" in text, "no command")
    again = drawn("faultmap", "sort.json", "sort.stream")
    inside = r'<path transform="translate.*?/>'
    done.expect(re.findall(inside, again, re.S) == re.findall(inside, text, re.S), "tools/plot draws other dots")
    done.expect(plain.counters == done.counters and plain.trace == done.trace, "--plot changed the run")


def test_plot_faultmap_02():
    """outside the lab, of several processes: each has its band"""
    done = run("qsbench -n 1500000 -p 4", "--ram", "8M", "--swap", "32M", "--plot", at("four.svg"))
    done.expect(done.exit == 0, done.err[-300:])
    text = svg(at("four.svg"))
    done.expect(len(set(re.findall(r"pid (\d+)", text))) >= 4, text[:1500])


def test_plot_faultmap_03():
    """a run that nothing can be drawn of is said to be one, keeps its status, and leaves no file"""
    done = run(["sh", "-c", "exit 7"], "--lab", "--plot", at("none.svg"))
    done.expect(done.exit == 7 and "no picture" in done.err and not os.path.exists(at("none.svg")), done.err)


def test_plot_stream_01():
    """--stream has the very lines of the trace, for the events that were asked for"""
    wanted = ("SWAP_IN", "MAP", "DISK_DONE", "SWITCH", "KSWAPD_WAKE")
    done = run("hogmem 12 1", "--lab", "--ram", "16M", "--swap", "16M", "--stream", at("some.stream"), "--param", "trace.entries=131072",
               "--param", "trace.stream=" + ",".join(wanted))
    streamed = read(at("some.stream")).splitlines()
    traced = [line for line in done.trace if line.split()[1] in wanted]
    done.expect(len(traced) < len(done.trace) < 131072, "the ring was too small")
    done.expect(len(streamed) > 1000 and streamed == traced, f"{len(streamed)} lines streamed, {len(traced)} traced")


def test_plot_size_01():
    """more dots than cells, in any order, are one small picture"""
    dice = random.Random(4)
    points = [(dice.random(), dice.random(), dice.choice(("a", "b"))) for _ in range(100_000)]
    paths = []
    for _ in range(2):
        grid = cells.Grid(396, 170, (0, 1), (0, 1))
        for x, y, kind in points:
            grid.add(x, y, kind)
        paths.append(grid.paths(("a", "b")))
        dice.shuffle(points)
    assert paths[0] == paths[1] and 1000 < sum(map(len, paths[0].values())) < SVG_BYTES_MOST // 2


def test_plot_cells_01():
    """strokes lie where the dots were, runs are joined, and kinds that share cells get their shares"""
    grid = cells.Grid(10, 10, (0, 10), (0, 10))
    for x, y in ((2.5, 9.5), (3.5, 9.5), (0, 0), (10, 10)):
        grid.add(x, y, "a")
    assert grid.paths(["a"]) == {"a": "m2 0h2m5 0h1m-10 9h1"}
    grid = cells.Grid(100, 1, (0, 100), (0, 1))
    for x in range(100):
        for kind in "abbb":
            grid.add(x, 0.5, kind)
    paths = grid.paths("ab")
    assert sum(map(int, re.findall(r"h(\d+)", paths["a"]))) == 25 and sum(map(int, re.findall(r"h(\d+)", paths["b"]))) == 75


def luminance(color):
    red, green, blue = (int(color[i:i + 2], 16) for i in (1, 3, 5))
    return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255


def test_plot_grey_01():
    """colours that stand side by side differ on grey paper too"""
    for colors in ([picture.DARK, picture.MIDDLE, picture.LIGHT, "#ffffff"], [arm.COLORS[kind] for kind in (arm.READ, arm.WRITE, arm.WAY)]):
        greys = sorted(map(luminance, colors))
        assert min(b - a for a, b in zip(greys, greys[1:])) > 0.14, greys
    owners = [luminance(color) for color in swapmap.OWNERS]
    assert min(abs(a - b) for a, b in zip(owners, owners[1:])) > 0.07, owners


def test_plot_swapmap_01():
    """the map at the kill agrees with what the log says of it, and owners own slots in use"""
    done = killed()
    [m] = done.json["swap_maps"]
    [area] = m["areas"].values()
    states = "".join(word[0] * int(word[1:]) for word in area["states"].split())
    free, total, cached = map(int, re.search(r"slots free (\d+) of (\d+), .*?swap cache (\d+),", done.log).groups())
    done.expect(m["cause"] == "oom" and len(states) == area["slots"] == total + 1, f"{len(states)} slots")
    done.expect(states.count("f") == free and states.count("r") == cached and states[0] == "b", "states differ from the log's")
    owned = {slot: pid for pid, spans in m["owners"].items() for first, count in re.findall(r"\d+:(\d+)\+(\d+)", spans)
             for slot in range(int(first), int(first) + int(count))}
    done.expect(all(states[slot] in "sr" for slot in owned), "somebody owns a free slot")
    victim = re.search(r"killed (\d+) \(hogmem\)", done.log).group(1)
    done.expect(m["tasks"][victim] == "hogmem" and list(owned.values()).count(victim) > total // 2, f"victim {victim}")


def test_plot_swapmap_02():
    """two machines side by side"""
    killed()
    text = drawn("swapmap", "killed.json", "killed.json", "--title", "one", "--title", "the other")
    assert ">one<" in text and ">the other<" in text and len(re.findall(r"slots used", text)) == 4, text[:800]
    assert text.count("dark core") == 1 and "hogmem" in text


def test_plot_swapmap_03():
    """maps at moments change nothing; other words are refused; without a map there is no picture"""
    command = "hogmem 12 3; sleep 1; hogmem 12 1"
    plain = run(command, *SMALL)
    done = run(command, *SMALL, "--param", "swap.map=1,zzz,2,900,oom")
    done.expect("swap.map: zzz is neither" in done.log, done.log[:500])
    done.expect(plain.trace == done.trace and plain.counters == done.counters, "a map changed the run")
    times = [m["time"] / 1e9 for m in done.json["swap_maps"]]
    done.expect(times and times[0] >= 1 and times == sorted(times) and len(times) <= 2, f"{times}")
    with open(at("plain.json"), "w", encoding="utf-8") as f:
        json.dump(plain.json, f)
    refused = plot("swapmap", "plain.json", "-o", at("x.svg"))
    assert refused.returncode == 2 and "swap.map=oom" in refused.stderr


def test_plot_arm_01():
    """two runs above one another; requests are as many as the drive's"""
    done = sort()
    text = drawn("arm", "sort.json", "sort.stream", "sort.json", "sort.stream", "--title", "before", "--title", "after")
    reads, writes = map(int, re.search(r">before: (\d+) reads, (\d+) writes", text).groups())
    done.expect(reads + writes == done.counters["disk_requests"], f"{reads} reads, {writes} writes")
    assert ">after: " in text and text.count("the way between") == 1


def test_plot_arm_02():
    """a sector's cylinder is the modelled drive's"""
    drive = arm.Drive(DRIVE)
    assert [drive.place(n) for n in (0, 1137, 1138, 2 * 1138)] == [0, 0, 1, 2]      # 35 MB/s at 7200/min: 569 sectors a track
    last = 40_000_000_000 // 512 - 1
    cylinders = drive.place(last)
    assert 75_000 < cylinders < 90_000 and drive.place(last // 2) < cylinders // 2, cylinders
    assert arm.Drive({**DRIVE, "disk.offset_mb": 1}).place(0) == 1_000_000 // 512 // 1138
    assert arm.Drive({}).place(4096) == 2


BROKEN = {
    "no file": ("faultmap", "nosuch.json", "sort.stream"),
    "no JSON": ("faultmap", "sort.stream", "sort.stream"),
    "not a run's": ("faultmap", "list.json", "sort.stream"),
    "no records": ("faultmap", "sort.json", "sort.json"),
    "no events": ("faultmap", "sort.json", "empty"),
    "no stream": ("faultmap", "sort.json"),
    "no disk": ("arm", "sort.json", "empty"),
    "two of one": ("faultmap", "sort.json", "sort.stream", "sort.json", "sort.stream"),
    "three machines": ("swapmap", "killed.json", "killed.json", "killed.json"),
    "slots missing": ("swapmap", "holes.json"),
    "no moment": ("swapmap", "killed.json", "--moment", "7"),
    "cut off": ("faultmap", "sort.json", "cut"),
}


def test_plot_refuse_01():
    """whatever is wrong with the files is said in a line, with status 2 and without a picture"""
    sort()
    broken = json.loads(json.dumps(killed().json))
    broken["swap_maps"][0]["areas"]["0"]["states"] = "f3 x2"
    for name, text in (("list.json", "[1]"), ("empty", ""), ("holes.json", json.dumps(broken)), ("cut", "0.000000001 SWAP_IN tid=1 pfn=0x")):
        with open(at(name), "w", encoding="utf-8") as f:
            f.write(text)
    for what, argv in BROKEN.items():
        done = plot(*argv, "-o", at("refused.svg"))
        assert done.returncode == 2 and done.stderr.startswith("tools/plot: ") and done.stderr.count("\n") == 1, f"{what}: {done}"
        assert not os.path.exists(at("refused.svg")), what


def test_plot_refuse_02(tmp_path):
    """without gnuplot, or where no picture can be written, that is said"""
    sort()
    done = plot("faultmap", "sort.json", "sort.stream", "-o", at("x.svg"), environment={"PATH": str(tmp_path)})
    assert done.returncode == 2 and "tools/setup plot" in done.stderr, done.stderr
    done = plot("faultmap", "sort.json", "sort.stream", "-o", at("no/such/x.svg"))
    assert done.returncode == 2 and "no/such" in done.stderr, done.stderr


@pytest.mark.parametrize("document", ["README.md", "docs/pictures.md"])
def test_plot_readme_01(document):
    """the picture in the tree is what the command beside it draws: its caption, in words that tools/run takes"""
    text = read(os.path.join(ROOT, document))
    match = re.search(r"!\[(.{40,})\]\(((?:docs/)?pictures/faultmap\.svg)\)", text)
    assert match, f"{document} shows no picture with words in its place"
    shown = svg(os.path.join(ROOT, os.path.dirname(document), match.group(2)))
    assert len(shown) < README_BYTES_MOST
    command = " ".join(re.search(r"(tools/run --lab [^\n]*faultmap\.svg[^\n]*)", text).group(1).split())
    caption = " ".join(re.findall(r'font-family="monospace"[^>]*>([^<]*)<', shown)).replace("\\", " ")
    assert " ".join(caption.split()) == command, f"{caption!r} is not {command!r}"
    assert faultmap.COLORS[faultmap.HIT] in shown

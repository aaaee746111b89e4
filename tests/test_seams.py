"""Each function of tests/seams can be taken out by name, and the machine says in words what is wrong.

Two kinds of bodies take a seam's place: one that says that it is missing, and the simplest wrong one, which does
nothing. Whatever the machine makes of that, it must not end in a triple fault, a hang or silence.
"""
import os
import random
import re
import subprocess
import sys

from harness import maps
from harness.guest import ROOT, run
from harness.host import rmap

sys.path.insert(0, os.path.join(ROOT, "tools"))
from runner import seams                        # noqa: E402  (the path comes first)

SEAMS = seams.load()
TIMEOUT_SECONDS = 10                            # virtual ones; for loops that no interrupt reaches
QUICK = 4                                       # so many of each kind in test-quick

# ---- what reaches a seam ----
# Options, command, and how many virtual milliseconds it may take, three times what it does take. The lab, because there
# a busy host makes no difference, and a machine in which everybody waits comes to that end at once.

WHOLE = (["--ram", "8M", "--swap", "16M"], "t_whole; audit", 500)
FULL_SWAP = (["--ram", "8M", "--swap", "3M"], "hogmem 9 2; audit", 1000)
NO_MEMORY = (["--ram", "8M", "--swap", "3M", "--param", "overcommit=1"], "hogmem 100 1; audit", 1000)
SWAPOFF = (["--ram", "8M", "--swap", "16M", "--swap", "12M"], "hogmem 10 8 & sleep 0.2; swapoff hda1; wait; audit", 5000)
REACH = {"swap-steal": FULL_SWAP, "oom-choose": NO_MEMORY, "oom-kill": NO_MEMORY,
         "swap-relocate": SWAPOFF, "mutex-hand-over": SWAPOFF}

# ---- wrong bodies ----

# Where to do nothing is to go on with what lay on the stack, to spin with interrupts off, or to leave lists
# without an end.
WRONG = {"swap-header": '\tinfo->why = "nothing looks at headers";\n\treturn -22;',
         "anonvma-unlink": "\tif (v->rmap.anon_vma)\n\t\tlist_remove(&v->rmap.link);\n\tv->rmap.anon_vma = NULL;",
         "anonmm-page-add": "\tpage_set(p, PG_ANON);",
         "sched-sleep": "\treturn -4;"}

# What does nothing here makes the machine slower, or shows where no guest program looks; who tells instead.
UNSEEN = {"swap-relocate": "reclaim then keeps such pages in memory, and swapoff reads them",
          "swap-steal": "host-slots-08: the last few slots are not found",
          "elevator-stop": "host-block-01 and host-block-02: transfers overtake one another",
          "elevator-join": "host-block-08: nothing merges",
          "mutex-hand-over": "it is called when a mutex is contended, which few runs see"}

TOLD = re.compile(r"^PANIC|^\s*INV |Out of memory|no memory for|killed| died|died:|: signal \d+|^init\[2\]: ", re.MULTILINE)
FAILED = re.compile(r"^not ok|^Bail out", re.MULTILINE)


def drawn(config, kind):
    """(reverse mapping, seam): all seams, each in a build that has it, or a few that the seed draws."""
    builds = maps.wanted(config)
    found = [(s.rmap() or builds[0], s) for s in SEAMS.values() if s.rmap() in (None, *builds)]
    if config.getoption("--quick"):
        found = random.Random(f"{os.environ.get('SEED') or 1} {kind}").sample([f for f in found if f[0] == builds[0]], QUICK)
    return found


def pytest_generate_tests(metafunc):
    if "seam" in metafunc.fixturenames:
        kind = metafunc.function.__name__.removeprefix("test_")
        found = drawn(metafunc.config, kind)
        metafunc.parametrize(("reverse_map", "seam"), found, indirect=["reverse_map"],
                             ids=[f"{kind}-{s.id}-01-{m}" for m, s in found])


# ---- the rules ----

def uncommented(text):
    return re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\])*"', "", text, flags=re.DOTALL)


def broken_rules(seam):
    """Words for each rule of docs/labs.md that the seam breaks."""
    function = seam.function()
    comment = function.comment()
    if function.static:
        yield "is static"
    if function.length > seams.LINES_MOST:
        yield f"has {function.length} lines"
    if re.search(r"^\s*(?:static|PARAM_\w+\()", uncommented(function.body()), re.MULTILINE):
        yield "owns state"
    if len(comment.split()) < 15:
        yield "has a thin head comment"
    if function.type != "void" and not re.search(r"\b[Rr]eturn(?:s|ed)?\b|\bTrue\b|\bFalse\b|NULL|\bOK\b|-E[A-Z]+|\b0\b", comment):
        yield "doesn't say what it returns"
    if not re.search(r"lock|sleep|context|interrupt", comment, re.IGNORECASE):
        yield "says nothing of locks, nor whether it sleeps"


def test_seams_rules_01():
    """each seam is a whole function, not static, of at most 45 lines, without state, with a contract"""
    broken = [f"{s.id}: {s.name}() {words}" for s in SEAMS.values() for words in broken_rules(s)]
    assert not broken, "; ".join(broken)


def test_seams_rules_02():
    """there are seams in all parts, and what this test says of seams it says of known ones"""
    assert len(SEAMS) >= 45 and sum(s.path.startswith("mm/") for s in SEAMS.values()) > len(SEAMS) // 2
    assert {s.path.split("/")[0] for s in SEAMS.values()} == {"mm", "kernel", "drivers"}
    built = {name for name in os.listdir(os.path.join(ROOT, "mm/rmap")) if os.path.isdir(os.path.join(ROOT, "mm/rmap", name))}
    assert {s.rmap() for s in SEAMS.values()} - {None} == built
    assert {*REACH, *WRONG, *UNSEEN} <= set(SEAMS)


def test_seams_same_01(tmp_path):
    """a seam with its own body put in its place makes the same machine code"""
    seam = SEAMS["vma-split"]
    seams.build(seam, seam.function().body(), str(tmp_path), rmap())
    with open(os.path.join(ROOT, "build", rmap(), "clockhand"), "rb") as f, open(tmp_path / "clockhand", "rb") as g:
        ours, again = f.read(), g.read()
    assert len(ours) == len(again) and sum(a != b for a, b in zip(ours, again)) < 100


def test_seams_body_01(tmp_path):
    """a body that doesn't compile is told by its own lines, and leaves no kernel; what there is to write is shown"""
    body = tmp_path / "mine.c"
    body.write_text("\tint unused = 1;\n\treturn no_such_thing;\n")
    argv = [os.path.join(ROOT, "tools", "seam"), "build", "vma-split"]
    subprocess.run(argv + ["--missing", tmp_path], check=True, capture_output=True)
    done = subprocess.run(argv + ["--body", body, tmp_path], check=False, capture_output=True, text=True)
    assert done.returncode == 1 and f"{body}:2:" in done.stderr and not (tmp_path / "clockhand").exists(), done.stderr
    shown = subprocess.run([argv[0], "show", "vma-split"], check=True, capture_output=True, text=True).stdout
    assert "Returns the new one, or NULL" in shown and "struct vma *vma_split(struct vma *v, vaddr_t at)" in shown


# ---- kernels without ----

def boot(seam, body, tmp_path):
    kernel = seams.build(seam, body, str(tmp_path / "kernel"), rmap())
    options, command, ms = REACH.get(seam.id, WHOLE)
    return run(command, "--lab", "--kernel", kernel, "--rmap", rmap(), "--tests", "--timeout", TIMEOUT_SECONDS,
               "--param", f"watchdog.ms={ms}", "--param", "disk=model:fixed", *options, json_wanted=False)


def test_missing(seam, tmp_path):
    """a seam that isn't written is named by a panic"""
    done = boot(seam, seams.body_missing(seam), tmp_path)
    done.expect(done.cause == "panic", f"ended with {done.exit} ({done.cause}): {done.err[-300:]}")
    done.expect(f"PANIC: seam {seam.id}: {seam.name}() is not written" in done.log, f"the log says: {done.log[-600:]}")


def test_wrong(seam, tmp_path):
    """a seam that does nothing is told of, by a panic, a check, the OOM killer or a test"""
    done = boot(seam, WRONG.get(seam.id) or seams.body_nothing(seam.function()), tmp_path)
    done.expect(done.cause in ("exit", "panic", "oom"), f"ended with {done.exit} ({done.cause}): {done.err[-300:]}")
    told = TOLD.search(done.log) or FAILED.search(done.out)
    done.expect(told or seam.id in UNSEEN, f"not a word: {done.out[-300:]} {done.log[-300:]}")

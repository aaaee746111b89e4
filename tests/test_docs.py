"""Documents say what the tree says: invariants, and commands that exist."""
import glob
import os
import re
import runpy
import shlex

from harness.guest import ROOT

CITED = re.compile(r'"([a-z]{2,8}\.\d{1,2})["]')
KERNEL = ("boot/*.[ch]", "kernel/*.[ch]", "mm/**/*.[ch]", "drivers/*.[ch]")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def sources():
    for pattern in KERNEL:
        yield from sorted(glob.glob(os.path.join(ROOT, pattern), recursive=True))


def rows():
    """docs/invariants.md as {number: (sentence, where)}."""
    found = {}
    for line in read("docs/invariants.md").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 3 and re.fullmatch(r"[a-z]+\.\d+", cells[0]):
            assert cells[0] not in found, f"{cells[0]} stands twice"
            found[cells[0]] = cells[1:]
    return found


def test_docs_invariants_01():
    """every invariant that an assertion or the audit cites has its sentence"""
    cited = {number for path in sources() for number in CITED.findall(read(path))}
    assert len(cited) > 40, f"only {len(cited)} are found"
    assert not cited - set(rows()), f"without a sentence: {sorted(cited - set(rows()))}"


def test_docs_invariants_02():
    """the functions and files that are said to check them exist"""
    text = "\n".join(read(path) for path in sources())
    for number, (sentence, where) in rows().items():
        assert sentence.endswith("."), f"{number}: a sentence ends with a full stop"
        for function in re.findall(r"`(\w+)\(\)`", where):
            assert re.search(rf"\b{function}\(", text), f"{number}: there is no {function}()"
        for path in re.findall(r"`([\w/]+/[\w.]+)`", where):
            assert os.path.exists(os.path.join(ROOT, path)), f"{number}: there is no {path}"


def test_docs_history_01():
    """each section of docs/history.md that a comment cites is there"""
    headings = set(re.findall(r"^## (\d+\.\d+) ", read("docs/history.md"), re.MULTILINE))
    cited = set()
    for path in list(sources()) + glob.glob(os.path.join(ROOT, "user/**/*.c"), recursive=True):
        for text in re.findall(r"docs/history\.md (\d+\.\d+(?: to \d+\.\d+)?)", read(path)):
            cited |= set(text.split(" to "))
    assert len(cited) > 8 and cited <= headings, f"not there: {sorted(cited - headings)}"


def test_docs_looking_in_01():
    """docs/looking-in.md tells of every command of tools/vmview"""
    text, table = read("docs/looking-in.md"), read("tools/vmlib/commands.py")
    commands = re.findall(r'^    "(\w+)": Command', table, re.MULTILINE)
    assert len(commands) > 10
    assert not [c for c in commands if not re.search(rf"^\| `{c}\b", text, re.MULTILINE)]


def commands_shown():
    """[(document, words)] of the lines that show a call of tools/run; what stands three blanks behind it is a remark."""
    for path in ["README.md", "mm/README.md"] + sorted(glob.glob("docs/*.md", root_dir=ROOT)):
        for line in re.findall(r"^ {4,}(?:\$ )?tools/run (.*)$", read(path), re.MULTILINE):
            words = shlex.split(re.split(r" {3,}", line)[0].replace("RMAP", "anonmm").replace("MAP", "anonmm").replace("sharing N", "sharing 1"))
            if "--" in words:
                yield path, words


def test_docs_commands_01():
    """each call of tools/run that a document shows has options that there are, and begins with a program that there is"""
    parser, shown = runpy.run_path(os.path.join(ROOT, "tools", "run"))["make_parser"](), list(commands_shown())
    assert len(shown) > 10
    known = set(re.findall(r"\w+", read("tools/make/user.mk"))) | set(re.findall(r"\bbox_(\w+)\(", read("user/bin/box.h")))
    known |= {os.path.basename(p)[:-2] for p in glob.glob(os.path.join(ROOT, "user/[wt]*/*.c"))}
    for path, words in shown:
        command = parser.parse_args(words).command
        assert command[0].split()[0].rstrip(";") in known, f"{path}: {command}"

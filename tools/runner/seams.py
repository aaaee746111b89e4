"""Seams: the functions of tests/seams, found by ctags and replaced by name.

A seam is one whole function that can be written anew from its head comment; docs/labs.md has the rules.
"""
import fcntl
import functools
import json
import os
import re
import subprocess

from .build import ROOT, DEFAULT_RMAP

LIST = os.path.join(ROOT, "tests", "seams")
LINES_MOST = 45
ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)+")


class SeamError(Exception):
    """A seam that isn't there, or that can't be replaced; says why."""


class Function:
    """A C function as ctags sees it. Lines count from 1; `first` has the name, `last` the closing brace."""

    def __init__(self, tag, text):
        self.name, self.path = tag["name"], tag["path"]
        self.first, self.last = tag["line"], tag["end"]
        self.static = bool(tag.get("file"))
        kind, _, name = tag.get("typeref", "").rpartition(":")
        self.type = ("" if kind in ("", "typename") else kind + " ") + name.replace("ALWAYS_INLINE ", "")
        self.source = text
        self.lines = text.split("\n")

    @property
    def length(self):
        return self.last - self.first + 1

    def _head(self):
        """Index of the line where the definition begins, its return type and attributes included."""
        i = self.first - 1
        while i > 0 and self.lines[i - 1].strip() and not self.lines[i - 1].startswith(("#", "}")) \
                and not self.lines[i - 1].rstrip().endswith(("*/", ";")):
            i -= 1
        return i

    def comment(self):
        """The comment that ends in the line above the definition, or ""."""
        end = self._head()
        if end == 0 or not self.lines[end - 1].rstrip().endswith("*/"):
            return ""
        begin = end - 1
        while not self.lines[begin].lstrip().startswith("/*"):
            begin -= 1
        return "\n".join(self.lines[begin:end])

    def signature(self):
        """From return type to the line before the opening brace."""
        return "\n".join(self.lines[self._head():self._brace()])

    def _brace(self):
        """Index of the line that holds the opening brace and nothing else."""
        for i in range(self.first - 1, self.last):
            if self.lines[i] == "{":
                return i
        raise SeamError(f"{self.path}: {self.name}() has no opening brace of its own line")

    def body(self):
        return "\n".join(self.lines[self._brace() + 1:self.last - 1])

    def replaced(self, body):
        """The file's text with another body. Lines keep their numbers, for debuggers and assertions."""
        if self.lines[self.last - 1] != "}":
            raise SeamError(f"{self.path}: {self.name}() doesn't end with a brace of its own line")
        brace = self._brace()
        return "\n".join([f'#line 1 "{self.path}"'] + self.lines[:brace + 1] + [body.rstrip("\n")]
                         + [f'#line {self.last} "{self.path}"'] + self.lines[self.last - 1:])


def functions(path):
    """All functions of one source file, by name."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        text = f.read()
    done = subprocess.run(["ctags", "--options=NONE", "--output-format=json", "--fields=+neSKt", "--c-kinds=f", "-f", "-", path],
                          cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SeamError(f"ctags {path}: {done.stderr.strip()}")
    return {t["name"]: Function(t, text) for t in map(json.loads, done.stdout.splitlines())}


class Seam:
    """A line of the list: id, file, function."""

    def __init__(self, ident, path, name):
        self.id, self.path, self.name = ident, path, name

    def function(self):
        try:
            return functions(self.path)[self.name]
        except (KeyError, OSError) as e:
            raise SeamError(f"{self.id}: {self.path} has no function {self.name}()") from e

    def rmap(self):
        """The reverse mapping that the file is a part of, or None: it is in every build."""
        match = re.match(r"mm/rmap/(\w+)/", self.path)
        return match.group(1) if match else None


def load(path=LIST):
    """The list as {id: Seam}, in its order."""
    found = {}
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            words = line.split("#")[0].split()
            if not words:
                continue
            if len(words) != 3 or not ID.fullmatch(words[0]):
                raise SeamError(f"{path}:{number}: not `id file function`")
            if words[0] in found:
                raise SeamError(f"{path}:{number}: {words[0]} stands twice")
            found[words[0]] = Seam(*words)
    return found


# ---- bodies ----

def body_missing(seam):
    """A body for a seam that is still to be written."""
    return ("\textern void panic(const char *fmt, ...) __attribute__((noreturn));\n"
            f'\tpanic("seam {seam.id}: {seam.name}() is not written");')


def body_nothing(function):
    """The simplest wrong body: does nothing, and returns nothing, 0, false or NULL."""
    if function.type == "void":
        return ""
    if function.type.startswith("struct ") and "*" not in function.type:
        return f"\treturn ({function.type}){{ 0 }};"
    return "\treturn 0;"


# ---- build ----

def _make(*words):
    return subprocess.run(["make", "--no-print-directory", "-f", "tools/make/kernel.mk", "kernel", *words], cwd=ROOT,
                          capture_output=True, text=True, check=False)


@functools.cache
def update(rmap):
    """Once in the life of this process: bring the ordinary build up to date; two processes that want that take turns."""
    folder = os.path.join(ROOT, "build", rmap)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "seams.lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = _make(f"RMAP={rmap}")
    if done.returncode != 0:
        raise SeamError(f"the kernel does not build:\n{done.stderr.strip()}")


def build(seam, body, folder, rmap=DEFAULT_RMAP):
    """Build a kernel with another body for one seam; the path of the kernel. The others' objects are those of
    the ordinary build."""
    update(rmap)
    function = seam.function()
    source = os.path.join(folder, os.path.basename(seam.path))
    os.makedirs(folder, exist_ok=True)
    kernel = os.path.join(folder, "clockhand")
    if os.path.exists(kernel):          # of an earlier body: it must not be taken for this one's
        os.remove(kernel)
    with open(source, "w", encoding="utf-8") as f:
        f.write(function.replaced(body))
    done = _make(f"RMAP={rmap}", f"FOR={seam.path}", f"BY={source}", f"KERNEL_OUT={folder}")
    if done.returncode != 0:
        raise SeamError(f"{seam.id} does not build:\n{done.stderr.strip()}")
    return kernel

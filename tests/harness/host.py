"""Host units: mm's algorithms and others, built for this machine with the sanitizers.

tests/host/NAME.c is a program that prints TAP. A line `links: mm/frame.c mm/slab.c` in its head
comment names the kernel files it is built with; tests/host/shim/*.c always are.
"""
import glob
import os
import re
import subprocess

from . import tap

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TIMEOUT_SECONDS = 300
FLAGS = ["-std=gnu11", "-g", "-O1", "-fno-omit-frame-pointer", "-Wall", "-Wextra",
         "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]


class HostFailure(AssertionError):
    """The program could not be built or died."""


def sources(program):
    """The program and everything that its head comment asks for."""
    with open(program, encoding="utf-8") as f:
        text = f.read()
    found = [program]
    for match in re.finditer(r"^[\s*/]*links?:\s*(.+?)\s*(?:\*/)?$", text[:4000], re.IGNORECASE | re.MULTILINE):
        for word in match.group(1).replace(",", " ").split():
            path = word.replace("RMAP", rmap())
            found += sorted(glob.glob(os.path.join(ROOT, path)))
    if '"shim.h"' in text:
        found += sorted(glob.glob(os.path.join(ROOT, "tests/host/shim/*.c")))
    return found


def rmap():
    return os.environ.get("RMAP") or "anon_vma"


def build(program):
    """Compile into build/RMAP/host; returns the executable."""
    out = os.path.join(ROOT, "build", rmap(), "host", os.path.basename(program)[:-2])
    os.makedirs(os.path.dirname(out), exist_ok=True)
    # The shim's headers stand for the kernel's, so its folder is searched first.
    include = ["-Itests/host/shim", "-I.", f"-Imm/rmap/{rmap()}"]
    argv = [os.environ.get("CC", "gcc")] + FLAGS + include + ["-o", out] + sources(program)
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise HostFailure(f"does not compile: {done.stderr.strip()[:1500]}")
    return out


def run(program, seed):
    """Build and run; the cases it printed."""
    executable = build(program)
    name = os.path.basename(program)[:-2]
    environment = dict(os.environ, SEED=str(seed), ASAN_OPTIONS="detect_leaks=0")
    done = subprocess.run([executable], cwd=ROOT, capture_output=True, text=True, errors="replace",
                          timeout=TIMEOUT_SECONDS, env=environment, check=False)
    cases = tap.parse(done.stdout, f"host-{name}")
    if done.returncode != 0 and all(c.ok for c in cases):
        cases.append(tap.Case(f"host-{name}-00", False, "ends well",
                              f"status {done.returncode}: {done.stderr.strip()[:1500]}"))
    elif done.returncode != 0 and done.stderr.strip():
        cases[-1].details += "\n" + done.stderr.strip()[:1500]
    return cases

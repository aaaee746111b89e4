"""Host units: mm's algorithms and others, built for this machine with the sanitizers.

tests/host/NAME.c is a program that prints TAP. A line `links: mm/frame.c mm/slab.c` in its head
comment names the kernel files it is built with, and sets of them (SETS); tests/host/shim/*.c always are.
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


# What several units stand on; the RMAP in a path becomes the reverse mapping's name.
SPACES = """mm/advise.c mm/brk.c mm/commit.c mm/cow.c mm/fault.c mm/fork.c mm/frame.c mm/frame_check.c mm/limit.c mm/mlock.c
    mm/mm.c mm/mm_check.c mm/mmap.c mm/mprotect.c mm/mremap.c mm/object.c mm/object_swap.c mm/page.c mm/pageout.c mm/pgtable.c
    mm/pte_walk.c mm/radix.c mm/residency.c mm/room.c mm/slab.c mm/swapin.c mm/tree.c mm/vma.c mm/zap.c
    mm/rmap/common.c mm/rmap/object.c mm/rmap/RMAP/*.c"""
SETS = {
    "SPACES": SPACES,               # address spaces, their pages and reverse map, without swap and reclaim
    "SLOTS": "mm/swap/rules.c mm/swap/search_*.c mm/swap/slots.c mm/swap/count.c mm/swap/cache.c mm/swap/steal.c mm/swap/check.c",
    "BLOCK": "drivers/block.c drivers/block_report.c drivers/queue.c drivers/elevator*.c drivers/partition.c",
    # All of mm/ but kswapd's thread, the OOM killer, and what makes kernel mappings.
    "MEMORY": SPACES + """ mm/alloc_fail.c mm/audit.c mm/frame_info.c mm/lru.c mm/swap/*.c mm/oom/default.c
    mm/reclaim/[!k]*.c mm/reclaim/POLICIES/*.c""",
}


def links(program):
    """The paths, or patterns of some, that the program's head comment asks for; sets are replaced by what is in them."""
    with open(program, encoding="utf-8") as f:
        head = f.read(4000)
    words = " ".join(re.findall(r"^[\s*/]*links?:\s*(.+?)\s*(?:\*/)?$", head, re.IGNORECASE | re.MULTILINE)).replace(",", " ").split()
    return [path for word in words for path in SETS.get(word, word).split()]


def sources(program):
    """The program and everything that its head comment asks for."""
    found = [program]
    for path in links(program):
        found += sorted(glob.glob(os.path.join(ROOT, path.replace("RMAP", rmap()).replace("POLICIES", "scan" if rmap() == "scan" else "rmap"))))
    with open(program, encoding="utf-8") as f:
        if '"shim.h"' in f.read():
            found += sorted(glob.glob(os.path.join(ROOT, "tests/host/shim/*.c")))
    return found


def rmap():
    return os.environ.get("RMAP") or "anon_vma"


def _compile(argv):
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise HostFailure(f"does not compile: {done.stderr.strip()[:1500]}")


def _fresh(object_file):
    """Is the object newer than everything that its .d file names?"""
    try:
        made = os.path.getmtime(object_file)
        with open(object_file[:-2] + ".d", encoding="utf-8") as f:
            needed = f.read().replace("\\\n", " ").partition(":")[2].split()
        return all(os.path.getmtime(os.path.join(ROOT, n)) <= made for n in needed)
    except OSError:
        return False


def _object(source, folder):
    """The object of one source, compiled if need be. Two tests may do so at once: whoever ends last wins."""
    out = os.path.join(folder, "o", os.path.relpath(source, ROOT).replace(os.sep, "_")[:-2] + ".o")
    if not _fresh(out):
        os.makedirs(os.path.dirname(out), exist_ok=True)
        mine = f"{out[:-2]}.{os.getpid()}"
        # The shim's headers stand for the kernel's, so its folder is searched first.
        include = ["-Itests/host/shim", "-I.", f"-Imm/rmap/{rmap()}"]
        _compile([os.environ.get("CC", "gcc")] + FLAGS + include + ["-MMD", "-MF", mine + ".d", "-c", "-o", mine + ".o", source])
        os.replace(mine + ".d", out[:-2] + ".d")
        os.replace(mine + ".o", out)
    return out


def build(program):
    """Compile and link into build/RMAP/host; returns the executable."""
    folder = os.path.join(ROOT, "build", rmap(), "host")
    out = os.path.join(folder, os.path.basename(program)[:-2])
    objects = [_object(source, folder) for source in sources(program)]
    _compile([os.environ.get("CC", "gcc")] + FLAGS + ["-o", out] + objects)
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

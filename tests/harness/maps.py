"""The reverse mappings, and which of them a test runs with.

What concerns memory runs once for each: test_*.py whose module or function has the mark each_map, host units
that link mm/rmap/RMAP, C tests with a line `rmap: each` in their head comment. What can't come out otherwise in the
build that keeps no map than in the others is spared there: the mark kept_map, a line `rmap: kept`. All else runs with
one; a host unit with a line `rmap: NAME` is about that one.
A test's build is in the environment's RMAP while it runs: tools/run, make and the host units go by that.
"""
import glob
import os
import re
import sys

from . import host
from .guest import ROOT

sys.path.insert(0, os.path.join(ROOT, "tools"))
from runner import build                                # noqa: E402  (the path comes first)

HEAD_BYTES = 4000
NOTHING_KEPT = "scan"


def known():
    """All that there are, the default first."""
    found = {os.path.basename(os.path.dirname(p)) for p in glob.glob(os.path.join(ROOT, "mm", "rmap", "*", "rmap_types.h"))}
    return [build.DEFAULT_RMAP] + sorted(found - {build.DEFAULT_RMAP})


def wanted(config):
    """Those of this run: one if it was asked for by name."""
    only = config.getoption("--rmap")
    return [only] if only else known()


def kept(config):
    """Those of this run that keep something; if another was asked for by name, that one."""
    return [name for name in wanted(config) if name != NOTHING_KEPT] or wanted(config)


def for_program(config, path):
    """Those that a C program is to run with."""
    text = path.read_text(encoding="utf-8", errors="replace")[:HEAD_BYTES]
    about = re.search(r"^[\s*/]*rmap: (\w+)", text, re.MULTILINE)
    about = about.group(1) if about else None
    if about in known():
        return [name for name in wanted(config) if name == about]
    if path.parent.name == "host":
        each = any("RMAP/" in link for link in host.links(path))
    else:
        each = about and not config.getoption("--quick")
    if not each:
        return wanted(config)[:1]
    return kept(config) if about == "kept" else wanted(config)


def for_function(config, definition):
    """Those that a test of a Python file is to run with; None: it doesn't care. A function's mark comes before its module's."""
    mark = next((m.name for m in definition.iter_markers() if m.name in ("each_map", "kept_map")), None)
    if not mark:
        return None
    several = kept(config) if mark == "kept_map" else wanted(config)
    return several[:1] if config.getoption("--quick") else several

"""The README shows what really happens."""
import os
import re
import subprocess

import pytest

from harness.guest import ROOT


def screen_of_readme():
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as f:
        match = re.search(r"<!-- screen of make run -->\n```\n(.*?)```", f.read(), re.DOTALL)
    assert match, "README.md has no screen of make run"
    return match.group(1)


def masked(text):
    """Lines with every number as 0 and blanks as one; repeated lines (vmstat's) once; times of the log left out."""
    lines = []
    for line in text.splitlines():
        line = re.sub(r"0x[0-9a-f]+|\d+(?:\.\d+)?", "0", line.rstrip())
        line = re.sub(r"\s+", " ", line).strip()
        if line and (not lines or lines[-1] != line):
            lines.append(line)
    return lines


@pytest.mark.slow
def test_readme_screen_01():
    """the screen of make run is the README's, digits aside"""
    done = subprocess.run(["make", "--no-print-directory", "run"], cwd=ROOT, capture_output=True, text=True, timeout=300,
                          stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    shown = masked(screen_of_readme())
    real = masked(done.stdout)
    missing = [line for line in shown if line not in real and line != "..."]
    assert not missing, f"the README shows what make run does not: {missing[:4]}"
    extra = [line for line in real if line not in shown]
    assert len(extra) <= len(real) // 10, f"make run shows what the README does not: {extra[:6]}"

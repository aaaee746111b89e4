"""Running one job, and keeping what came out of it.

A result is a JSON with nothing of the host in it: the command, what the guest printed, the log's lines about memory
running out, and tools/run's own JSON. A run that the host had to end has no figures, but a cause.
"""
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HOST_SECONDS = 900              # a run takes a tenth of that; the guest has a limit of its own, so that this one is for QEMU
KEPT = re.compile(r"out of memory|^oom|swap cache:|killing process|panic|^INV ", re.IGNORECASE)
KEPT_LINES = 200
WORDS_MOST = 2000
BAD = {"panic", "triple-fault", "timeout", "boot", "usage", "host"}    # ends that no verdict is made of
USAGE = 125
ENDED = {128 + signal.SIGTERM, 128 + signal.SIGKILL}                  # by timeout(1)


def _figures(file):
    """tools/run's JSON, or None. Host seconds are left out, should it be no lab run."""
    try:
        with open(file, encoding="utf-8") as f:
            figures = json.load(f)
    except (OSError, ValueError):
        return None
    figures.pop("host_seconds", None)
    return figures


def _kept(log):
    """Lines of the kernel's log that tell of memory running out, and the like."""
    try:
        with open(log, encoding="utf-8", errors="replace") as f:
            lines = [line.rstrip() for line in f]
    except OSError:
        return []
    return [line for line in lines if KEPT.search(line)][:KEPT_LINES]


def execute(run, host_seconds=HOST_SECONDS):
    """Run it; the result as a dictionary."""
    with tempfile.TemporaryDirectory(prefix="clockhand-replay-") as folder:
        figures, log = os.path.join(folder, "json"), os.path.join(folder, "log")
        argv = [sys.executable, os.path.join(ROOT, "tools", "run"), "--json", figures, "--log", log] + run.argv
        result = {"job": run.name, "command": run.shell()}
        # SIGTERM, so that tools/run ends its machine, and SIGKILL if it doesn't.
        done = subprocess.run(["timeout", "--preserve-status", "-k", "30", str(host_seconds)] + argv, cwd=ROOT, capture_output=True,
                              text=True, errors="replace", check=False, stdin=subprocess.DEVNULL)
        result["run"] = _figures(figures)
        result["output"] = done.stdout.splitlines()[-KEPT_LINES:]
        result["log"] = _kept(log)
    if result["run"]:
        result["cause"] = result["run"]["cause"]
    else:
        result["cause"] = "host" if done.returncode in ENDED else "usage" if done.returncode == USAGE else "boot"
    if result["cause"] in BAD:
        words = f"no end after {host_seconds} host seconds" if result["cause"] == "host" else done.stderr.strip()
        result["words"] = words[-WORDS_MOST:]
    return result


class Results:
    """The folder of results. What was read once isn't read again."""

    def __init__(self, out):
        self.out, self.known = out, {}

    def path(self, run):
        return os.path.join(self.out, "jobs", run.name + ".json")

    def save(self, run, result):
        """Write it whole or not at all: make takes a file that is there for done."""
        target = self.path(run)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target + ".part", "w", encoding="utf-8") as f:
            json.dump(result, f, indent=1)
            f.write("\n")
        os.replace(target + ".part", target)

    def load(self, run):
        """(result, "") or (None, why there is none). A result of another command than the table's isn't one."""
        if run.name not in self.known:
            self.known[run.name] = self._load(run)
        return self.known[run.name]

    def _load(self, run):
        try:
            with open(self.path(run), encoding="utf-8") as f:
                result = json.load(f)
        except FileNotFoundError:
            return None, "missing"
        except (OSError, ValueError):
            return None, "can't be read"
        if result.get("command") != run.shell():
            return None, "made by another command than the table's: run it again"
        return result, ""

    def is_stale(self, run):
        """Is there a file which is to be made again: of another command, not readable, or of a run that failed?"""
        result, _ = self.load(run)
        return os.path.exists(self.path(run)) and (result is None or result["cause"] in BAD)

    def state(self, run):
        """How it ended, in a word or two."""
        result, why = self.load(run)
        if result is None:
            return why
        if result["cause"] in BAD:
            return f"failed: {result['cause']}"
        return "killed by the OOM killer" if result["cause"] == "oom" else f"exit {result['run']['exit']}"

    def digest(self, run):
        """sha256 of one result's file; "" if there is no result."""
        if self.load(run)[0] is None:
            return ""
        with open(self.path(run), "rb") as f:
            return hashlib.sha256(f.read()).hexdigest()

    def digest_of_all(self, runs):
        """sha256 over the results of these runs that are there, in the order of their names."""
        total = hashlib.sha256()
        for run in sorted(runs, key=lambda r: r.name):
            own = self.digest(run)
            if own:
                total.update(f"{run.name} {own}\n".encode())
        return total.hexdigest()

    def count(self, runs):
        """How many there are, and how many of them failed, in words."""
        found = [result for result, _ in map(self.load, runs) if result]
        failed = sum(result["cause"] in BAD for result in found)
        return f"{len(found)} of {len(runs)} jobs" + (f", {failed} of them failed" if failed else "")

"""A machine for a test: tools/run in a process of its own, and what came out."""
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HOST_GUARD_SECONDS = 900        # beyond tools/run's own time limit: it must never hang itself
CODES = {120: "panic", 121: "triple-fault", 122: "timeout", 123: "oom", 124: "boot", 125: "usage"}


class GuestFailure(AssertionError):
    """A run that went otherwise than the test demands; carries the run."""

    def __init__(self, message, run):
        super().__init__(message)
        self.run = run


class GuestRun:
    """Results of one tools/run."""

    def __init__(self, argv, exit_code, out, err, log, figures, trace):
        self.argv, self.exit, self.out, self.err = argv, exit_code, out, err
        self.log, self.json, self.trace = log, figures, trace

    @property
    def cause(self):
        return self.json["cause"] if self.json else CODES.get(self.exit, "exit")

    @property
    def counters(self):
        return self.json["counters"] if self.json else {}

    def expect(self, condition, message):
        """Fail the test, with this run as evidence, unless `condition`."""
        if not condition:
            raise GuestFailure(message, self)
        return self


def _read(path):
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def run(command, *options, seed=None, json_wanted=True, environment=None):
    """Boot a machine with `options` of tools/run and run `command` (a string or argv)."""
    words = [command] if isinstance(command, str) else list(command)
    seed = seed if seed is not None else os.environ.get("SEED") or "1"
    with tempfile.TemporaryDirectory(prefix="clockhand-test-") as folder:
        figures, log, trace = (os.path.join(folder, n) for n in ("json", "log", "trace"))
        argv = [sys.executable, os.path.join(ROOT, "tools", "run"), "--log", log, "--seed", str(seed)]
        if json_wanted:
            argv += ["--json", figures, "--trace", trace]
        argv += [str(o) for o in options] + ["--"] + words
        done = subprocess.run(argv, capture_output=True, timeout=HOST_GUARD_SECONDS, check=False,
                              stdin=subprocess.DEVNULL, env=environment)
        text = _read(figures)
        result = GuestRun(argv, done.returncode, done.stdout.decode(errors="replace"),
                          done.stderr.decode(errors="replace"), _read(log),
                          json.loads(text) if text else None, _read(trace).splitlines())
        result.seed = seed
        return result


def shell(command, *options, audit=True, **more):
    """Run a shell command that must succeed, then the audit, which must find nothing."""
    done = run(f"{command}; s=$?; audit && exit $s" if audit else command, *options, **more)
    done.expect(done.exit == 0, f"exit {done.exit} ({done.cause}), wanted 0: {done.err.strip()[-300:]}")
    return done

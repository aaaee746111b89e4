"""The pytest plugin that all tests run under, and their only reporter.

Three kinds of files make tests: test_*.py; host/*.c, programs for this machine; guest/*.test and
user/tests/t_*.c, programs for the guest. The C kinds print TAP, and each TAP line counts as one test.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import pytest

from . import evidence, guest, host, maps, tap

OUR_GUEST_TESTS = pathlib.Path(guest.ROOT) / "user" / "tests"
CASE = re.compile(r"[a-z0-9]+(?:-[a-z0-9_]+)*-\d+")


def pytest_addoption(parser):
    group = parser.getgroup("clockhand")
    group.addoption("--named", default="", help="only tests whose name has this")
    group.addoption("--verbose", action="count", default=0, help="asked for by pytest itself")
    group.addoption("--quick", action="store_true", help="only tests that take seconds")
    group.addoption("--rmap", default="", help="with this reverse mapping only, not with each")


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: left out of make test-quick")
    config.addinivalue_line("markers", "each_map: runs once for each reverse mapping")
    config.addinivalue_line("markers", "kept_map: the same, but not for the build that keeps none")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Reporter(config), "clockhand-reporter")


# ---- names ----

def item_map(item):
    """The reverse mapping that is told beside the name: if the test runs with each, or one was asked for."""
    if isinstance(item, TapItem):
        return item.told_map
    callspec = getattr(item, "callspec", None)
    return (callspec.params.get("reverse_map") if callspec else None) or item.config.getoption("--rmap")


def item_name(item):
    """AREA-TOPIC-NN of a Python test: its parameter's id if that is one, else its function's name."""
    if isinstance(item, TapItem):
        return item.program.replace("_", "-")
    callspec = getattr(item, "callspec", None)
    if callspec:
        parameter = callspec.id.removesuffix(f"-{item_map(item)}").removeprefix(f"{item_map(item)}-")
        if CASE.fullmatch(parameter):
            return parameter
    return re.sub(r"^test_", "", getattr(item, "originalname", None) or item.name).replace("_", "-")


def item_sentence(item):
    doc = getattr(getattr(item, "function", None), "__doc__", None) or getattr(item, "sentence", "")
    return doc.strip().split("\n")[0].rstrip(".")


# ---- collection ----

class TapFile(pytest.File):
    """A C program of the host or of the guest: one item."""

    def collect(self):
        kind = GuestItem if "guest" in self.path.parts or "user" in self.path.parts else HostItem
        several = maps.for_program(self.config, self.path)
        for name in several:
            told = name if name != maps.known()[0] or len(several) > 1 else self.config.getoption("--rmap")
            yield kind.from_parent(self, name=f"{self.path.stem}[{name}]" if told else self.path.stem, told_map=told)


class TapItem(pytest.Item):
    """Runs a program; fails when one of its cases does, which are told one by one."""

    def __init__(self, *, told_map, **more):
        super().__init__(**more)
        self.told_map, self.program = told_map, self.path.stem

    def runtest(self):
        for case in self.cases():
            self.user_properties.append(("case", case.plain()))

    def names(self):
        """Its own name and those of its cases, as far as the source shows them; 00 is told when it doesn't end well."""
        kind = "host-" if self.path.parent.name == "host" else ""
        whole = {f"{kind}{word}-00" for word in (self.program, self.program.replace("_", "-"))}
        return [self.program, *whole] + CASE.findall(self.path.read_text(encoding="utf-8", errors="replace"))

    def reportinfo(self):
        return self.path, 0, self.program


class HostItem(TapItem):
    sentence = "builds for the host and ends well"

    def cases(self):
        return host.run(str(self.path), os.environ.get("SEED") or 1)


class GuestItem(TapItem):
    sentence = "runs in the guest, and the audit finds nothing"

    def build(self, folder):
        """A test from another folder is in no archive of ours: compile it; the program's path."""
        program = os.path.join(folder, self.program)
        argv = [os.path.join(guest.ROOT, "build", "bin", "i386-clockhand-gcc"), "-Os", f"-I{guest.ROOT}", "-o", program, str(self.path),
                os.path.join(guest.ROOT, "user", "tests", "tap.c")]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise host.HostFailure(f"does not compile: {done.stderr.strip()[:1500]}")
        return program

    def cases(self):
        """A line `run: OPTIONS` in the head comment gives tools/run's options."""
        head = self.path.read_text(encoding="utf-8")[:4000]
        match = re.search(r"^[\s*/]*run:\s*(.+?)\s*(?:\*/)?$", head, re.MULTILINE)
        options = match.group(1).split() if match else []
        with tempfile.TemporaryDirectory(prefix="clockhand-test-") as folder:
            command = f"/bin/{self.program}"
            if self.path.parent != OUR_GUEST_TESTS:
                options += ["--put", self.build(folder)]
                command = f"/tmp/{self.program}"
            done = guest.run(f"{command}; s=$?; audit && exit $s", "--tests", *options)
        cases = tap.parse(done.out, self.program.replace("_", "-"))
        if done.exit != 0 and all(c.ok for c in cases):
            done.expect(False, f"exit {done.exit} ({done.cause}): {done.err.strip()[-300:]}")
        self.user_properties.append(("run", [done.err, done.log[-4000:], done.trace[-8:]]))
        return cases


def pytest_collect_file(file_path, parent):
    if file_path.suffix == ".c" and (file_path.parent.name == "host"
                                     or file_path.name.startswith("t_") and file_path.parent.name in ("guest", "tests")):
        return TapFile.from_parent(parent, path=file_path)
    return None


def pytest_generate_tests(metafunc):
    several = maps.for_function(metafunc.config, metafunc.definition)
    if several:
        metafunc.parametrize("reverse_map", several, indirect=True)


@pytest.fixture(autouse=True)
def reverse_map(request):
    """What the test runs with, if it runs with each; None otherwise."""
    return getattr(request, "param", None)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    os.environ["RMAP"] = item_map(item) or maps.wanted(item.config)[0]


def ends_of_groups(items):
    """Of each parametrised test the first and the last; all others."""
    groups = {}
    for item in items:
        key = item.nodeid.split("[")[0] if hasattr(item, "callspec") else item.nodeid
        groups.setdefault(key, []).append(item)
    return {id(i) for members in groups.values() for i in (members[0], members[-1])}


def pytest_collection_modifyitems(config, items):
    wanted, quick = config.getoption("--named"), config.getoption("--quick")
    few = ends_of_groups(items) if quick else ()
    kept, left = [], []
    for item in items:
        names = item.names() if isinstance(item, TapItem) else [item_name(item), item.name]
        fits = not wanted or any(wanted in n for n in names)
        fits = fits and not (quick and (item.get_closest_marker("slow") or id(item) not in few))
        (kept if fits else left).append(item)
    items[:] = sorted(kept, key=lambda i: i.get_closest_marker("slow") is None)
    if left:
        config.hook.pytest_deselected(items=left)


# ---- what a failure leaves behind ----

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    report.case_name, report.case_map, report.case_sentence = item_name(item), item_map(item), item_sentence(item)
    if call.excinfo is not None and not call.excinfo.errisinstance(pytest.skip.Exception):
        error = call.excinfo.value
        run = getattr(error, "run", None)
        message = str(error) if isinstance(error, (AssertionError, host.HostFailure)) else repr(error)
        places = [t for t in call.excinfo.traceback if "harness" not in str(t.path)]
        where = places[-1] if places else call.excinfo.traceback[-1]
        report.case_block = evidence.block(report.case_name, report.case_sentence,
                                           f"{message or 'assertion'} ({os.path.basename(str(where.path))}:"
                                           f"{where.lineno + 1})", os.environ.get("SEED") or "1", run, report.case_map)


class _Past:
    """A guest run as it came over from a worker."""

    def __init__(self, err, log, trace):
        self.err, self.log, self.trace, self.out = err, log, trace, ""


class Reporter:
    """Prints a line for each test as it ends, and the count at the very end."""

    def __init__(self, config):
        self.passed, self.failed, self.skipped = 0, 0, 0
        self.blocks, self.begin = [], time.monotonic()
        self.named = config.getoption("--named")

    def _line(self, ok, name, sentence, seconds, reverse_map):
        self.passed, self.failed = self.passed + bool(ok), self.failed + (not ok)
        took = f"{seconds:6.1f} s" if seconds is not None else " " * 8
        print(f"{'ok  ' if ok else 'FAIL'} {took}  {name:24} {reverse_map or '':8} {sentence}", flush=True)

    def pytest_collectreport(self, report):
        if report.failed:
            self.failed += 1
            self.blocks.append(f"FAIL {report.nodeid}  can be read\nINV  {report.longreprtext[-1500:]}")

    def pytest_runtest_logreport(self, report):
        if report.when == "call" and report.passed:
            cases = [tap.Case(*value) for key, value in report.user_properties if key == "case"]
            if cases:
                self._cases(cases, report)
            else:
                self._line(True, report.case_name, report.case_sentence, report.duration, report.case_map)
        elif report.failed:
            self._line(False, report.case_name, report.case_sentence, report.duration, report.case_map)
            self.blocks.append(getattr(report, "case_block", report.longreprtext))
        elif report.skipped:
            self.skipped += 1
            print(f"skip            {report.case_name:24} {report.case_map or ''}".rstrip(), flush=True)

    def _cases(self, cases, report):
        run = next((_Past(*value) for key, value in report.user_properties if key == "run"), None)
        for i, case in enumerate(cases):
            self._line(case.ok, case.name, case.sentence, report.duration if i == 0 else None, report.case_map)
            if not case.ok:
                self.blocks.append(evidence.block(case.name, case.sentence, case.details or "not ok",
                                                  os.environ.get("SEED") or "1", run, report.case_map))

    def pytest_sessionfinish(self, session):
        if self.failed:
            session.exitstatus = 1      # pytest takes a program with a failed case for a passed item
        if self.blocks:
            print("\n" + "\n\n".join(self.blocks))
        if self.skipped:
            print(f"{self.skipped} skipped")
        if self.named and not self.passed + self.failed + self.skipped:
            print(f"no test's name has {self.named!r}")
        print(f"{time.monotonic() - self.begin:.0f} s")
        print(f"{self.passed} passed, {self.failed} failed")
        sys.stdout.flush()

    def pytest_report_teststatus(self):
        return "", "", ""

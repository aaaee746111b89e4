"""One run from power-on to the end, and who decided the end.

    cause          exit code
    exit           the command's
    panic          120   the kernel gave up
    triple-fault   121   the CPU gave up
    timeout        122   nobody gave up
    oom            123   the OOM killer took the command or a descendant
    boot           124   the command never started
"""
import os
import subprocess
import sys
import time

from .monitor import MonitorError
from .report import Report
from .symbols import Symbols, backtrace

EXIT_CODES = {"panic": 120, "triple-fault": 121, "timeout": 122, "oom": 123, "boot": 124}
EXIT_USAGE = 125
POLL_SECONDS = 0.02
GRACE_SECONDS = 3               # from the last word of a machine to its end
DEBUG_EXIT_STATUS = 1           # isa-debug-exit: (0 << 1) | 1


class Tail:
    """A growing file, read as it grows; `sink` takes the new bytes."""

    def __init__(self, path, sink):
        self.path, self.sink, self.file = path, sink, None

    def pump(self):
        if self.file is None:
            if not os.path.exists(self.path):
                return
            self.file = open(self.path, "rb")
        while data := self.file.read(1 << 16):
            self.sink(data)

    def close(self):
        if self.file:
            self.file.close()


class Result:
    """What came out of a run."""

    def __init__(self):
        self.cause = None
        self.exit = None
        self.words = ""                 # the line that names the cause
        self.lines = []                 # backtrace and the like
        self.report = Report()
        self.host_seconds = 0.0


class Run:
    """Drives one started Machine. limit: host seconds; virtual_limit: guest seconds or None."""

    def __init__(self, machine, console, log, limit, virtual_limit=None):
        self.machine = machine
        self.limit, self.virtual_limit = limit, virtual_limit
        self.result = Result()
        self.symbols = None
        report = self.result.report
        self.tails = [Tail(machine.line("serial1.txt"), log), Tail(machine.line("e9.txt"), report.feed)]
        if not machine.interactive:
            self.tails.append(Tail(machine.line("serial2.txt"), console))

    def pump(self):
        for tail in self.tails:
            tail.pump()

    def step(self, seconds=POLL_SECONDS):
        """Wait a moment; True while the machine runs and may go on."""
        self.machine.monitor.wait(seconds)
        self.pump()
        report = self.result.report
        return not (self.machine.monitor.closed or self.machine.monitor.shutdown_reason() is not None
                    or report.panic or self.machine.process.poll() is not None
                    or self.machine.dump and report.complete)   # without an exit device it may only halt

    def run(self):
        """Until the end. Returns the Result; the machine is stopped by the caller."""
        begin = time.monotonic()
        out_of_time = False
        while self.step():
            if time.monotonic() - begin > self.limit:
                out_of_time = True
                break
        self.judge(out_of_time)
        self.result.host_seconds = time.monotonic() - begin
        for tail in self.tails:
            tail.close()
        return self.result

    def _linger(self):
        """Let a machine that has said its last word finish the sentence. Without an exit device it
        halts after it, which nobody tells us."""
        end = time.monotonic() + (GRACE_SECONDS if not self.machine.dump else POLL_SECONDS)
        while time.monotonic() < end and not self.machine.monitor.closed:
            self.machine.monitor.wait(POLL_SECONDS)
            self.pump()
            if self.machine.monitor.shutdown_reason() is not None:
                break
        self.pump()

    def _backtrace(self):
        try:
            self.machine.monitor.command("stop")
            return backtrace(self.machine.monitor, Symbols(self.machine.symbols()))
        except MonitorError as e:
            return [f"  (QEMU's monitor: {e})"]

    def _end(self, cause, words, lines=()):
        r = self.result
        r.cause, r.words, r.lines = cause, words, list(lines)
        r.exit = EXIT_CODES.get(cause, r.report.exit)

    def judge(self, out_of_time):
        """Decide the cause. Facts that weigh more come first."""
        report = self.result.report
        if out_of_time:
            lines = self._backtrace()
            if not report.log:
                self._end("boot", f"boot failure: not a word from the kernel in {self.limit:g} s", lines)
            else:
                self._end("timeout", f"timeout after {self.limit:g} s of host time; the machine was here:", lines)
            return
        if report.panic:
            self._linger()
            self._end("panic", f"panic: {report.panic}", report.panic_lines())
            return
        if report.complete:
            self._judge_report()
        elif self.machine.monitor.shutdown_reason() == "guest-reset":
            lines = self._backtrace()
            fault = self.machine.triple_fault()
            words = "triple fault" if fault else "the machine reset itself"
            self._end("triple-fault", f"{words}; it was here:", lines)
        else:
            self._judge_silent_end()

    def _judge_report(self):
        report = self.result.report
        elapsed = report.time.get("elapsed", 0)
        if report.cause == "oom":
            killed = [line for line in report.log if "Out of memory: killed" in line]
            what = killed[-1].strip() if killed else "somebody"
            self._end("oom", f"the OOM killer took the command or a descendant: {what}")
        elif self.virtual_limit is not None and elapsed > self.virtual_limit:
            self._end("timeout", f"timeout: {elapsed:.3f} s of virtual time, allowed were {self.virtual_limit:g}")
        elif report.exit is None:
            self._end("boot", "boot failure: the report names no exit status")
        else:
            self._end("exit", "")

    def _judge_silent_end(self):
        try:
            status = self.machine.process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            status = None
        self.pump()
        if self.result.report.panic or self.result.report.complete:
            self.judge(False)
            return
        errors = self.machine.errors()
        tail = errors or self.result.report.log_tail(8)
        who = "QEMU ended" if errors or status != DEBUG_EXIT_STATUS else "the machine switched itself off"
        self._end("boot", f"boot failure: {who} without a report (status {status})",
                  ["  " + line for line in tail])


def print_cause(result, log_was_seen=False):
    """The line that names the cause, and where it happened (unless that stood in the log)."""
    if result.words:
        print(f"tools/run: {result.words}", file=sys.stderr)
    if not (log_was_seen and result.cause == "panic"):
        for line in result.lines:
            print(line, file=sys.stderr)

"""The figures of one run, by name: what rows compare and verdicts are computed from.

`Figures(result)["elapsed"]`: a figure of this page, else a counter of the kernel by its name. What the run doesn't tell is
NoFigure, never 0.
"""
import re

from . import vmstat

TIME = re.compile(r"^([\d.]+)u ([\d.]+)s (?:(\d+):)?(\d+):([\d.]+) [\d.]+% \d+\+\d+k \d+\+\d+io (\d+)pf\+\d+w$")
SPEED = re.compile(r"Memory speed: ([\d.]+) MB/sec")
PROBE = re.compile(r"^latency: \d+ wakes every (\d+) ms, \d+ pages$")
SLOTS = re.compile(r"^oom: slots free (\d+) of (\d+),")
BOTH = re.compile(r"^both ms: min ([\d.]+) median ([\d.]+) 99% ([\d.]+) max ([\d.]+)$")
TYPING_MS = 100                 # a probe that wakes as often as this types; others look at a desktop
POSITIONING = ("seek_ns", "rotation_ns")               # fields of a modelled drive: reads; those of writes have write_ in front
MOVING = ("transfer_ns", "buffer_ns")


class NoFigure(Exception):
    """The run doesn't tell it."""


class Figures:
    """A lazy dictionary. A figure is a method named figure_NAME, without arguments, that may raise NoFigure."""

    def __init__(self, result):
        self.result, self.run = result, result["run"] or {}
        self.counters = self.run.get("counters", {})
        self.lines = vmstat.lines(self.run)
        self.known = {}

    def __getitem__(self, name):
        if name not in self.known:
            method = getattr(self, "figure_" + name, None)
            if method:
                try:
                    self.known[name] = method()
                except (KeyError, TypeError, IndexError, ZeroDivisionError, ValueError) as e:
                    raise NoFigure(name) from e
            elif name in self.counters:
                self.known[name] = self.counters[name]
            else:
                raise NoFigure(name)
        return self.known[name]

    # ---- the end ----

    def figure_completed(self):
        return int(self.result["cause"] == "exit" and self.run["exit"] == 0)

    def figure_killed(self):
        return int(self.result["cause"] == "oom")

    # ---- csh's time; without such a line the machine's own times ----

    def _time(self):
        for line in self.result["output"]:
            match = TIME.match(line)
            if match:
                return match.groups()
        return None

    def figure_user(self):
        line = self._time()
        return float(line[0]) if line else self.run["user_seconds"]

    def figure_system(self):
        line = self._time()
        return float(line[1]) if line else self.run["system_seconds"]

    def figure_elapsed(self):
        line = self._time()
        return int(line[2] or 0) * 3600 + int(line[3]) * 60 + float(line[4]) if line else self.run["elapsed_seconds"]

    def figure_pf(self):
        line = self._time()
        return int(line[5]) if line else self.counters["pgmajfault"]

    def figure_kswapd(self):
        return self.run["kswapd_seconds"]

    # ---- hogmem: the first alone, then two ----

    def _speeds(self):
        return [float(s) for s in SPEED.findall("\n".join(self.result["output"]))]

    def figure_speed_one(self):
        return self._speeds()[0]

    def figure_speed_two(self):
        speeds = self._speeds()
        return speeds[1] + speeds[2]

    def figure_speed_pair(self):
        speeds = self._speeds()
        return speeds[0] + speeds[1]

    # ---- the latency probes ----

    def _probe(self, typing, which):
        """min, median, 99 % or max of a probe's both."""
        every = None
        for line in self.result["output"]:
            head, both = PROBE.match(line), BOTH.match(line)
            if head:
                every = int(head.group(1))
            if both and (every == TYPING_MS) == typing:
                return float(both.group(which))
        raise NoFigure("latency")

    def figure_typing_median(self):
        return self._probe(True, 2)

    def figure_typing_99(self):
        return self._probe(True, 3)

    def figure_typing_max(self):
        return self._probe(True, 4)

    def figure_desktop_median(self):
        return self._probe(False, 2)

    def figure_desktop_99(self):
        return self._probe(False, 3)

    def figure_desktop_max(self):
        return self._probe(False, 4)

    # ---- the swap cache ----

    def figure_find_success(self):
        return self.counters["swap_cache_find_success"]

    def figure_find_total(self):
        return self.counters["swap_cache_find_total"]

    def figure_find_rate(self):
        return 100 * self["find_success"] / self["find_total"]

    def figure_readahead_per_fault(self):
        return self.counters["swap_readahead"] / self.counters["pgmajfault"]

    # ---- swap over time ----

    def figure_swap_kb(self):
        return self.counters["swap_total_pages"] * vmstat.KIB_PER_PAGE

    def figure_swpd_before(self):
        line = vmstat.last_quiet(self.lines)
        if line is None:
            raise NoFigure("swpd_before")
        return line.swpd

    def _most(self, name):
        if not self.lines:
            raise NoFigure(name)
        return max(getattr(line, name) for line in self.lines)

    def figure_swpd_max(self):
        """What the OOM killer's report says counts, too: a kill may come with the last slot, between two samples."""
        reports = [SLOTS.match(line) for line in self.result["log"]]
        used = [int(total) - int(free) for free, total in (report.groups() for report in reports if report)]
        return max([self._most("swpd")] + [n * vmstat.KIB_PER_PAGE for n in used])

    def figure_full_share(self):
        return 100 * self["swpd_max"] / self["swap_kb"]

    def figure_cached_share(self):
        return 100 * self._most("cached") / self["swap_kb"]

    def _mean_full(self, name):
        lines = vmstat.full(self.lines, self["swap_kb"])
        if not lines:
            raise NoFigure("swap was never full")
        return sum(getattr(line, name) * line.seconds for line in lines) / sum(line.seconds for line in lines)

    def figure_seconds_full(self):
        if not self.lines:
            raise NoFigure("seconds_full")
        return sum(line.seconds for line in vmstat.full(self.lines, self["swap_kb"]))

    def figure_so_full(self):
        return self._mean_full("so")

    def figure_si_full(self):
        return self._mean_full("si")

    def figure_swap_once(self):
        """Seconds that reading all of swap once would take at the rate of the last pass's busiest second."""
        quiet = vmstat.last_quiet(self.lines)
        return self["swap_kb"] / max(line.si for line in self.lines if not quiet or line.time > quiet.time)

    def figure_idle_full(self):
        return self._mean_full("idle")

    def figure_system_full(self):
        return self._mean_full("system")

    # ---- the drives, all together ----

    def _disks(self, *fields):
        """The sum of these fields; NoFigure if no drive has them."""
        disks = self.run["disks"].values()
        found = [disk[field] for disk in disks for field in fields if field in disk]
        if not found:
            raise NoFigure(fields[0])
        return sum(found)

    def figure_disk_reads(self):
        return self._disks("reads")

    def figure_kb_per_read(self):
        return self._disks("read_sectors") / 2 / self._disks("reads")

    def figure_positioning(self):
        """Seconds that the modelled arms moved and waited for the platter, for reads and writes."""
        return self._disks(*("model_" + name for name in POSITIONING + tuple("write_" + n for n in POSITIONING))) / 1e9

    def figure_ms_per_read(self):
        return self._disks(*("model_" + name for name in POSITIONING + MOVING)) / 1e6 / self._disks("model_reads")

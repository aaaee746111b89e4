"""vmstat of the time, from the samples of a run: a line an interval.

Clockhand has no files yet: buff and cache are 0, and all that block devices move is swap.
"""
KIB_PER_PAGE = 4
NS = 1_000_000_000
COLUMNS = ("swpd", "free", "buff", "cache", "si", "so", "bi", "bo", "in", "cs", "us", "sy", "id")
FULL = 0.999                    # of all slots in use: swap is full
COMPUTING = 50                  # percent of user time
LITTLE_SHARE = 0.1              # of the most that was in swap
QUIET_SHARE = 0.01              # a quiet second: less than this of the swap traffic of the busiest one


class Line:
    """One interval. time: seconds at its end; cached: kB of the swap cache at its end."""

    def __init__(self, before, after):
        seconds = (after["time"] - before["time"]) / NS

        def rate(name):
            return (after[name] - before[name]) / seconds

        def percent(*names):
            return 100 * sum(after[n] - before[n] for n in names) / (after["time"] - before["time"])
        self.time, self.seconds = after["time"] / NS, seconds
        self.swpd, self.free = after["swap_used"] * KIB_PER_PAGE, after["free"] * KIB_PER_PAGE
        self.cached = after["swap_cached"] * KIB_PER_PAGE
        self.swpd_begin = before["swap_used"] * KIB_PER_PAGE
        self.si, self.so = rate("pswpin") * KIB_PER_PAGE, rate("pswpout") * KIB_PER_PAGE
        self.interrupts, self.switches = rate("interrupts"), rate("context_switches")
        self.user = percent("user_ns")
        self.system = percent("system_ns", "kswapd_ns")
        self.idle = percent("idle_ns")

    def words(self):
        """The columns, whole numbers."""
        values = (self.swpd, self.free, 0, 0, self.si, self.so, self.si, self.so, self.interrupts, self.switches,
                  self.user, self.system, self.idle)
        return [str(round(v)) for v in values]


def lines(run):
    """Lines of tools/run's JSON; none if it has no samples. Counters that run backwards would be a fault: not hidden."""
    samples = run.get("samples")
    if not samples or not samples.get("rows"):
        return []
    rows = [dict(zip(samples["columns"], row)) for row in samples["rows"]]
    return [Line(a, b) for a, b in zip(rows, rows[1:]) if b["time"] > a["time"]]


def last_quiet(table):
    """The last second of computing in which next to nothing was swapped: before qsbench's last pass. None if there is none.
    Lines with little in swap are those before it was needed, lines with as much as ever the end of that pass, when it has come to
    what is in memory still; a machine that searches memory in vain swaps nothing either."""
    busiest = max((line.si + line.so for line in table), default=0)
    most = max((line.swpd for line in table), default=0)
    quiet = [line for line in table
             if line.swpd > LITTLE_SHARE * most and line.user >= COMPUTING and line.si + line.so <= QUIET_SHARE * busiest]
    before = [line for line in quiet if line.swpd < FULL * most]
    return (before or quiet or [None])[-1]


def full(table, swap_kb):
    """The lines of the last pass in which swap was full from beginning to end, but for the first: in that one, pages are still
    written that had got their slots before."""
    quiet = last_quiet(table)
    lines = [line for line in table if min(line.swpd_begin, line.swpd) >= FULL * swap_kb and (not quiet or line.time > quiet.time)]
    return lines[1:]


def of_thread(text):
    """Lines that a thread quotes, as lists of numbers in the order of COLUMNS."""
    return [[int(word) for word in line.split()] for line in text.strip().splitlines()]

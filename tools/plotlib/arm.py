"""The arm: which cylinder each request of the drive wanted, over time; one run, or two above one another."""
from . import PlotError
from .cells import Grid
from .picture import DARK, LIGHT, Picture

EVENTS = ("DISK", "DISK_DONE")
READ, WRITE, WAY = "read", "write", "way"
COLORS = {READ: DARK, WRITE: LIGHT, WAY: "#e4e4e4"}
ZONES = 16                      # docs/formats.md, "The modelled drive"
SECTOR = 512
NS = 1e9
WIDTH, LEFT, RIGHT = 900, 84, 884
TOP, PANEL, GAP, FOOT = 74, 230, 34, 80
CELL = 2


class Drive:
    """Where a sector lies on the modelled drive that the run's config tells of; else just how far from the beginning."""

    def __init__(self, config):
        self.zones = None
        facts = {name: config.get("disk." + name) for name in ("rpm", "outer_kbs", "inner_kbs", "heads", "capacity_mb", "offset_mb")}
        if all(isinstance(value, int) for value in facts.values()) and facts["rpm"] and facts["heads"]:
            self._lay_out(**facts)

    def _lay_out(self, rpm, outer_kbs, inner_kbs, heads, capacity_mb, offset_mb):
        rates = [outer_kbs * (ZONES - 1 - z) + inner_kbs * z for z in range(ZONES)]
        tracks = [rate * 60000 // (SECTOR * (ZONES - 1)) // rpm for rate in rates]      # sectors of a track, by zone
        cylinders = capacity_mb * 10**6 // SECTOR * ZONES // (heads * sum(tracks)) + 1
        each, first = cylinders // ZONES + 1, 0
        self.zones, self.heads, self.offset = [], heads, offset_mb * 10**6 // SECTOR
        for z, sectors in enumerate(tracks):
            self.zones.append((first, z * each, sectors))
            first += each * heads * sectors

    def place(self, sector):
        """The cylinder, or MiB from the beginning."""
        if not self.zones:
            return sector * SECTOR / (1 << 20)
        sector += self.offset
        first, cylinder, sectors = next(zone for zone in reversed(self.zones) if zone[0] <= sector)
        return cylinder + (sector - first) // sectors // self.heads

    def words(self):
        return "cylinder" if self.zones else "place on the drive, MiB"


class Way:
    """A run's requests: [(seconds, place, READ or WRITE)]."""

    def __init__(self, run, records, title):
        if sum(1 for disk in run.get("disks", {}).values() if disk.get("requests", 0)) > 1:
            raise PlotError("several drives were at work, and the records don't tell them apart")
        self.drive, self.title = Drive(run["config"]), title
        self.requests = [(time / NS, self.drive.place(fields[0]), WRITE if fields[2] else READ)
                         for time, event, _tid, fields in records if event == "DISK"]
        if not self.requests:
            raise PlotError("no request of the drive was streamed: run with --param trace.stream=" + ",".join(EVENTS))
        self.end = run["elapsed_seconds"]
        self.far = sum(abs(b[1] - a[1]) for a, b in zip(self.requests, self.requests[1:]))
        self.least = min(place for _, place, _ in self.requests)
        self.most = max(place for _, place, _ in self.requests)

    def count(self, kind):
        return sum(1 for request in self.requests if request[2] == kind)

    def summary(self):
        unit = "cylinders" if self.drive.zones else "MiB"
        return f"{self.count(READ)} reads, {self.count(WRITE)} writes, {self.far:,.0f} {unit} gone, {self.end:.2f} s"


def _draw_way(picture, way, top, last, elapsed, low, high):
    columns, rows = (RIGHT - LEFT) // CELL, PANEL // CELL
    grid, ground = (Grid(columns, rows, (0, elapsed), (low, high)) for _ in range(2))
    spans = {}
    for (_, before, _), (time, place, kind) in zip([way.requests[0]] + way.requests, way.requests):
        grid.add(time, place, kind)
        column = min(columns - 1, int(time / elapsed * columns))
        least, most = spans.get(column, (place, place))
        spans[column] = min(least, place, before), max(most, place, before)
    for column, (least, most) in spans.items():
        for row in range(int((least - low) / (high - low) * rows), int((most - low) / (high - low) * rows) + 1):
            ground.add((column + 0.5) * elapsed / columns, low + (row + 0.5) * (high - low) / rows, WAY)
    picture.area(LEFT, RIGHT, top, top + PANEL)
    picture.say(f"set xrange [0:{elapsed:.9g}]", f"set yrange [{low:.9g}:{high:.9g}]", "unset key",
                f"set xtics format '{'%g' if last else ''}'", "plot NaN notitle")
    picture.upward(20, top + PANEL / 2, way.drive.words())
    picture.words(LEFT, top - 8, f"{way.title}: {way.summary()}")
    picture.strokes(LEFT, top, (CELL, CELL), ground.paths([WAY]), COLORS)
    picture.strokes(LEFT, top, (CELL, CELL), grid.paths((READ, WRITE)), COLORS)


def draw(runs, titles, command):
    """The Picture of one run or two, each (JSON, records)."""
    if len(runs) > 2:
        raise PlotError("at most two runs")
    titles = titles + [f"run {i + 1}" for i in range(len(runs))][len(titles):]
    ways = [Way(run, records, title) for (run, records), title in zip(runs, titles)]
    elapsed = max(way.end for way in ways)
    low, high = min(way.least for way in ways), max(way.most for way in ways)
    high = max(high, low + 1)
    low, high = low - (high - low) * 0.03, high + (high - low) * 0.03
    picture = Picture(WIDTH, TOP + len(ways) * (PANEL + GAP) - GAP + FOOT, "The arm: where on the drive each request was",
                      "Time runs to the right, upwards lies the place on the drive. " +
                      "; ".join(f"{way.title}: {way.summary()}" for way in ways), command)
    picture.legend([(COLORS[READ], "read"), (COLORS[WRITE], "write"), (COLORS[WAY], "the way between")], LEFT, 40)
    for i, way in enumerate(ways):
        _draw_way(picture, way, TOP + i * (PANEL + GAP), i == len(ways) - 1, elapsed, low, high)
    picture.words((LEFT + RIGHT) // 2, TOP + len(ways) * (PANEL + GAP) - GAP + 46, "seconds of the machine", more=' text-anchor="middle"')
    return picture

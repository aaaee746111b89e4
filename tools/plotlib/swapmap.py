"""The map of swap: whose each slot is, a row a cluster, one machine or two side by side."""
from . import PlotError
from .cells import Grid
from .picture import Picture

WIDTH, TOP, BOTTOM_SPACE = 900, 106, 82
FREE, BAD, SHARED, OTHER = "free", "bad", "shared", "other"
# Owners by rising darkness, so that neighbours differ on grey paper as well.
OWNERS = ("#fbd38a", "#9ecae1", "#f08a5d", "#4f8fc0", "#8a5aa0", "#b03a48", "#2c4f7c", "#3d1f4d")
COLORS = {FREE: "#f4f4f4", BAD: "#707070", SHARED: "#35b89a", OTHER: "#c4c4c4"}
IN_RAM = "in RAM too"
INK = "#000000"
ROW_SLOTS = 256
MAP_HEIGHT_MOST = 560


def _states(area):
    """One letter a slot: f free, b bad, s in swap only, r in RAM too."""
    out = []
    for word in area["states"].split():
        out.append(word[0] * int(word[1:]))
    text = "".join(out)
    if len(text) != area["slots"] or set(text) - set("fbsr"):
        raise PlotError(f"the map of {area['device']} has {len(text)} slots, should have {area['slots']}")
    return text


def _owners(swap_map, number):
    """{slot: pid, or SHARED} in one area."""
    out = {}
    for pid, spans in swap_map["owners"].items():
        for span in spans.split():
            area, _, slots = span.partition(":")
            first, _, count = slots.partition("+")
            if area == number:
                for slot in range(int(first), int(first) + int(count)):
                    out[slot] = pid if out.get(slot, pid) == pid else SHARED
    return out


class Machine:
    """One run's map: `kinds` has each slot's owner or state, over all areas in turn; `in_ram` the slots whose page is in RAM."""

    def __init__(self, run, title, moment):
        maps = run.get("swap_maps")
        if not maps or not -len(maps) <= moment < len(maps):
            raise PlotError(f"there is no map number {moment} in the run: was it asked for (--param swap.map=oom), and did it come to that?")
        self.map = maps[moment]
        cluster = int(run["config"].get("swap.cluster", ROW_SLOTS))
        self.row = cluster * max(1, ROW_SLOTS // cluster)
        self.cluster = cluster
        self.title = title
        self.kinds, self.in_ram = [], []
        for number in sorted(self.map["areas"], key=int):
            self._add_area(number)
        self.names = self.map["tasks"]

    def _add_area(self, number):
        owners = _owners(self.map, number)
        for slot, state in enumerate(_states(self.map["areas"][number])):
            if state == "r":
                self.in_ram.append(len(self.kinds))
            self.kinds.append({"f": FREE, "b": BAD}.get(state) or owners.get(slot, OTHER))
        self.kinds += [None] * (-len(self.kinds) % self.row)

    def count(self, kind):
        return self.kinds.count(kind)


def _palette(machines):
    """{kind: colour}: the owners of most slots get colours of their own."""
    counts = {}
    for m in machines:
        for kind in m.kinds:
            if kind is not None and kind not in COLORS:
                counts[kind] = counts.get(kind, 0) + 1
    order = sorted(counts, key=lambda pid: (-counts[pid], int(pid)))
    return {**COLORS, **{pid: OWNERS[i] if i < len(OWNERS) else COLORS[OTHER] for i, pid in enumerate(order)}}, order[:len(OWNERS)]


def _draw_machine(picture, m, left, width, cell_height, palette):
    rows = len(m.kinds) // m.row
    grid, marks = (Grid(m.row, rows, (0, m.row), (0, rows)) for _ in range(2))
    for slot, kind in enumerate(m.kinds):
        if kind is not None:
            grid.add(slot % m.row + 0.5, rows - slot // m.row - 0.5, kind)
    for slot in m.in_ram:
        marks.add(slot % m.row + 0.5, rows - slot // m.row - 0.5, IN_RAM)
    cell = (width / m.row, cell_height)
    picture.area(left, left + width, TOP, TOP + rows * cell_height)
    step = next(n for n in (8, 16, 32, 64, 128, 256, 512, 1024) if rows / n <= 8)
    picture.say(f"set xrange [0:{m.row}]", f"set yrange [{rows}:0]", f"set xtics {m.row // 4}", f"set ytics {step}",
                "unset key", "plot NaN notitle")
    picture.words(left, TOP - 23, m.title)
    picture.words(left, TOP - 8, _caption(m), size=11)
    clusters = "a row is a cluster" if m.row == m.cluster else f"{m.row // m.cluster} clusters of {m.cluster} a row"
    picture.words(left + width / 2, TOP + rows * cell_height + 46, f"slot in the row ({clusters})", more=' text-anchor="middle"')
    picture.strokes(left, TOP, cell, grid.paths(sorted(palette)), palette)
    picture.strokes(left, TOP, cell, marks.paths([IN_RAM]), {IN_RAM: INK}, 0.34)


def _caption(m):
    used = len(m.kinds) - m.count(FREE) - m.count(BAD) - m.count(None)
    return f"{m.map['time'] / 1e9:.2f} s, {used} slots used, {len(m.in_ram)} of them in RAM too, {m.count(FREE)} free"


def draw(runs, titles, moment, command):
    """The Picture of one run or two. PlotError if one has no such map."""
    if len(runs) > 2:
        raise PlotError("at most two machines fit side by side")
    titles = titles + [f"reclaim={run['config'].get('reclaim', '?')}" for run in runs][len(titles):]
    machines = [Machine(run, title, moment) for run, title in zip(runs, titles)]
    rows = max(len(m.kinds) // m.row for m in machines)
    if rows == 0:
        raise PlotError("there was no swap area")
    cell_height = max(1, min(12, MAP_HEIGHT_MOST // rows))
    palette, order = _palette(machines)
    picture = Picture(WIDTH, TOP + rows * cell_height + BOTTOM_SPACE, "Map of swap: whose each slot is", "; ".join(
        f"{m.title}, {m.map['cause']}: {_caption(m)}, " + ", ".join(
            f"pid {pid} ({m.names.get(pid, '?')}) {m.count(pid)}" for pid in order if m.count(pid)) for m in machines), command)
    names = {pid: name for m in machines for pid, name in m.names.items()}
    owners = [(palette[pid], f"pid {pid} {names.get(pid, '')}") for pid in order]
    states = [(palette[kind], words) for kind, words in ((SHARED, "shared"), (OTHER, "others, objects"), (FREE, "free"), (BAD, "header, bad"))
              if any(kind in m.kinds for m in machines)]
    picture.legend(owners + states + [(INK, "dark core: its page is in RAM too")], 52, 44)
    width = (WIDTH - 52 - 16) if len(machines) == 1 else (WIDTH - 52 - 16 - 40) // 2
    for i, m in enumerate(machines):
        _draw_machine(picture, m, 52 + i * (width + 40), width, cell_height, palette)
    return picture

"""The fault map: which page came and went when, and under it what reclaim did."""
from . import PlotError
from .cells import Grid
from .picture import DARK, FONT, LIGHT, MIDDLE, Picture, quoted

EVENTS = ("SWAP_IN", "SWAP_FOUND", "SWAP_OUT", "MAP", "UNMAP", "KSWAPD_WAKE", "KSWAPD_SLEEP", "DIRECT")
SAMPLE_MS = 20                  # what a fault map asks for if nobody said otherwise
NS = 1e9
PAGES_PER_MIB = 256
IN, HIT, OUT = "in", "hit", "out"
COLORS = {IN: DARK, HIT: MIDDLE, OUT: LIGHT}
GAP_PAGES = 1024                # addresses that far apart are two ranges
LEAST_SHARE = 0.005             # of all dots: below that a range isn't drawn
BANDS_MOST = 24

WIDTH, HEIGHT = 900, 690
LEFT, RIGHT = 92, 884
MAP_TOP, MAP_BOTTOM = 56, 396
FREE_TOP, FREE_BOTTOM = 424, 514
WORK_TOP, WORK_BOTTOM = 542, 606
AXIS_X = 22
CELL = 2
BINS = 198


def dots(records):
    """[(seconds, pid, page, kind)] of what was read and written for whom."""
    out, fresh, last = [], {}, {}
    for time, event, _tid, fields in records:
        if event == "SWAP_IN":
            fresh[fields[0]] = IN
        elif event == "SWAP_FOUND":
            if fields[0] in fresh:
                fresh[fields[0]] = HIT
        elif event == "MAP":
            kind = fresh.pop(fields[0], None)
            if kind:
                out.append((time / NS, fields[1], fields[2] >> 12, kind))
        elif event == "UNMAP":
            last[fields[0]] = fields[1], fields[2] >> 12
        elif event == "SWAP_OUT" and fields[0] in last:
            out.append((time / NS, *last[fields[0]], OUT))
    return out


class Band:
    """Addresses of one process that lie together: pages [first, end), `dots` of all in them, drawn from `base` on."""

    def __init__(self, pid, first, end, count):
        self.pid, self.first, self.end, self.dots, self.base = pid, first, end, count, 0


def _ranges(pid, pages):
    """Bands of {page: dots}."""
    first = last = None
    count = 0
    for page in sorted(pages):
        if first is not None and page - last > GAP_PAGES:
            yield Band(pid, first, last + 1, count)
            first = None
        if first is None:
            first, count = page, 0
        last = page
        count += pages[page]
    if first is not None:
        yield Band(pid, first, last + 1, count)


def bands(all_dots):
    """What is drawn, lowest first, with a gap between two; ranges that hardly anything happened in are left out."""
    pages = {}
    for _time, pid, page, _kind in all_dots:
        of_pid = pages.setdefault(pid, {})
        of_pid[page] = of_pid.get(page, 0) + 1
    found = [band for pid in sorted(pages) for band in _ranges(pid, pages[pid])]
    keep = sorted(found, key=lambda b: (-b.dots, b.pid, b.first))[:BANDS_MOST]
    found = [b for b in found if b in keep and (b.dots >= LEAST_SHARE * len(all_dots) or b is keep[0])]
    gap = sum(b.end - b.first for b in found) // 40
    base = 0
    for band in found:
        band.base = base
        base += band.end - band.first + gap
    return found


def _axis(picture, shown, top):
    """The upward axis: MiB of one array, or a name for each of several."""
    if len(shown) == 1:
        picture.upward(AXIS_X, (MAP_TOP + MAP_BOTTOM) / 2, f"page of the array at {shown[0].first << 12:#x}, MiB")
        picture.say(f"set yrange [0:{top / PAGES_PER_MIB:.9g}]", "set ytics autofreq")
        return
    names = []
    for band in shown:
        middle = (band.base + (band.end - band.first) / 2) / PAGES_PER_MIB
        size = (band.end - band.first) / PAGES_PER_MIB
        if (band.end - band.first) / top * (MAP_BOTTOM - MAP_TOP) >= 24:
            names.append(f"{quoted(f'pid {band.pid}')} {middle:.6g}")
            names.append(f"{quoted(f'{size:.1f} MiB')} {middle - 13 * top / PAGES_PER_MIB / (MAP_BOTTOM - MAP_TOP):.6g}")
        elif (band.end - band.first) / top * (MAP_BOTTOM - MAP_TOP) >= 11:
            names.append(f"{quoted(f'pid {band.pid}')} {middle:.6g}")
    picture.upward(AXIS_X, (MAP_TOP + MAP_BOTTOM) / 2, "pages of each process")
    picture.say(f"set yrange [0:{top / PAGES_PER_MIB:.9g}]",
                f"set ytics ({', '.join(names)}) scale 0 font '{FONT},10'")
    for i, (below, above) in enumerate(zip(shown, shown[1:])):
        y = (below.base + below.end - below.first + above.base) / 2 / PAGES_PER_MIB
        picture.say(f"set arrow {i + 1} from graph 0,first {y:.6g} to graph 1,first {y:.6g} nohead lw 0.7 lc rgb '#808080'")


def _draw_map(picture, run, all_dots, shown, elapsed):
    top = shown[-1].base + shown[-1].end - shown[-1].first
    grid = Grid((RIGHT - LEFT) // CELL, (MAP_BOTTOM - MAP_TOP) // CELL, (0, elapsed), (0, top))
    for time, pid, page, kind in all_dots:
        for band in shown:
            if band.pid == pid and band.first <= page < band.end:
                grid.add(time, band.base + page - band.first, kind)
                break
    picture.area(LEFT, RIGHT, MAP_TOP, MAP_BOTTOM)
    _axis(picture, shown, top)
    picture.say(f"set xrange [0:{elapsed:.9g}]", "set xtics format ''", "unset key", "plot NaN notitle", "unset arrow")
    picture.strokes(LEFT, MAP_TOP, (CELL, CELL), grid.paths((IN, HIT, OUT)), COLORS)


def _columns(points, elapsed):
    """(x, least), (x, most) for each pixel column that has points (x, y)."""
    columns = {}
    for x, y in points:
        column = min(RIGHT - LEFT - 1, int(x / elapsed * (RIGHT - LEFT)))
        least, most = columns.get(column, (y, y))
        columns[column] = min(least, y), max(most, y)
    for column, (least, most) in sorted(columns.items()):
        x = (column + 0.5) * elapsed / (RIGHT - LEFT)
        yield x, least
        if most > least:
            yield x, most


def _draw_free(picture, run, records, elapsed):
    columns, rows = run["samples"]["columns"], run["samples"]["rows"]
    at = columns.index("free")
    points = [(row[0] / NS, max(1, row[at])) for row in rows]
    points += [(time / NS, max(1, fields[0])) for time, event, _tid, fields in records
               if event in ("KSWAPD_WAKE", "KSWAPD_SLEEP", "DIRECT")]
    marks = [(name, run["counters"].get("pages_" + name, 0)) for name in ("high", "low", "min")]
    most = max(y for _, y in points)
    least = min([y for _, y in points] + [value for _, value in marks if value])
    picture.area(LEFT, RIGHT, FREE_TOP, FREE_BOTTOM)
    picture.data("free", _columns(sorted(points), elapsed))
    picture.say("set logscale y", f"set yrange [{max(1, least * 0.5):.6g}:{most * 1.5:.6g}]", "set ytics autofreq scale 1 font ''")
    picture.upward(AXIS_X, (FREE_TOP + FREE_BOTTOM) / 2, "free pages")
    picture.note(RIGHT, FREE_TOP - 5, "dashed: " + ", ".join(f"{name} {value}" for name, value in marks if value))
    for i, (name, value) in enumerate(marks):
        if value:
            picture.say(f"set arrow {i + 1} from graph 0,first {value} to graph 1,first {value} nohead back lw 1 dt {i + 2} lc rgb '#707070'")
    picture.say("plot $free using 1:2 with lines lw 1.2 lc rgb '#202020' notitle", "unset arrow", "unset logscale y")


def _rates(run, name, elapsed):
    """(x, a second) in BINS equal bins, the count taken to grow evenly between two samples."""
    columns, rows = run["samples"]["columns"], run["samples"]["rows"]
    at, step = columns.index(name), elapsed / BINS
    out, i, before = [], 0, 0
    for n in range(1, BINS + 1):
        x = n * step
        while i + 1 < len(rows) and rows[i + 1][0] / NS < x:
            i += 1
        value = rows[i][at]
        if i + 1 < len(rows) and x > rows[i][0] / NS:
            part = (x - rows[i][0] / NS) / ((rows[i + 1][0] - rows[i][0]) / NS)
            value += part * (rows[i + 1][at] - value)
        out.append((x - step / 2, max(0, value - before) / step))
        before = value
    return out


def _draw_work(picture, run, elapsed):
    kswapd, direct = (_rates(run, "pgsteal_" + who, elapsed) for who in ("kswapd", "direct"))
    picture.area(LEFT, RIGHT, WORK_TOP, WORK_BOTTOM)
    picture.upward(AXIS_X - 8, (WORK_TOP + WORK_BOTTOM) / 2, "pages freed")
    picture.upward(AXIS_X + 6, (WORK_TOP + WORK_BOTTOM) / 2, "a second")
    picture.note(RIGHT, WORK_TOP - 5, "grey: by kswapd; line: by allocating threads (direct reclaim)")
    picture.words((LEFT + RIGHT) // 2, WORK_BOTTOM + 46, "seconds of the machine", more=' text-anchor="middle"')
    picture.data("kswapd", kswapd)
    picture.data("direct", direct)
    most = max([y for _, y in kswapd + direct]) or 1
    picture.say(f"set yrange [0:{most * 1.1:.6g}]", f"set ytics {nice(most)}", "set xtics format '%g'",
                "plot $kswapd using 1:2 with fillsteps fs solid fc rgb '#b8b8b8' notitle, "
                f"$direct using 1:2 with steps lw 1.2 lc rgb '{DARK}' notitle")


def nice(most):
    """A distance of tics that gives two or three of them."""
    power = 10 ** (len(str(int(most))) - 1)
    return max(1, next(power * factor / 10 for factor in (1, 2, 5, 10, 20, 50) if most / (power * factor / 10) < 4))


def draw(run, records, command):
    """The Picture of a run: its JSON, its streamed records, the caption. PlotError if nothing was swapped."""
    records = list(records)
    if not run.get("samples", {}).get("rows"):
        raise PlotError("a fault map needs samples: run with --param sample.ms=20")
    all_dots = dots(records)
    if not all_dots:
        raise PlotError("nothing went to swap or came from it, or the events " + ",".join(EVENTS) + " were not streamed")
    shown, elapsed = bands(all_dots), run["elapsed_seconds"]
    count = {kind: sum(1 for dot in all_dots if dot[3] == kind) for kind in (IN, HIT, OUT)}
    pids = sorted({band.pid for band in shown})
    picture = Picture(WIDTH, HEIGHT, "Fault map: which page came from swap and went there, and when", (
        f"Time runs to the right, {elapsed:.3g} seconds; upwards lie the pages of {'process' if len(pids) == 1 else 'processes'} "
        f"{', '.join(map(str, pids))}. {count[OUT]} dots are pages written to swap, {count[IN]} pages that a fault had to wait for, "
        f"{count[HIT]} pages that were there already because a neighbour had been read. Below: free pages on a logarithmic axis "
        f"with the marks high, low and min, and the pages that kswapd and allocating threads freed a second."), command)
    picture.legend([(COLORS[IN], f"page-in, a fault waits ({count[IN]})"), (COLORS[HIT], f"readahead hit ({count[HIT]})"),
                    (COLORS[OUT], f"page-out ({count[OUT]})")], LEFT, MAP_TOP - 10)
    _draw_map(picture, run, all_dots, shown, elapsed)
    _draw_free(picture, run, records, elapsed)
    _draw_work(picture, run, elapsed)
    return picture

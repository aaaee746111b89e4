"""Curves over time as SVG, written by hand: lines told apart by their dashes, so that grey print will do."""
from html import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 620, 170, 62, 8, 22, 26
POINTS_MOST = 300
TICKS = 4
STYLES = (("#1b4f8f", ""), ("#b5541c", "7 3"), ("#3a7d2c", "2 3"))      # colour and dashes


class Curve:
    """points: (x, y), x rising."""

    def __init__(self, name, points):
        self.name, self.points = name, _thinned(points)


def _thinned(points):
    """At most POINTS_MOST, each the mean of its neighbours."""
    step = -(-len(points) // POINTS_MOST)
    if step <= 1:
        return points
    groups = [points[i:i + step] for i in range(0, len(points), step)]
    return [(sum(x for x, _ in g) / len(g), sum(y for _, y in g) / len(g)) for g in groups]


def _round_up(value):
    """The next of 1, 2, 2.5, 5 times a power of ten, for the end of an axis."""
    power = 1.0
    while power * 10 <= value:
        power *= 10
    return next(power * step for step in (1, 2, 2.5, 5, 10) if power * step >= value)


def _number(value):
    return f"{value:g}"


class Panel:
    """One coordinate system of several curves."""

    def __init__(self, title, unit, curves, seconds):
        self.title, self.unit, self.curves, self.x_most = title, unit, curves, max(seconds, 1)
        self.y_most = _round_up(max([y for c in curves for _, y in c.points] + [1]))

    def _x(self, x):
        return LEFT + (WIDTH - LEFT - RIGHT) * x / self.x_most

    def _y(self, y):
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - y / self.y_most)

    def _grid(self):
        for i in range(TICKS + 1):
            value, seconds = self.y_most * i / TICKS, self.x_most * i / TICKS
            y, x = self._y(value), self._x(seconds)
            yield f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>'
            yield f'<text x="{LEFT - 5}" y="{y + 4:.1f}" text-anchor="end">{_number(value)}</text>'
            anchor = "end" if i == TICKS else "middle"
            yield f'<text x="{x:.1f}" y="{HEIGHT - 9}" text-anchor="{anchor}">{seconds:.0f}{" s" if i == TICKS else ""}</text>'

    def _curve(self, curve, style):
        colour, dashes = style
        path = "M" + "L".join(f"{self._x(x):.1f} {self._y(y):.1f}" for x, y in curve.points)
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        return f'<path class="curve" stroke="{colour}"{dashed} d="{path}"/>'

    def _key(self):
        x = LEFT + 150
        for curve, (colour, dashes) in zip(self.curves, STYLES):
            dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
            yield f'<path class="curve" stroke="{colour}"{dashed} d="M{x} 11H{x + 26}"/>'
            yield f'<text x="{x + 30}" y="15">{escape(curve.name)}</text>'
            x += 46 + 7 * len(curve.name)

    def svg(self):
        label = f"{self.title}, {self.unit}, over {self.x_most:.0f} seconds: " + ", ".join(c.name for c in self.curves)
        parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}">',
                 f'<text x="{LEFT}" y="15">{escape(self.unit)}</text>']
        parts += list(self._grid()) + list(self._key())
        parts += [self._curve(curve, style) for curve, style in zip(self.curves, STYLES) if curve.points]
        return "\n".join(parts + ["</svg>"])


def course(title, lines):
    """Two panels of a run's vmstat lines: memory, and swap traffic."""
    seconds = lines[-1].time

    def curve(name, field, scale):
        return Curve(name, [(line.time, getattr(line, field) / scale) for line in lines])
    memory = [curve("swap in use", "swpd", 1024), curve("page in memory too", "cached", 1024), curve("free", "free", 1024)]
    traffic = [curve("si", "si", 1024), curve("so", "so", 1024)]
    return [Panel(title, "MiB", memory, seconds).svg(), Panel(title, "MiB/s", traffic, seconds).svg()]


def course_of_thread(title, rows):
    """The same from the lines that a thread quotes, one a second."""
    def curve(name, column):
        return Curve(name, [(i + 1, row[column] / 1024) for i, row in enumerate(rows)])
    return [Panel(title, "MiB", [curve("swap in use", 0)], len(rows)).svg(),
            Panel(title, "MiB/s", [curve("si", 4), curve("so", 5)], len(rows)).svg()]

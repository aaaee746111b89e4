"""Many dots in few bytes: a grid of cells, each drawn at most once.

A cell that holds dots of several kinds shows one of them, and of neighbouring cells each kind gets its share: what a cell could
not show is carried on to the next. So the picture depends on the dots alone, not on their order, and its size on the grid.
"""


class Grid:
    """columns x rows cells over x in [x0, x1], y in [y0, y1]; y counts from the bottom."""

    def __init__(self, columns, rows, x_range, y_range):
        self.columns, self.rows = columns, rows
        (self.x0, x1), (self.y0, y1) = x_range, y_range
        self.x_scale = columns / (x1 - self.x0) if x1 > self.x0 else 0
        self.y_scale = rows / (y1 - self.y0) if y1 > self.y0 else 0
        self.counts = {}                # (row from the top, column) -> {kind: dots}

    def add(self, x, y, kind):
        column = min(self.columns - 1, max(0, int((x - self.x0) * self.x_scale)))
        row = self.rows - 1 - min(self.rows - 1, max(0, int((y - self.y0) * self.y_scale)))
        here = self.counts.setdefault((row, column), {})
        here[kind] = here.get(kind, 0) + 1

    def paths(self, kinds):
        """{kind: SVG path data}: a horizontal stroke for each run of cells of one kind, in cells as units."""
        shown, owed = {}, dict.fromkeys(kinds, 0.0)
        for cell in sorted(self.counts, key=lambda c: (c[1], c[0])):
            here = self.counts[cell]
            dots = sum(here.values())
            for kind in here:
                owed[kind] += here[kind] / dots
            best = max((kind for kind in kinds if kind in here), key=owed.get)
            owed[best] -= 1
            shown.setdefault(best, []).append(cell)
        return {kind: _strokes(sorted(shown[kind])) for kind in kinds if kind in shown}


def _runs(cells):
    """(row, first column, length) of neighbours; the cells are sorted."""
    start = length = None
    for row, column in cells:
        if start is not None and row == start[0] and column == start[1] + length:
            length += 1
            continue
        if start is not None:
            yield *start, length
        start, length = (row, column), 1
    if start is not None:
        yield *start, length


def _strokes(cells):
    """Path data by relative moves: "m3 0h1" is half the bytes of "M123 45h1"."""
    out, x, y = [], 0, 0
    for row, column, length in _runs(cells):
        dx = column - x
        out.append(f"m{dx}{'' if row - y < 0 else ' '}{row - y}h{length}")
        x, y = column + length, row
    return "".join(out)

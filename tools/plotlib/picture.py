"""One picture: a script for gnuplot, and what is put into the SVG that it makes.

The bytes depend on the data alone: gnuplot is told everything that it would look up (no ~/.gnuplot, one locale), and
writes no date.
"""
import os
import re
import subprocess
from xml.sax.saxutils import escape

from . import PlotError

GNUPLOT_SECONDS = 300
FONT = "sans-serif"
GREY = "#c8c8c8"
# Their luminance falls in this order, so that they differ on grey paper too.
LIGHT, MIDDLE, DARK = "#f2a93b", "#2f8fbf", "#5b0f3c"


class Picture:
    """`title` and `desc` are the alt text, `command` the caption."""

    def __init__(self, width, height, title, desc, command):
        self.width, self.height = width, height
        self.title, self.desc = title, desc
        self.script = [
            f'set terminal svg size {width},{height} fixed noenhanced font "{FONT},12" background "#ffffff" butt',
            "set encoding utf8", "set multiplot", "set border lw 0.7 lc rgb '#404040'", "set tics out nomirror",
            "set style fill solid noborder"]
        self.inserts = []
        self.words(8, 20, title, size=15)
        lines = wrapped(command, int((width - 16) / 6.1))
        for i, line in enumerate(lines):
            self.words(8, height - 8 - 13 * (len(lines) - 1 - i), line, size=10, family="monospace", color="#404040")

    def words(self, x, y, words, size=12, family=FONT, color="#000000", more=""):
        """A line of text, its foot at y; `more` attributes."""
        self.inserts.append(f'<text x="{x}" y="{y}" font-family="{family}" font-size="{size}" fill="{color}" '
                            f'xml:space="preserve"{more}>{escape(words)}</text>')

    def upward(self, x, y, words, size=12):
        """A line of text that runs upward and is centred at y: what an axis shows."""
        self.words(0, 0, words, size, more=f' text-anchor="middle" transform="translate({x} {y:g}) rotate(-90)"')

    def note(self, x, y, words):
        """Small words that end at x."""
        self.words(x, y, words, size=11, color="#303030", more=' text-anchor="end"')

    def say(self, *lines):
        self.script += lines

    def area(self, left, right, top, bottom):
        """The next plot's frame, in pixels from the picture's top left corner."""
        self.say(f"set lmargin at screen {left / self.width:.6f}", f"set rmargin at screen {right / self.width:.6f}",
                 f"set tmargin at screen {1 - top / self.height:.6f}", f"set bmargin at screen {1 - bottom / self.height:.6f}")

    def data(self, name, rows):
        """A block for `plot $name`: rows of numbers; an empty row interrupts a line."""
        self.script += [f"${name} << EOD"] + [" ".join(map(number, row)) for row in rows] + ["EOD"]

    def strokes(self, left, top, cell, paths, colors, thickness=1.0):
        """Path data of plotlib.cells, its cells of `cell` (width, height) pixels, from (left, top) on."""
        width, height = cell
        for kind, path in paths.items():
            # A stroke is centred on its row. Scaling makes it `height` thick.
            self.inserts.append(f'<path transform="translate({left} {top + height / 2:g}) scale({width:g} {height:g})" '
                                f'fill="none" stroke="{colors[kind]}" stroke-width="{thickness:g}" d="M0 0{path}"/>')

    def legend(self, entries, x, y):
        """Squares and words, from (x, y) on, in lines as long as the picture is wide: [(colour, words)]."""
        left = x
        for color, words in entries:
            if x > left and x + 15 + 6.6 * len(words) > self.width - 12:
                x, y = left, y + 17
            self.inserts.append(f'<rect x="{x}" y="{y - 9}" width="10" height="10" fill="{color}"/>')
            self.words(x + 15, y, words)
            x += 15 + int(6.6 * len(words)) + 22

    def svg(self):
        text = run_gnuplot("\n".join(self.script + ["unset multiplot", ""]))
        text = re.sub(r"<title>.*?</title>\s*<desc>.*?</desc>", lambda _: (
            f'<title id="title">{escape(self.title)}</title>\n<desc id="desc">{escape(self.desc)}</desc>'), text, count=1, flags=re.S)
        text = text.replace("<svg \n", '<svg role="img" aria-labelledby="title desc"\n', 1)
        text = _without_unused(_shorter(text))
        end = text.rindex("</svg>")
        return text[:end] + "\n".join(self.inserts) + "\n" + text[end:]

    def write(self, path):
        text = self.svg()
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)


def quoted(words):
    return "'" + words.replace("'", "''") + "'"


def number(value):
    return value if isinstance(value, str) else f"{value:.9g}"


def wrapped(words, columns):
    """Lines of at most `columns` characters, cut at blanks."""
    lines = [""]
    for word in words.split(" "):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > columns:
            lines[-1] += " \\"
            lines.append("   ")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines


def _shorter(text):
    """Coordinates without zeros at their ends; gnuplot writes two digits always."""
    def of_tag(tag):
        return re.sub(r"(?<=\d)\.(\d*?)0+(?=[ ,)'\"LMZ])", lambda m: "." + m.group(1) if m.group(1) else "", tag.group())
    return re.sub(r"<\w[^>]*>", of_tag, text)


def _without_unused(text):
    """Markers and filters that nothing refers to."""
    return text if "#gpPt" in re.sub(r"<defs>.*?</defs>", "", text, flags=re.S) else re.sub(r"<defs>.*?</defs>\s*", "", text, flags=re.S)


def run_gnuplot(script):
    environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C.UTF-8", "HOME": "/nonexistent"}
    try:
        done = subprocess.run(["gnuplot", "-d", "-"], input=script.encode(), capture_output=True, env=environment,
                              timeout=GNUPLOT_SECONDS, check=False)
    except FileNotFoundError as e:
        raise PlotError("there is no gnuplot here: tools/setup plot") from e
    text = done.stdout.decode()
    if done.returncode != 0 or "</svg>" not in text:
        raise PlotError(f"gnuplot: {done.stderr.decode(errors='replace').strip()[-600:]}")
    return text

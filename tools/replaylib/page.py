"""Pieces of HTML, and the page around them."""
from html import escape

STYLE = """
body { font: 15px/1.45 Georgia, serif; color: #111; background: #fff; max-width: 66em; margin: 2em auto; padding: 0 1em }
h1, h2, h3, h4, table, svg text, .verdict { font-family: Helvetica, Arial, sans-serif }
h1 { font-size: 1.6em } h2 { font-size: 1.3em; margin-top: 2.2em; border-bottom: 2px solid #111 } h3 { font-size: 1.05em }
table { border-collapse: collapse; font-size: .82em; margin: .6em 0 1em }
th, td { border: 1px solid #999; padding: .2em .55em; text-align: left; vertical-align: top }
th { background: #eee } td.n { text-align: right; white-space: nowrap } caption { text-align: left; padding: .2em 0; font-weight: bold }
code, pre { font: .85em/1.35 monospace } pre { border-left: 3px solid #999; padding-left: .8em; white-space: pre-wrap }
.verdict { font-weight: bold; border: 1px solid #111; padding: 0 .4em; white-space: nowrap }
.reproduced { background: #cfe8cf } .different { background: #f5e6b8; border-style: dashed }
.not { background: #f0c4bc; border-width: 2px } .incomplete { background: #fff; border-style: dotted }
figure { margin: .6em 0; break-inside: avoid } figcaption { font-size: .85em }
svg { width: 100%; max-width: 46em; display: block } svg text { font-size: 11px }
.grid { stroke: #ccc; fill: none } .curve { stroke-width: 1.6; fill: none }
section.row { break-inside: avoid-page; margin: 1.4em 0 }
.small { font-size: .85em } .hash { font-family: monospace; word-break: break-all }
@media print { body { max-width: none; margin: 0; font-size: 11px } h2 { break-before: page } a { color: inherit } }
"""


def tag(name, content, **attributes):
    """An element; `content` is HTML already. class_ stands for class."""
    words = "".join(f' {key.rstrip("_")}="{escape(str(value))}"' for key, value in attributes.items())
    return f"<{name}{words}>{content}</{name}>"


def text(name, words, **attributes):
    """An element with plain words in it."""
    return tag(name, escape(str(words)), **attributes)


def table(head, rows, caption=""):
    """head: words; rows: cells that are words, or HTML if wrapped in Html. Cells that begin with a digit are set right."""
    lines = [text("caption", caption)] if caption else []
    lines.append(tag("tr", "".join(text("th", word) for word in head)))
    lines += [tag("tr", "".join(_cell(cell) for cell in row)) for row in rows]
    return tag("table", "\n".join(lines))


class Html(str):
    """Words that are HTML already."""


def _cell(cell):
    if isinstance(cell, Html):
        return tag("td", cell)
    return text("td", cell, **({"class_": "n"} if str(cell)[:1].isdigit() else {}))


def paragraphs(words):
    """Paragraphs of plain words, parted by empty lines."""
    return "\n".join(text("p", " ".join(part.split())) for part in words.strip().split("\n\n"))


def figure(svgs, caption):
    return tag("figure", "\n".join(svgs) + text("figcaption", caption))


def verdict(word):
    return Html(text("span", word, class_="verdict " + word.split()[0]))


def whole(title, body):
    return "\n".join(["<!DOCTYPE html>", '<html lang="en">', "<head>", '<meta charset="utf-8">',
                      '<meta name="viewport" content="width=device-width, initial-scale=1">', text("title", title),
                      tag("style", STYLE), "</head>", "<body>", text("h1", title), *body, "</body>", "</html>", ""])

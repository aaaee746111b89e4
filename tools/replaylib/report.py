"""The report: one HTML file of the tables, the results that are there, and the notes of docs/replays.md."""
import os
import re
from html import escape

from . import charts, figures, job, judge, page, tables as tables_module, vmstat

TITLE = "Replays"
NOTES = os.path.join(job.ROOT, "docs", "replays.md")
WHOLE = {"completed", "killed"}         # figures that are told as "2 of 3"
SHORT_HASH = 12
LINES_MOST = 40                         # of a vmstat table
OUTPUT_LINES = 12
TOLD = re.compile(r"swap\.|oom|reclaim|disk$|mips|rmap|elevator|vm\.")      # parameters told with a job


def notes(path=NOTES):
    """{row's id: words} of the sections `### ID` in the document."""
    try:
        with open(path, encoding="utf-8") as f:
            parts = re.split(r"^### (\w+)\n", f.read(), flags=re.MULTILINE)
    except OSError:
        return {}
    return {ident: re.split(r"^#", words, flags=re.MULTILINE)[0].strip() for ident, words in zip(parts[1::2], parts[2::2])}


# ---- figures in cells ----

def spread(values, figure, digits):
    """All seeds in one cell: the mean, and from where to where."""
    if not values:
        return "-"
    if figure in WHOLE:
        return f"{sum(values)} of {len(values)}"
    shown = [f"{v:,.{digits}f}" for v in (sum(values) / len(values), min(values), max(values))]
    return shown[0] if shown[1] == shown[2] else f"{shown[0]} ({shown[1]} to {shown[2]})"


class Ours:
    """Figures of all jobs, each read once."""

    def __init__(self, tables, results):
        self.tables, self.results, self.known = tables, results, {}

    def runs(self, name):
        if name not in self.known:
            found = [self.results.load(run)[0] for run in self.tables.runs_of(name)]
            self.known[name] = [figures.Figures(r) for r in found if r and r["cause"] not in job.BAD]
        return self.known[name]

    def cell(self, name, figure, digits):
        values = []
        for run in self.runs(name):
            try:
                values.append(run[figure])
            except figures.NoFigure:
                pass
        return spread(values, figure, digits)


# ---- a thread ----

def thread_table(ours, table):
    """A [[table]]: a line a figure, the thread's column beside ours for each kernel."""
    head = [""] + [f"{column}, {whose}" for column in table["columns"] for whose in ("there", "here")]
    rows = []
    for line in table["lines"]:
        cells = [line["what"]]
        for name, there in zip(table["jobs"], line["thread"]):
            cells += [there, ours.cell(name, line["figure"], line["digits"])]
        rows.append(cells)
    return page.table(head, rows, table["title"])


def seconds(value):
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def run_rows(ours, run):
    """A [[run]]'s lines of csh's time beside those of our job."""
    here = ours.runs(run["job"])
    for i in range(max(len(run["lines"]), len(here))):
        cells = [run["kernel"] if i == 0 else ""]
        there = run["lines"][i] if i < len(run["lines"]) else ["", "", "", ""]
        cells += [seconds(v) for v in there[:4]] + ["killed" if len(there) > 4 else "", run.get("kswapd", "") if i == 0 else ""]
        if i < len(here):
            f = here[i]
            cells += [f"{f[name]:.{digits}f}" for name, digits in (("user", 2), ("system", 2), ("elapsed", 2), ("pf", 0))]
            cells += ["killed" if f["killed"] else "" if f["completed"] else "failed", f"{f['kswapd']:.2f}"]
        else:
            cells += ["-"] * 4 + [""] * 2
        yield cells


def run_table(ours, runs):
    head = ["kernel"] + [f"{name}, {whose}" for whose in ("there", "here") for name in ("user s", "system s", "elapsed s", "pf", "end", "kswapd s")]
    caption = "time qsbench -n 90000000 -p 1 -s 140175100: a line a run; kswapd's CPU of three runs there, of each run here"
    return page.table(head, [row for run in runs for row in run_rows(ours, run)], caption)


def vmstat_table(caption, rows):
    """Lines in the columns of the time, the last LINES_MOST."""
    return page.table(list(vmstat.COLUMNS), rows[-LINES_MOST:], caption)


def from_last_quiet(lines):
    """The lines from a little before the last pass on."""
    quiet = vmstat.last_quiet(lines)
    return lines[max(lines.index(quiet) - 4, 0):] if quiet else lines


def vmstat_section(ours, thread):
    """Curves and columns of the thread and of the first seed of the same job."""
    for course in thread.get("course", []):
        yield from our_course(ours, course["job"], course["title"], False)
    for there in thread.get("vmstat", []):
        rows = vmstat.of_thread(there["rows"])
        title = f"{there['kernel']}, there"
        yield page.figure(charts.course_of_thread(title, rows), f"{title}: from the last quiet seconds to the end")
        yield vmstat_table(title, rows)
        yield from our_course(ours, there["job"], f"{there['kernel']}, here", True)


def our_course(ours, name, title, columns):
    runs = [run for run in ours.runs(name) if run.lines]
    if not runs:
        yield page.text("p", f"{title}: no samples of {name} are there.")
        return
    lines = runs[0].lines
    yield page.figure(charts.course(title, lines), f"{title}: {runs[0].result['command']}")
    if columns:
        yield vmstat_table(f"{title}, from the last quiet seconds on", [line.words() for line in from_last_quiet(lines)])


# ---- a row ----

def column(tables, row, name):
    """What a job is called in its row: its kernel, and its machine if others have another."""
    found = tables.jobs[name]
    several = len({tables.jobs[other]["machine"] for other in row.jobs.values()}) > 1
    return f"{found['kernel']}, {found['machine']}" if several else found["kernel"]


def compare_table(judged, ours):
    row = judged.row
    head = [""] + [f"{column(ours.tables, row, name)}, {whose}" for name in row.jobs.values() for whose in ("there", "here")]
    lines = []
    for line in row.compare:
        cells = [line["what"]]
        for alias, name in row.jobs.items():
            cells += [line.get("thread", {}).get(alias, ""), ours.cell(name, line["figure"], line["digits"])]
        lines.append(cells)
    return page.table(head, lines)


def row_section(judged, ours, note):
    row = judged.row
    parts = [page.tag("h3", f"{escape(row.id)} {page.verdict(judged.verdict)} {escape(row.claim)}", id=row.id)]
    parts.append(compare_table(judged, ours))
    bounds = f"Reproduced if {page.text('code', row.reproduced)}"
    if row.different:
        bounds += f"; different if only {page.text('code', row.different)}"
    seeds = ", ".join(f"{seed}: {judged.verdicts[seed]}" for seed in judged.seeds) or "none complete"
    parts.append(page.tag("p", f"{bounds}. Strength {row.strength} ({tables_module.STRENGTHS[row.strength]}). Seed {escape(seeds)}.", class_="small"))
    parts.append(page.text("p", f"Mechanism: {row.mechanism}"))
    if judged.words:
        parts.append(page.text("p", "Counters: " + " ".join(judged.words)))
    if judged.lacking:
        parts.append(page.text("p", "Lacking: " + "; ".join(f"{name} ({why})" for name, why in judged.lacking)))
    if note:
        parts.append(page.paragraphs(note))
    return page.tag("section", "\n".join(parts), class_="row")


# ---- all ----

def summary(judgements):
    rows = [[page.Html(page.tag("a", escape(j.row.id), href="#" + j.row.id)), j.row.strength, j.row.claim, page.verdict(j.verdict),
             ", ".join(f"{s} {v}" for s, v in j.verdicts.items() if v != j.verdict)] for j in judgements]
    return page.table(["row", "strength", "claim", "verdict", "seeds that differ"], rows)


def job_row(results, run):
    result, own = results.load(run)[0], results.digest(run)
    cells = [run.name, results.state(run)]
    f = figures.Figures(result) if result and result["run"] else None
    for name, digits in (("elapsed", 2), ("user", 2), ("system", 2), ("kswapd", 2), ("pf", 0), ("pswpin", 0), ("pswpout", 0)):
        try:
            cells.append(f"{f[name]:.{digits}f}" if f else "-")
        except (figures.NoFigure, TypeError):
            cells.append("-")
    return cells + [own[:SHORT_HASH] or "-"]


def in_force(run):
    """The parameters in force, era defaults included, and the swap cache's figures in the words of the time."""
    config, counters = run.get("config", {}), run.get("counters", {})
    words = [f"{name}={value}" for name, value in config.items() if value != "" and TOLD.match(name)]
    found = [counters.get("swap_cache_" + name, "?") for name in ("add", "delete", "find_success", "find_total")]
    return [" ".join(words), "Swap cache: add {}, delete {}, find {}/{}".format(*found)]


def job_details(results, run):
    """What a job printed, or why it failed."""
    result = results.load(run)[0]
    if result is None:
        return page.tag("p", page.text("code", run.shell()), class_="small")
    lines = result.get("words", "").splitlines()[:OUTPUT_LINES] + result["log"][-OUTPUT_LINES:] + result["output"][-OUTPUT_LINES:]
    if result["run"]:
        lines = in_force(result["run"]) + lines
    return page.text("h4", run.name) + page.text("pre", "\n".join([result["command"], *lines]))


def machines_section(tables):
    """What the tables say about machines and kernels."""
    def words(parameters):
        return " ".join(f"{name}={value}" for name, value in parameters.items())
    machines = [[name, m["about"], m["ram"], " ".join(m["swap"]), m.get("mips", ""), words(m.get("param", {}))]
                for name, m in tables.machines.items()]
    return [page.text("h2", "Machines and kernels"),
            page.table(["machine", "what it stands for", "--ram", "--swap", "--mips", "parameters"], machines),
            page.table(["kernel", "parameters"], [[name, words(parameters)] for name, parameters in tables.kernels.items()])]


def jobs_section(results, runs):
    head = ["job", "end", "elapsed s", "user s", "system s", "kswapd s", "pf", "pages in", "pages out", "sha256"]
    parts = [page.text("h2", "Jobs"), page.table(head, [job_row(results, run) for run in sorted(runs, key=lambda r: r.name)])]
    total = results.digest_of_all(runs)
    parts.append(page.tag("p", f"{results.count(runs)}. sha256 over their JSON: " + page.text("span", total, class_="hash")))
    parts += [job_details(results, run) for run in sorted(runs, key=lambda r: r.name)]
    return parts


def write(tables, results, rows, runs, path):
    """Write the report of these rows; the judgements."""
    judgements, ours, told = judge.judge(tables, results, rows), Ours(tables, results), notes()
    counted = ", ".join(f"{sum(j.verdict == v for j in judgements)} {v}" for v in
                        (judge.REPRODUCED, judge.DIFFERENT, judge.NOT, judge.INCOMPLETE))
    body = [page.text("p", f"{len(judgements)} rows: {counted}. {results.count(runs)}; sha256 over their JSON:"),
            page.text("p", results.digest_of_all(runs), class_="hash"), summary(judgements)]
    for thread in tables.threads:
        mine = [j for j in judgements if j.row.thread == thread["id"]]
        if not mine:
            continue
        body += [page.text("h2", thread["title"]), page.paragraphs(thread["story"])]
        body += [thread_table(ours, table) for table in thread.get("table", [])]
        if "run" in thread:
            body.append(run_table(ours, thread["run"]))
        body += [row_section(j, ours, told.get(j.row.id, "")) for j in mine]
        body.append(page.text("h3", "vmstat over time"))
        body += list(vmstat_section(ours, thread))
    with open(path, "w", encoding="utf-8") as f:
        f.write(page.whole(TITLE, body + machines_section(tables) + jobs_section(results, runs)))
    return judgements

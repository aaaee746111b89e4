"""Made-up results of replay jobs: what the threads tell, so that each row comes out as reproduced, and changes to that."""
import json
import os
import subprocess
import sys

from . import guest

sys.path.insert(0, os.path.join(guest.ROOT, "tools"))
from replaylib import job, judge, tables      # noqa: E402  (the path comes first)

TABLES = tables.Tables()
COLUMNS = ["time", "free", "swap_used", "swap_cached", "active", "inactive", "pswpin", "pswpout", "pgmajfault", "pgfault",
           "interrupts", "context_switches", "user_ns", "system_ns", "kswapd_ns", "idle_ns"]
NS = 1_000_000_000
QUIET, FILLING = 20, 8          # seconds: the sort's quiet end, and then until swap is full

# Of each job: csh's user, system and elapsed seconds, major faults; kswapd's; the end; swpd in kB before the last pass.
SORTS = {
    "qs-2_4_13": (71.0, 2.1, 139.7, 20313, 2.0, "exit", 109864), "qs-pre5": (70.4, 3.3, 134.6, 17044, 0.3, "exit", 142648),
    "qs-pre6": (69.6, 3.1, 132.4, 15900, 0.3, "oom", 139968), "qs-pre6-80": (69.5, 3.2, 131.2, 15297, 0.3, "oom", 128648),
    "qs-pre6-50": (70.3, 3.4, 135.9, 17170, 0.5, "exit", 128648), "qs-pre6-80-400": (70.7, 3.6, 135.3, 16545, 0.3, "exit", 134196),
    "qs-skraw1": (70.7, 2.2, 147.6, 18600, 18.0, "exit", 130000), "qs-skraw2": (70.7, 2.2, 148.4, 18677, 21.0, "exit", 130000),
    "qs-skraw2-400": (70.7, 2.2, 151.6, 18900, 21.0, "exit", 130000), "qs-aa": (71.2, 2.2, 136.4, 19100, 1.0, "exit", 130000),
    "qs-2_4_9": (71.2, 3.7, 187.2, 13688, 2.7, "exit", 150000), "qs-final": (70.0, 7.0, 151.1, 17000, 1.0, "exit", 130000),
    "qs-final-400": (70.0, 7.0, 166.0, 17000, 1.0, "exit", 200000), "qs-always": (70.0, 7.0, 153.3, 17000, 1.0, "exit", 100000),
    "qs-always-400": (70.0, 7.0, 149.1, 17000, 1.0, "exit", 100000)}
# Of each job: what the hogs print, and lookups of the swap cache: found, all.
HOGS = {
    "m1-pre6": ((10.75, 2.01, 1.97), (13315, 194300)), "m1-patch": ((13.27, 6.15, 5.77), (76003, 237711)),
    "m2-pre6": ((9.01, 0.8, 0.8), (13315, 194300)), "m2-patch": ((6.53, 1.74, 1.71), (76003, 237711))}
# Of each job: what the probes print as median, 99 % and most, of typing and of looking at another desktop.
DESKS = {"desk-pre6": ((0.01, 20.0, 300.0), (5500.0, 9000.0, 9000.0)), "desk-patch": ((0.01, 900.0, 60000.0), (60000.0, 90000.0, 90000.0))}


def samples(seconds, before, swap_kb, filled):
    """A row a second: quiet, then swap fills up to `filled` kB, then it is only read."""
    rows, swapped_in, swapped_out = [], 1000, before // 4
    for second in range(seconds):
        rising = min(max(second - (seconds - QUIET), 0), FILLING)
        used = before + (filled - before) * rising // FILLING
        if rising:
            swapped_in += 4000
        if 0 < rising < FILLING or rising == FILLING and second == seconds - QUIET + FILLING:
            swapped_out += 2000
        rows.append([second * NS, 600, used // 4, min(used, swap_kb) // 10, 100, 200, swapped_in, swapped_out, swapped_in // 8, swapped_in,
                     second * 200, second * 300, second * NS // 2, second * NS // 10, 0, second * NS * 2 // 5])
    over = list(rows[-1])                       # power off: all is free again
    over[0], over[2], over[3] = over[0] + NS // 100, 1000, 0
    return {"columns": COLUMNS, "rows": rows + [over]}


def result(run, cause="exit", code=0, output=(), counters=None, seconds=(0.0, 0.0, 0.0, 0.0), **more):
    """A result as tools/replay keeps it. seconds: elapsed, user, system, kswapd."""
    elapsed, user, system, kswapd = seconds
    known = {"pgmajfault": 1000, "pswpin": 9000, "pswpout": 8000, "swap_cache_add": 190000, "swap_cache_delete": 189000,
             "swap_cache_find_success": 10, "swap_cache_find_total": 100, "swap_readahead": 1500, "pgscan_kswapd": 1000,
             "pgscan_direct": 2000, "pgsteal_direct": 1500, "reclaim_failed": 150, "swap_out_ptes": 1000000, "swap_total_pages": 48878}
    known.update(counters or {})
    disk = {"reads": 500, "read_sectors": 32000, "writes": 100, "model_reads": 500, "model_seek_ns": 3 * NS, "model_rotation_ns": 2 * NS,
            "model_transfer_ns": NS, "model_buffer_ns": 0, "model_write_seek_ns": NS, "model_write_rotation_ns": 0}
    figures = {"exit": code, "cause": cause, "elapsed_seconds": elapsed, "user_seconds": user, "system_seconds": system,
               "kswapd_seconds": kswapd, "idle_seconds": 1.0, "counters": known, "disks": {"hda": disk}}
    figures.update(more)
    return {"job": run.name, "command": run.shell(), "run": figures, "output": list(output), "log": [], "cause": cause}


def _sort(run):
    user, system, elapsed, faults, kswapd, cause, before = SORTS[run.job_name]
    large = run.job_name.endswith("-400")
    swap_kb = 390592 if large else 195512
    percent = 100 * (user + system) / elapsed
    line = f"{user:.3f}u {system:.3f}s {int(elapsed // 60)}:{elapsed % 60:05.2f} {percent:.1f}% 0+0k 0+0io {faults}pf+0w"
    counters = {"swap_total_pages": swap_kb // 4, "pgscan_kswapd": int(kswapd * 100000)}
    return result(run, cause, 123 if cause == "oom" else 0, [line], counters, (elapsed, user, system, kswapd),
                  samples=samples(int(elapsed), before, swap_kb, 240920 if large else swap_kb))


def _hogs(run):
    speeds, (found, looked) = HOGS[run.job_name]
    counters = {"swap_cache_find_success": found, "swap_cache_find_total": looked,
                "swap_readahead": 800 if "pre6" in run.job_name else 9000}
    output = ["..."] + [f"Memory speed: {speed:.2f} MB/sec" for speed in speeds]
    return result(run, output=output, counters=counters, samples=samples(60, 40000, 195512, 100000))


def _desk(run):
    output = ["Memory speed: 1.00 MB/sec"] * 2
    for (median, most, longest), (every, pages) in zip(reversed(DESKS[run.job_name]), ((10000, 2048), (100, 64))):
        output += [f"latency: 900 wakes every {every} ms, {pages} pages", "late ms: min 0.000 median 0.000 99% 0.000 max 0.000",
                   f"both ms: min 0.001 median {median:.3f} 99% {most:.3f} max {longest:.3f}"]
    return result(run, output=output)


def made_up(run):
    """The result that the threads suggest for `run`."""
    run.job_name = run.name.rpartition("-s")[0]
    for known, make in ((SORTS, _sort), (HOGS, _hogs), (DESKS, _desk)):
        if run.job_name in known:
            return make(run)
    raise KeyError(f"{run.name}: the made-up results lack this job")


def write(folder, run, made):
    os.makedirs(os.path.join(folder, "jobs"), exist_ok=True)
    with open(os.path.join(folder, "jobs", run.name + ".json"), "w", encoding="utf-8") as f:
        json.dump(made, f)


def tool(*words, **more):
    """tools/replay in a process of its own."""
    return subprocess.run([os.path.join(guest.ROOT, "tools", "replay"), *words], cwd=guest.ROOT, capture_output=True, text=True,
                          check=False, **more)


def fill(folder, leave=()):
    """Made-up results of all runs but those in `leave`; the tables."""
    for run in TABLES.runs:
        if run.name not in leave:
            write(str(folder), run, made_up(run))
    return TABLES


def verdict(folder, ident):
    """The row's judge.Judged by the results in `folder`."""
    rows, _ = TABLES.chosen([ident])
    return judge.judge(TABLES, job.Results(str(folder)), rows)[0]

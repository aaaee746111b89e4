"""A failed test in four lines: what, which invariant, the machine's last events, where to look.

    FAIL vm-swap-cow-07  child reads back its own page after swap-out        seed 41
    INV  swap.3: a slot's count equals its PTEs plus the swap cache: count 1, PTEs 2
    LAST 0.184310 swap_out pfn 0x1a3 slot 17 / 0.184322 unmap pfn 0x1a3 pid 9
    LOOK mm/swap/slots.c swap_dup()      AGAIN make test T=vm-swap-cow-07 SEED=41
"""
import glob
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INVARIANT = re.compile(r"\b([a-z]{2,10}\.\d{1,2})\b[:\s]*(.*)")
LAST_RECORDS = 4

# Where a failure of an area is looked for when neither an invariant nor a backtrace says more.
AREAS = {
    "allocfail": "mm/alloc_fail.h, and who allocates",
    "attack": "mm/swap/io.c",
    "boot": "kernel/main.c kernel_main()",
    "commit": "mm/commit.c commit_ask()",
    "disk": "drivers/ide.c",
    "exec": "user/servers/load.c",
    "fork": "mm/fork.c",
    "fpu": "kernel/fpu.c fpu_trap()",
    "fuzz": "kernel/syscall.c",
    "image": "tools/image",
    "ipc": "kernel/ipc.c",
    "lab": "kernel/time.c",
    "plot": "tools/plot",
    "leaks": "mm/frame_info.c",
    "libc": "user/libc/",
    "mem": "mm/mmap.c",
    "mm": "mm/fault.c mm_fault()",
    "object": "mm/object_swap.c",
    "oom": "mm/oom/",
    "proc": "user/servers/proc.c",
    "rmap": "mm/rmap/",
    "run": "tools/runner/machine.py judge()",
    "shell": "user/sh/",
    "sig": "kernel/exception.c",
    "seams": "tools/runner/seams.py",
    "stack": "mm/fault.c mm_fault()",
    "stress": "mm/",
    "swap": "mm/swap/",
    "swapped": "mm/swapin.c fault_swapped()",
    "sys": "kernel/syscall.c",
    "task": "kernel/task_calls.c",
    "tools": "tools/",
    "user": "user/",
    "view": "tools/vmlib/",
    "vm": "mm/fault.c mm_fault()",
    "whole": "mm/",
    "zero": "mm/fault.c mm_fault()",
}
# ... and where that is said by the second word of the name.
TOPICS = {
    "lab": {"sample": "kernel/aside.c", "drive": "drivers/model_drive.c drive_service_ns()", "mips": "tools/runner/qemu.py MIPS_BY_SHIFT"},
    "mem": {"mprotect": "mm/mprotect.c mm_protect()", "mremap": "mm/mremap.c mm_remap()", "mlock": "mm/mlock.c mm_lock()",
            "limit": "mm/limit.c", "mincore": "mm/residency.c mm_incore()", "willneed": "mm/residency.c vma_willneed()",
            "msync": "mm/residency.c mm_sync()", "room": "mm/room.c mm_find_room()"},
}
QUIET = {"panic", "panic_trap", "panic_assert", "kassert_fail", "assert_fail"}


def table():
    """docs/invariants.md: {"swap.3": (sentence, function that checks it)}."""
    rows = {}
    with open(os.path.join(ROOT, "docs", "invariants.md"), encoding="utf-8") as f:
        for line in f:
            cells = [c.strip() for c in line.strip().strip("|").split("|")]
            if len(cells) == 3 and INVARIANT.fullmatch(cells[0] + " "):
                checks = re.findall(r"(\w+)\(\)", cells[2])
                rows[cells[0]] = cells[1], checks[0] if checks else ""
    return rows


def find_invariant(text):
    """What cites an invariant, lines marked INV first: ("swap.3", the whole sentence), or None."""
    known = table()
    lines = text.splitlines()
    for line in [l for l in lines if "INV " in l] + lines:
        match = INVARIANT.search(line)
        if match and match.group(1) in known:
            return match.group(1), f"{match.group(1)}: {match.group(2).strip() or known[match.group(1)][0]}"
    return None


def _enclosing_function(lines, index):
    for i in range(index, -1, -1):
        match = re.match(r"^[A-Za-z_][\w\s*]*?\b(\w+)\(", lines[i])
        if match and not lines[i].rstrip().endswith(";"):
            return match.group(1) + "()"
    return ""


def _sources():
    for pattern in ("mm/**/*.c", "kernel/*.c", "drivers/*.c"):
        for path in sorted(glob.glob(os.path.join(ROOT, pattern), recursive=True)):
            with open(path, encoding="utf-8", errors="replace") as f:
                yield os.path.relpath(path, ROOT), f.read().splitlines()


def where_checked(invariant):
    """"file function()": where the audit tells of the invariant, else where it is asserted, else the
    function that the table names."""
    function = table().get(invariant, ("", ""))[1]
    told = asserted = named = None
    for path, lines in _sources():
        if os.path.basename(path).startswith("break"):      # there it is broken on purpose
            continue
        for i, line in enumerate(lines):
            if f'"{invariant}' in line:
                place = f"{path} {_enclosing_function(lines, i)}".strip()
                told = told or (place if "audit_violation(" in line else None)
                asserted = asserted or place
            if function and re.match(rf"[A-Za-z_][\w\s*]*\b{function}\(", line) and not line.endswith(";"):
                named = f"{path} {function}()"
    return told or asserted or named


def _asserted(sentence):
    """"file function()" if the sentence ends with the place of an assertion."""
    match = re.search(r"\[([\w/]+\.[ch]):\d+ (\w+)\]", sentence)
    return f"{match.group(1)} {match.group(2)}()" if match else None


def _last_records(run):
    """The newest records of the ring: as the report has them, or a panic in the log."""
    records = run.trace or re.findall(r"^  (\d+\.\d{9} [A-Z_]+ .*)$", run.log, re.MULTILINE)
    return records[-LAST_RECORDS:]


def _from_backtrace(text):
    for name in re.findall(r"^\s+0x[0-9a-f]+ (\w+)\+0x", text, re.MULTILINE):
        if name not in QUIET:
            return f"{name}()"
    return None


def _place_of_area(name):
    """Where the test of that name has its code: by topic, by area, or the file that a host unit is called after."""
    area, topic = (name.split("-") + [""])[:2]
    if area == "host":
        files = glob.glob(os.path.join(ROOT, "*", f"{topic}.c"))
        return os.path.relpath(files[0], ROOT) if files else f"tests/host/{topic}.c"
    return TOPICS.get(area, {}).get(topic) or AREAS.get(area, "tests/")


def _sentence(message):
    line = " ".join(message.split())
    return line if len(line) <= 300 else line[:297] + "..."


def block(name, sentence, message, seed, run=None, reverse_map=None):
    """The lines for one failed case. `run`: the guest run that shows it, if there was one; `reverse_map`: what it
    ran with, if that is to be said."""
    text = "\n".join([message] + ([run.err, run.log, run.out] if run else []))
    found = find_invariant(text)
    last = _last_records(run) if run else []
    look = _asserted(found[1]) or where_checked(found[0]) if found else None
    look = look or _from_backtrace(text) or _place_of_area(name)
    told, again = (f"{reverse_map}, ", f" RMAP={reverse_map}") if reverse_map else ("", "")
    lines = [f"FAIL {name}  {sentence}        {told}seed {seed}"]
    lines.append("INV  " + (found[1] if found else _sentence(message)))
    if last:
        lines.append("LAST " + " / ".join(last))
    lines.append(f"LOOK {look}      AGAIN make test T={name}{again} SEED={seed}")
    if found:
        lines.append("     " + _sentence(message))
    return "\n".join(lines)

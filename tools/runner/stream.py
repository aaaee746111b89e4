"""Streamed trace records (docs/formats.md, "While the machine runs"): the machine's short lines, and those of --stream FILE.

A record is (nanoseconds, event, tid, fields), the fields a tuple of numbers in the order of kernel/trace.def.
"""
import re

TEXT = re.compile(r"(\d+)\.(\d{9}) (\w+) tid=(\d+)((?: \w+=\w+)*)$")
NS = 10**9


class StreamError(Exception):
    """A line that is no streamed record."""


def declared(lines):
    """{number: (event, its fields' names)} from the lines "@stream N EVENT FIELD..."."""
    events = {}
    for line in lines:
        if line.startswith(b"@stream "):
            number, name, *fields = line.decode("latin-1").split()[1:]
            events[int(number, 16)] = name, fields
    return events


def records(lines):
    """The records of what came from port 0xE9."""
    names = {number: name for number, (name, _) in declared(lines).items()}
    time = 0
    for line in lines:
        if line[1] != 61:                       # "@=": a record
            continue
        try:
            event, passed, tid, *fields = [int(word, 16) for word in line[2:].split()]
            time += passed
            yield time, names[event], tid, tuple(fields)
        except (ValueError, KeyError) as e:
            raise StreamError(f"no streamed record: {line.decode('latin-1')!r}") from e


def texts(lines):
    """The same in the form of --trace."""
    fields = dict(declared(lines).values())
    for time, event, tid, values in records(lines):
        pairs = " ".join(f"{name}={value:#x}" for name, value in zip(fields[event], values))
        yield f"{time // NS}.{time % NS:09} {event} tid={tid} {pairs}".rstrip()


def read(path):
    """The records of a file of such texts. StreamError names the line that is none."""
    out = []
    with open(path, encoding="utf-8", errors="replace") as f:
        for number, line in enumerate(f, 1):
            match = TEXT.match(line.rstrip("\n"))
            try:
                seconds, nanoseconds, event, tid, pairs = match.groups()
                fields = tuple(int(pair.partition("=")[2], 0) for pair in pairs.split())
            except (AttributeError, ValueError) as e:
                raise StreamError(f"{path}:{number}: no trace record: {line.strip()[:80]!r}") from e
            out.append((int(seconds) * NS + int(nanoseconds), event, int(tid), fields))
    return out

#!/usr/bin/env python3
"""Make tests/drive/arrivals.txt: requests as they came, and what another model of the same drive took for them.

    tests/drive/peer.py DISKMODEL.C NAME=TRACE...

DISKMODEL.C is the nbdkit plugin that Linux is measured on (not part of this repository). A TRACE is what
tools/run wrote whose trace holds all of the run's requests:

    tools/run --lab --ram 18M --swap 32M --param trace.entries=131072 --trace TRACE -- hogmem 24 3

As the ring forgets, the traces of arrivals.txt are those of kernels that traced DISK events only. Besides, a random
mix is drawn: reads and writes, all over the drive and within 200 MB, busy and idle.

arrivals.txt: `# NAME` begins a new drive at time 0; `MICROSECONDS r|w SECTOR SECTORS ANSWER` is a request, the time since the
one before, and the microseconds that the other model took; `= READS WRITES SEEK ROTATION TRANSFER` sums them up.
tests/host/drive_peer.c asks ours for the same.
"""
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MOST = 1500                     # requests of a trace
MIXED = 1200
DRIVE_SECTORS = 38_000_000_000 // 512
NEAR_SECTORS = 200_000_000 // 512
RECORD = re.compile(r"(\d+)\.(\d{9}) DISK .*sector=(0x[0-9a-f]+|0) count=(0x[0-9a-f]+|0) write=(0x[0-9a-f]+|0)$")


def recorded(path):
    """[(microseconds, kind, sector, sectors)] of a trace."""
    with open(path, encoding="utf-8") as f:
        found = [m.groups() for m in map(RECORD.search, f) if m]
    return [((int(s) * 10**9 + int(ns)) // 1000, "w" if int(write, 0) else "r", int(sector, 0), int(count, 0))
            for s, ns, sector, count, write in found][:MOST]


def mixed():
    """The random mix, the same each time."""
    draw, now, out = random.Random(2001), 0, []
    for _ in range(MIXED):
        now += draw.choice((3000, 30000, 60000)) + draw.randrange(2000)
        sectors = draw.choice((1, 8, 8, 64, 256))
        sector = draw.randrange(draw.choice((NEAR_SECTORS, DRIVE_SECTORS)))
        if out and draw.random() < 0.3:         # goes on where the last one ended
            sector = out[-1][2] + out[-1][3]
        out.append((now, draw.choice("rrw"), min(sector, DRIVE_SECTORS - 256), sectors))
    return out


def ask(executable, arrivals):
    text = "".join(f"{us} {kind} {sector} {sectors}\n" for us, kind, sector, sectors in arrivals)
    done = subprocess.run([executable, "size", "36300"], input=text, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    lists = {name: recorded(path) for name, _, path in (word.partition("=") for word in sys.argv[2:])}
    lists["mixed"] = mixed()
    with tempfile.TemporaryDirectory() as folder:
        executable = os.path.join(folder, "peer")
        subprocess.run(["gcc", "-O2", "-w", f"-I{HERE}/fake", f'-DDISKMODEL="{os.path.abspath(sys.argv[1])}"',
                        "-o", executable, f"{HERE}/peer.c", "-lm"], check=True)
        with open(f"{HERE}/arrivals.txt", "w", encoding="utf-8") as f:
            for name, arrivals in lists.items():
                f.write(f"# {name}\n")
                *answers, total = ask(executable, arrivals)
                last = 0
                for (us, kind, sector, sectors), answer in zip(arrivals, answers, strict=True):
                    f.write(f"{us - last} {kind} {sector} {sectors} {answer}\n")
                    last = us
                f.write(total + "\n")


if __name__ == "__main__":
    main()

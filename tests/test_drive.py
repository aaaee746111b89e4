"""The modelled drive in the machine: its parameters, its counters, in the lab and outside, and --mips."""
import math
import os
import re
import subprocess

import pytest

from harness.guest import ROOT, run

SMALL = ("--ram", "8M", "--swap", "16M")
TIMES = [f"model_{kind}{part}_ns" for kind in ("", "write_") for part in ("seek", "rotation", "transfer", "buffer")]
COMMAND_NS, BUS_NS = 200_000, 512 * 1_000_000 / 66_000          # a command, a sector over the bus, of ata2001


def hog(*options, command="hogmem 10 2"):
    """One run that swaps, its disk's figures."""
    done = run(command, *SMALL, *options)
    done.expect(done.exit == 0 and done.counters["pswpin"] > 0, f"exit {done.exit} ({done.cause}): {done.err[-300:]}")
    return done, done.json["disks"]["hda"]


def params(**values):
    return [word for name, value in values.items() for word in ("--param", f"disk{'.' if name != 'disk' else ''}"
                                                                f"{name if name != 'disk' else ''}={value}")]


def test_lab_drive_20():
    """the lab's drive is ata2001, its figures stand in the configuration, its counters are those of the queue"""
    done, disk = hog("--lab")
    config = done.json["config"]
    done.expect(config["disk"] == "model:ata2001" and config["disk.rpm"] == 7200 and config["disk.write_buffer_kb"] == 256, f"{config}")
    for field in ("reads", "writes", "read_sectors", "write_sectors", "flushes"):
        done.expect(disk[f"model_{field}"] == disk[field], f"{field}: {disk}")
    done.expect(all(disk[name] > 0 for name in TIMES) and disk["model_buffer_hits"] > 0
                and disk["model_write_buffer_hits"] == disk["writes"], f"{disk}")


def test_lab_drive_21():
    """without buffers, every nanosecond that the disk is busy is command, seek, rotation, transfer or the bus"""
    done, disk = hog("--lab", *params(read_buffer_kb=0, write_buffer_kb=0))
    parts = sum(disk[name] for name in TIMES)
    requests, sectors = disk["reads"] + disk["writes"], disk["read_sectors"] + disk["write_sectors"]
    over = disk["busy_ns"] - parts - requests * COMMAND_NS
    done.expect(disk["model_buffer_hits"] == disk["model_write_buffer_hits"] == 0, f"{disk}")
    done.expect(0 <= over <= requests * 20_000 + sectors * BUS_NS * 0.01, f"{over} ns of {disk['busy_ns']} are nobody's: {disk}")


def test_lab_drive_22():
    """ata1999 is slower than ata2001, and that slower than a drive that spins, seeks and transfers like none"""
    done, old = hog("--lab", *params(disk="model:ata1999"))
    _, new = hog("--lab")
    _, none = hog("--lab", *params(seek_min_us=0, seek_avg_us=0, seek_max_us=0, rpm=100000, outer_kbs=2000000,
                                   inner_kbs=2000000, command_us=0, bus_kbs=10000000))
    done.expect(old["busy_ns"] > 2 * new["busy_ns"] > 8 * none["busy_ns"],
                f"{old['busy_ns']} {new['busy_ns']} {none['busy_ns']}")


def test_lab_drive_23():
    """what makes no drive is refused in words, and the named drive stays"""
    done = run("true", *SMALL, "--lab", *params(seek_avg_us=20000, rpm=7300))
    done.expect(done.json["config"]["disk.seek_avg_us"] == 8500 and done.json["config"]["disk.rpm"] == 7200
                and "no drive is like that: seeks" in done.log, done.log)
    done = run("true", *SMALL, "--lab", *params(heads=0, disk="model:ata2002"))
    done.expect("disk.heads=0 is not between" in done.log and 'no disk "model:ata2002", using model:ata2001' in done.log, done.log)
    done = run("true", *SMALL, "--lab", *params(heads=4, disk="model:fixed"))
    done.expect("says nothing of disk=model:fixed" in done.log and done.json["config"]["disk.heads"] == 0, done.log)
    done = run("true", *SMALL, "--lab", *params(offset_mb=39999))
    done.expect("hda doesn't fit on a drive of 40000 MB" in done.log and done.exit == 0, done.log)


def durations(trace):
    """Nanoseconds from each DISK to the DISK_DONE after it; there is one disk, which does one request at a time."""
    found, since = [], None
    for line in trace:
        moment, event = line.split()[:2]
        ns = int(moment.replace(".", ""))
        if event == "DISK":
            since = ns
        elif event == "DISK_DONE" and since is not None:
            found.append(ns - since)
            since = None
    return sorted(found)


@pytest.mark.parametrize("mode", ["dma", "pio"], ids=["lab-drive-24", "lab-drive-25"])
def test_lab_drive_outside(mode):
    """outside the lab the drive takes its time as well, by the clock, not by ticks of 10 ms"""
    done, disk = hog("--param", f"ide={mode}", "--param", "trace.entries=8192", *params(disk="model:ata2001"))
    parts = sum(disk[f"model_{part}_ns"] for part in ("seek", "rotation", "transfer", "buffer"))
    done.expect(disk["dma"] == (mode == "dma") and disk["busy_ns"] > parts > 0 and
                done.json["elapsed_seconds"] > parts / 1e9, f"{done.json['elapsed_seconds']} s, {disk}")
    took = durations(done.trace)
    done.expect(len(took) > 20 and took[0] > COMMAND_NS and took[len(took) // 4] < 8e6, f"{len(took)} took {took[:3]} to {took[-3:]} ns")


def test_lab_drive_26():
    """inner cylinders are slower than outer ones, and neighbours nearer than far ones"""
    done, outer = hog("--lab")
    _, inner = hog("--lab", *params(offset_mb=39900))
    sectors = [d["read_sectors"] + d["write_sectors"] for d in (outer, inner)]
    rate = [(d["model_transfer_ns"] + d["model_write_transfer_ns"]) / n for d, n in zip((outer, inner), sectors)]
    done.expect(1.2 < rate[1] / rate[0] < 1.6, f"ns a sector: {rate}")


def test_lab_drive_27():
    """the table of logarithms is what its tool prints, and true"""
    printed = subprocess.run([os.path.join(ROOT, "tools/mkpowers")], capture_output=True, text=True, check=True).stdout
    with open(os.path.join(ROOT, "drivers/model_powers.c"), encoding="utf-8") as f:
        text = f.read()
    assert text == printed, "print drivers/model_powers.c anew: tools/mkpowers"
    arrays = [[int(n) for n in re.findall(r"\d+", body)] for body in re.findall(r"= \{(.*?)\};", text, re.DOTALL)]
    assert [len(a) for a in arrays] == [257, 257]
    for i in range(257):
        assert abs(arrays[0][i] / 2**30 - math.log2(1 + i / 256)) <= 2**-30
        assert abs(arrays[1][i] / 2**30 - 2 ** (i / 256)) <= 2**-30


def test_lab_mips_01():
    """a slower CPU takes longer to compute, and its runs repeat to the byte"""
    a, b = (run("qsbench -n 1500000 -p 2; sleep 1; ps", *SMALL, "--lab", "--mips", "250") for _ in range(2))
    fast = run("qsbench -n 1500000 -p 2; sleep 1; ps", *SMALL, "--lab")
    a.expect(a.exit == 0 and a.counters["pswpin"] > 0, f"exit {a.exit} ({a.cause}): {a.err[-300:]}")
    a.expect(a.out == b.out and a.json == b.json and a.trace and a.trace == b.trace, "two runs differ")
    a.expect(a.json["config"]["mips"] == 250 and fast.json["config"]["mips"] == 1000, f"{a.json['config']}")
    times = a.json["user_seconds"] / fast.json["user_seconds"]
    a.expect(3.9 < times < 4.1, f"user time is {times} times that of a CPU four times as fast")


def test_lab_mips_02():
    """a speed that QEMU can't count, or one outside the lab, is refused; the slowest boots"""
    done = run("true", "--lab", "--mips", "300", json_wanted=False)
    done.expect(done.exit == 125 and "--mips 300: one of 1000, 500" in done.err, done.err)
    done = run("true", "--mips", "250", json_wanted=False)
    done.expect(done.exit == 125 and "without --lab" in done.err, done.err)
    done = run("true", "--lab", "--mips", "0.9765625", "--ram", "16M")
    done.expect(done.exit == 0 and done.json["config"]["mips"] == 0.9765625, f"{done.exit} {done.err[-300:]}")

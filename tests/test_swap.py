"""Swap partitions: found, refused in words, full, missing, broken."""
import re

import pytest

from harness import disks
from harness.guest import run, shell

HOG = "hogmem 12 2"             # on 8 MiB it must swap
SMALL = ("--ram", "8M")


def swaps(done):
    """Names of the areas in use, from swapon -s."""
    return re.findall(r"\bhd[a-d]\d+\b", done.out)


# ---- which partitions ----

@pytest.mark.parametrize("signature, word", [(b"S1SUSPEND", "hibernat"), (b"S2SUSPEND", "hibernat"), (b"ULSUSPEND", "hibernat"),
                                             (b"LINHIB0001", "hibernat"), (b"WHATISTHIS", "signature"), (b"SWAP-SPACE", "")],
                         ids=[f"swap-signature-{n:02}" for n in range(1, 7)])
def test_swap_signature(tmp_path, signature, word):
    """a hibernation image or an unknown signature is refused in words, and not a byte is written"""
    image = disks.with_signature(tmp_path / "d", signature)
    before = image.read_bytes()
    done = shell("swapon -s; hogmem 2 1", "--disk", image, *SMALL)
    done.expect(swaps(done) == [] and word in done.log.lower() and "hda1" in done.log, f"{done.out}\n{done.log[-600:]}")
    done.expect(image.read_bytes() == before, "the disk was written to")


TABLES = [([(0x82, 1, 8), (0x82, 5, 8)], "overlap"), ([(0x82, 1, 64)], ""), ([(0x82, 200, 8)], "")]


@pytest.mark.parametrize("partitions, word", TABLES, ids=[f"swap-table-{n:02}" for n in range(1, 4)])
def test_swap_table(tmp_path, partitions, word):
    """an overlapping or overlong partition is refused in words, and not a byte is written"""
    image = disks.with_table(tmp_path / "d", partitions)
    before = image.read_bytes()
    done = shell("swapon -s; hogmem 2 1", "--disk", image, *SMALL)
    done.expect(swaps(done) == [] and word in done.log.lower() and "hda" in done.log, f"{done.out}\n{done.log[-600:]}")
    done.expect(image.read_bytes() == before, "the disk was written to")


def test_swap_type_01(tmp_path):
    """a swap signature in a partition of another type is not touched"""
    image = disks.with_table(tmp_path / "d", [(0x83, 1, 16)])
    before = image.read_bytes()
    done = shell("swapon -s", "--disk", image, *SMALL)
    done.expect(swaps(done) == [] and image.read_bytes() == before, done.out)


def test_swap_extended_01(tmp_path):
    """a swap partition inside an extended one is found and used"""
    image = disks.with_extended(tmp_path / "d")
    done = shell(f"swapon -s; {HOG}", "--disk", image, *SMALL)
    done.expect(swaps(done) == ["hda5"] and done.counters["pswpout"] > 0, done.out)


def test_swap_extended_02(tmp_path):
    """an extended partition that points to itself does not hang the boot"""
    shell("echo here", "--disk", disks.with_looping_extended(tmp_path / "d"), *SMALL)


def test_swap_table_04(tmp_path):
    """a disk without any table boots, and is not written to"""
    image = tmp_path / "d"
    image.write_bytes(b"\xa5" * (4 << 20))
    done = shell("swapon -s", "--disk", image, *SMALL)
    done.expect(swaps(done) == [] and image.read_bytes() == b"\xa5" * (4 << 20), done.out)


def test_swap_bounds_01(tmp_path):
    """heavy swapping writes inside its partition only"""
    image = disks.with_table(tmp_path / "d", [(0x83, 1, 4), (0x82, 5, 16), (0x83, 21, 4)])
    with open(image, "r+b") as f:
        for first, size in ((1, 4), (21, 4)):
            f.seek(first * disks.MIB)
            f.write(b"\x5a" * size * disks.MIB)
    before = image.read_bytes()
    done = shell("swapon -s; hogmem 18 2", "--disk", image, *SMALL)
    after = image.read_bytes()
    done.expect(swaps(done) == ["hda2"] and done.counters["pswpout"] > 500, done.out)
    done.expect(after[:5 * disks.MIB + 4096] == before[:5 * disks.MIB + 4096] and after[21 * disks.MIB:] == before[21 * disks.MIB:],
                "bytes outside the partition, or its header, changed")


# ---- several areas ----

def test_swap_several_01():
    """four areas on four drives, all found"""
    done = shell("swapon -s", *("--swap", "4M") * 4)
    done.expect(swaps(done) == ["hda1", "hdb1", "hdc1", "hdd1"], done.out)


def test_swap_priority_01():
    """the area of higher priority is used first"""
    done = shell("hogmem 10 1; swapon -s", "--swap", "16M:1", "--swap", "16M:7", *SMALL)
    rows = {m.group(1): m.group(0) for m in re.finditer(r"^\S*(hd[ab]1)\b.*$", done.out, re.MULTILINE)}
    written = done.json["disks"]
    done.expect(written["hdb"]["write_sectors"] > 0 and written["hda"]["write_sectors"] == 0, f"{rows} {written}")


def test_swap_priority_02():
    """areas of equal priority share the load"""
    done = shell("hogmem 16 1", "--swap", "16M:5", "--swap", "16M:5", *SMALL)
    a, b = (done.json["disks"][d]["write_sectors"] for d in ("hda", "hdb"))
    done.expect(min(a, b) * 3 > max(a, b), f"{a} and {b} sectors")


@pytest.mark.kept_map
@pytest.mark.parametrize("order", ["swapoff hda1", "hogmem 3 1; swapoff hda1"], ids=["swap-off-01", "swap-off-02"])
def test_swap_off(order):
    """swapoff brings everything back; afterwards the area is gone"""
    done = shell(f"{order} && swapon -s && echo off", "--swap", "16M", *SMALL)
    done.expect("off" in done.out and swaps(done) == [], done.out)


def table(done):
    """The rows of each swapon -s: [[(name, KiB, used, priority)]]."""
    listings = done.out.split("Filename\tType\t\tSize\tUsed\tPriority\n")[1:]
    return [[(name, int(size), int(used), int(priority)) for name, size, used, priority in
             re.findall(r"^(hd\w+)\t\tpartition\t(\d+)\t(\d+)\t(-?\d+)$", text, re.MULTILINE)] for text in listings]


def test_swap_list_01():
    """swapon and swapoff, and what swapon -s shows of size, use and priority"""
    done = shell("swapon -s; swapoff hda1; swapon -s; swapon -p 5 hda1; swapoff hdb1; swapon hdb1; swapon -s",
                 "--swap", "16M:2", "--swap", "8M", *SMALL)
    first, second, third = table(done)
    done.expect(first == [("hda1", 16380, 0, 2), ("hdb1", 8188, 0, -2)], str(first))
    done.expect([r[0] for r in second] == ["hdb1"], str(second))
    done.expect([(r[0], r[3]) for r in third if r[0] == "hda1"] == [("hda1", 5)] and len(third) == 2, str(third))


def test_swap_list_02():
    """what can't be a swap area is refused: one in use, a whole disk, a name that is none; swapoff of one not in use"""
    done = run("swapon hda1; echo $?; swapon hda; echo $?; swapon hdz9; echo $?; swapoff hdb1; echo $?; audit", "--swap", "8M", *SMALL)
    done.expect(done.exit == 0 and re.findall(r"^\d+$", done.out, re.MULTILINE) == ["1"] * 4, done.out)
    done.expect("in use already" in done.log and "not a partition of type 0x82" in done.log, done.log[-600:])


def test_swap_priority_03():
    """a full area hands over to the next lower ones, which are equal and take turns"""
    done = shell("hogmem 16 1; swapon -s", "--swap", "4M:9", "--swap", "8M:3", "--swap", "8M:3", *SMALL)
    written = [done.json["disks"][d]["write_sectors"] for d in ("hda", "hdb", "hdc")]
    done.expect(written[0] >= 3 << 11 and min(written[1:]) * 3 > max(written[1:]) and min(written) > 0, str(written))


@pytest.mark.kept_map
def test_swap_off_03():
    """swapoff of what does not fit in memory fails, kills nobody, and the area goes on serving"""
    done = run("hogmem 12 30 & sleep 1; swapoff hda1; echo status $?; swapon -s; wait; audit", "--swap", "16M", *SMALL)
    done.expect(done.exit == 0 and "status 1" in done.out and "Memory speed" in done.out and done.counters["oom_kill"] == 0, done.out)
    done.expect([r[0] for r in table(done)[0]] == ["hda1"], done.out)


@pytest.mark.each_map
def test_swap_off_04():
    """swapoff ends although the pages fit into no RAM and their owner goes on using them: they move to the other area"""
    done = run("hogmem 20 & sleep 1; swapoff hda1; echo off $?; swapon -s; audit", "--swap", "32M:5", "--swap", "32M:3", *SMALL)
    done.expect(done.exit == 0 and "off 0" in done.out and swaps(done) == ["hdb1"], f"exit {done.exit}: {done.out}")


@pytest.mark.each_map
def test_swap_off_05():
    """with nowhere to go, swapoff fails and nobody is killed for it, though it had found room when it began"""
    done = run("hogmem 9 & sleep 1; hogmem 5 1; swapoff hda1; echo off $?; kill -9 3; audit", "--swap", "24M", *SMALL)
    done.expect(done.exit == 0 and "off 1" in done.out and done.counters["oom_kill"] == 0, f"exit {done.exit}: {done.log[-900:]}")


# ---- full, none ----

@pytest.mark.kept_map
def test_swap_none_01():
    """without swap what does not fit is killed, and the machine goes on"""
    done = run("hogmem 30 1; echo alive; audit", "--ram", "16M", "--param", "overcommit=1")
    done.expect(done.exit == 123 and "alive" in done.out, f"exit {done.exit}: {done.out}")


def test_swap_none_02():
    """swap=none leaves a good partition alone"""
    done = shell("swapon -s", "--swap", "8M", "--param", "swap=none")
    done.expect(swaps(done) == [], done.out)


@pytest.mark.kept_map
def test_swap_full_01():
    """a request larger than RAM and swap is refused, not killed"""
    done = run("hogmem 100 1; echo alive; audit", "--ram", "16M", "--swap", "8M")
    done.expect("alive" in done.out and done.cause == "exit" and done.exit == 0, f"exit {done.exit}: {done.out}")


@pytest.mark.kept_map
@pytest.mark.slow
def test_swap_full_02():
    """swap full to nearly the last slot loses nothing"""
    done = shell("qsbench -n 4200000", "--ram", "12M", "--swap", "8M")
    done.expect(done.counters["oom_kill"] == 0 and done.counters["pswpin"] > 0, "kill, or no swapping")


@pytest.mark.kept_map
def test_swap_full_03():
    """once memory and swap were full and a victim has died, the next program swaps as if nothing had been"""
    done = run("hogmem 60 1; hogmem 32 2 && echo survived; audit", "--ram", "16M", "--swap", "24M",
               "--param", "overcommit=1")
    done.expect(done.log.count("Out of memory: killed") == 1 and "survived" in done.out, done.log[-1500:])


@pytest.mark.kept_map
@pytest.mark.parametrize("steal", [1, 0], ids=["swap-steal-01", "swap-steal-02"])
def test_swap_steal(steal):
    """with swap full of pages that are in memory, their slots are taken before anything fails; not so with swap.steal=0"""
    done = shell("hogmem 16 4", "--ram", "12M", "--swap", "6M", "--param", f"swap.steal={steal}")
    done.expect(done.counters["oom_kill"] == 0, "somebody was killed")
    done.expect((done.counters["swap_steal"] > 0) == bool(steal), f"{done.counters['swap_steal']} slots were taken")


# ---- errors ----

@pytest.mark.kept_map
def test_swap_error_01(tmp_path):
    """a bad sector under writing retires its slot and loses nothing"""
    rules = disks.blkdebug(tmp_path / "rules", "write_aio", first=2048 + 8 * 100)
    done = shell("qsbench -n 3000000", "--swap", "16M", "--inject", f"0:{rules}", *SMALL)
    done.expect(done.counters["swap_bad_slots"] >= 1 and done.counters["disk_errors"] >= 1, "no slot was retired")


@pytest.mark.kept_map
def test_swap_error_02(tmp_path):
    """a bad sector under reading kills only who needs the page, and the log says so"""
    rules = disks.blkdebug(tmp_path / "rules", "read_aio", first=2048 + 8 * 100)
    done = run("hogmem 12 3; echo status $?; hogmem 2 2; echo alive; audit", "--swap", "16M", "--inject", f"0:{rules}", *SMALL)
    done.expect("status 138" in done.out and "alive" in done.out and done.exit == 0, f"exit {done.exit}: {done.out}")
    lost = re.findall(r"slot \d+ of area 0 can't be read: pid (\d+) loses page", done.log)
    ended = re.findall(r"(\w+) \(pid (\d+)\): signal", done.log)
    done.expect(done.counters["swap_read_errors"] >= 1 and lost and ended == [("hogmem", lost[0])], done.log[-600:])
    done.expect(re.search(r"ide: hda: read error at sector 2848", done.log), done.log[-600:])


def with_object(what, rules):
    """t_object_swap's answer about an object, or shared memory, larger than RAM on a disk with errors; audited."""
    done = run(f"t_object_swap {what}; audit", "--tests", "--ram", "12M", "--swap", "48M", "--inject", f"0:{rules}")
    return done.expect("audit: 0" in done.out and done.exit == 0, f"exit {done.exit}: {done.out}")


@pytest.mark.parametrize("what, answer", [("object", "1 lost, 0 wrong"), ("shared", "reader: status 10")],
                         ids=["object-error-01", "object-error-02"])
def test_object_read_error(what, answer, tmp_path):
    """who asks for a page of an object that can't be read gets EIO, or SIGBUS; all others are there"""
    done = with_object(what, disks.blkdebug(tmp_path / "rules", "read_aio", first=2048 + 8 * 100))
    done.expect(answer in done.out and "misses page" in done.log, done.out + done.log[-600:])


@pytest.mark.parametrize("what, answer", [("object", "0 lost, 0 wrong"), ("shared", "reader: status 0")],
                         ids=["object-error-03", "object-error-04"])
def test_object_write_error(what, answer, tmp_path):
    """a slot that can't be written is retired, its page of an object goes to another one, and nothing is lost"""
    done = with_object(what, disks.blkdebug(tmp_path / "rules", "write_aio", first=2048 + 8 * 100))
    done.expect(answer in done.out and done.counters["swap_bad_slots"] == 1, done.out + done.log[-600:])


@pytest.mark.parametrize("what, answer", [("object", "0 lost, 0 wrong"), ("shared", "reader: status 0")],
                         ids=["object-full-01", "object-full-02"])
def test_object_full(what, answer):
    """an object, or shared memory, that fills RAM and swap to the last MiB and a half is whole, and nobody is killed"""
    machine = ("--tests", "--ram", "12M", "--swap", "6M")
    free = sum(int(kib) for kib in re.findall(r"^(?:Mem|Swap): +\d+ +\d+ +(\d+)", run("free", *machine).out, re.MULTILINE))
    done = run(f"t_object_swap {what} {(free - 512) // 1024}; audit", *machine)
    done.expect(answer in done.out and "audit: 0" in done.out and done.counters["oom_kill"] == 0, done.out + done.log[-600:])


@pytest.mark.parametrize("what", ["object", "shared"], ids=["object-oom-01", "object-oom-02"])
def test_object_oom(what):
    """who has more in an object than RAM and swap hold is killed, though most of it is in swap and no PTE names it; others live"""
    done = run(f"hogmem 2 100000 & t_object_swap {what} 30; kill $! && echo onlooker lived; audit", "--tests", "--ram", "12M", "--swap", "6M",
               "--param", "overcommit=1")
    done.expect("onlooker lived" in done.out and "audit: 0" in done.out and done.counters["oom_kill"] == 1, done.out + done.log[-1500:])
    done.expect(re.search(r"Out of memory: killed \d+ \(t_object_swap\)", done.log), done.log[-1500:])


@pytest.mark.slow
def test_swap_error_03(tmp_path):
    """an error that goes away is retried and nobody notices"""
    rules = disks.blkdebug(tmp_path / "rules", "write_aio", once=True)
    done = shell("qsbench -n 3000000", "--swap", "16M", "--inject", f"0:{rules}", *SMALL)
    done.expect(done.counters["disk_retries"] >= 1 and done.counters["swap_bad_slots"] == 0, "no retry, or a slot lost")


@pytest.mark.slow
def test_swap_error_04(tmp_path):
    """a disk that fails every write is given up; what fits in memory goes on"""
    rules = disks.blkdebug(tmp_path / "rules", "write_aio")
    done = run("hogmem 12 1; echo alive; audit", "--swap", "16M", "--inject", f"0:{rules}", *SMALL)
    done.expect("alive" in done.out and done.cause in ("exit", "oom"), f"exit {done.exit} {done.cause}: {done.err[-300:]}")


@pytest.mark.each_map
def test_swap_error_05(tmp_path):
    """a disk that fails every write is given up, and what was meant for it goes to another one"""
    rules = disks.blkdebug(tmp_path / "rules", "write_aio")
    done = shell("qsbench -n 3000000; swapon -s", "--swap", "16M:5", "--swap", "32M:3", "--inject", f"0:{rules}", *SMALL)
    done.expect(done.counters["oom_kill"] == 0, done.log[-600:])

"""Disks for tests: broken partition tables, foreign signatures, rules for QEMU's blkdebug."""
import contextlib
import os
import struct
import subprocess
import sys
import time

from .guest import ROOT

sys.path.insert(0, os.path.join(ROOT, "tools"))
from runner import disk                                  # noqa: E402  (the path comes first)

MIB = 1 << 20
SERVER_SECONDS = 20             # until nbdkit listens
EXTENDED = 0x05
SECTORS_PER_MIB = MIB // disk.SECTOR


def swap_disk(path, mib=16):
    """A good disk with one swap partition."""
    disk.make_swap_disk(path, mib * MIB, os.path.basename(str(path)))
    return path


def with_signature(path, signature, mib=16):
    """Another signature in the last ten bytes of the swap area's first page."""
    swap_disk(path, mib)
    with open(path, "r+b") as f:
        f.seek(MIB + disk.PAGE - 10)
        f.write(signature.ljust(10, b"\0"))
    return path


def with_table(path, partitions, mib=32):
    """A disk of `mib` with partitions [(type, first MiB, MiB)]; each gets a swap header."""
    entries = [disk.partition_entry(kind, first * SECTORS_PER_MIB, size * SECTORS_PER_MIB)
               for kind, first, size in partitions]
    with open(path, "wb") as f:
        f.truncate(mib * MIB)
        f.seek(446)
        f.write(disk.partition_table(entries))
        for i, (_kind, first, size) in enumerate(partitions):
            if first < mib:
                f.seek(first * MIB)
                f.write(disk.swap_header(size * MIB, f"{path} {i}"))
    return path


def with_extended(path, mib=32):
    """An extended partition from 1 MiB on with one logical swap partition in it."""
    logical = 12 * SECTORS_PER_MIB
    with open(path, "wb") as f:
        f.truncate(mib * MIB)
        f.seek(446)
        f.write(disk.partition_table([disk.partition_entry(EXTENDED, 2048, 20 * SECTORS_PER_MIB)]))
        f.seek(MIB + 446)           # the logical one's first sector counts from this table
        entry = bytearray(disk.partition_entry(disk.TYPE_SWAP, 2048, logical))
        f.write(disk.partition_table([bytes(entry)]))
        f.seek(2 * MIB)
        f.write(disk.swap_header(12 * MIB, "logical"))
    return path


def with_looping_extended(path, mib=32):
    """An extended partition whose table names itself as the next one."""
    with_extended(path, mib)
    with open(path, "r+b") as f:
        f.seek(MIB + 446 + 16)
        f.write(bytes([0, 0, 0, 0, EXTENDED, 0, 0, 0]) + struct.pack("<II", 0, 20 * SECTORS_PER_MIB))
    return path


@contextlib.contextmanager
def served(image, folder, filters, *arguments):
    """While it lasts, nbdkit serves `image` through `filters` with their arguments: QEMU's arguments for one more drive."""
    socket = os.path.join(folder, "nbd")
    server = subprocess.Popen(["nbdkit", "--exit-with-parent", "-f", "-U", socket, *(f"--filter={name}" for name in filters), "file", str(image), *arguments],
                              stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + SERVER_SECONDS
        while not os.path.exists(socket):
            if server.poll() is not None or time.monotonic() > deadline:
                server.kill()
                raise RuntimeError(f"nbdkit serves nothing: {server.communicate()[1].strip()}")
            time.sleep(0.05)
        yield ["--extra=-drive", f"--extra=file=nbd+unix:///?socket={socket},format=raw,if=ide"]
    finally:
        server.kill()
        server.wait()


def blkdebug(path, event, first=None, once=False, errno=5):
    """Rules: an I/O error at `event` ("write_aio", "read_aio"); `first`: only that sector of the disk."""
    lines = ["[inject-error]", f'event = "{event}"', f'iotype = "{event.split("_")[0]}"', f'errno = "{errno}"',
             f'once = "{"on" if once else "off"}"', 'immediately = "off"']
    if first is not None:
        lines.append(f'sector = "{first}"')
    path.write_text("\n".join(lines) + "\n")
    return path

"""Disk images: an MBR with one partition each, swap areas in mkswap's format.

All of it is written with plain file operations, sparse, without root and the same to the byte
every time. The MBR's layout is that of the IBM PC; the swap header is Linux's version 1
(include/linux/swap.h, union swap_header): the first page, signature in its last ten bytes.
"""
import hashlib
import re
import struct

SECTOR = 512
PAGE = 4096
FIRST_SECTOR = 2048             # partitions begin at 1 MiB
TYPE_SWAP = 0x82
TYPE_LINUX = 0x83

UNITS = {"": 1, "B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def parse_size(text):
    """Bytes of "64M", "512K", "1G" or "4096"; ValueError for anything else."""
    m = re.fullmatch(r"(\d+)([BKMG]?)(?:iB)?", text.strip(), re.IGNORECASE)
    if not m:
        raise ValueError(f"not a size: {text!r} (write 64M, 512K or a number of bytes)")
    return int(m.group(1)) * UNITS[m.group(2).upper()]


def _chs(sector, heads=16, per_track=63):
    """The three CHS bytes of a partition entry; beyond cylinder 1023 all ones, as is usual."""
    cylinder, rest = divmod(sector, heads * per_track)
    if cylinder > 1023:
        return b"\xfe\xff\xff"
    head, s = divmod(rest, per_track)
    return bytes([head, (s + 1) | (cylinder >> 2 & 0xc0), cylinder & 0xff])


def partition_entry(kind, first, count, active=False):
    """Sixteen bytes: one entry of a partition table."""
    return (bytes([0x80 if active else 0]) + _chs(first) + bytes([kind])
            + _chs(first + count - 1) + struct.pack("<II", first, count))


def partition_table(entries):
    """The last 66 bytes of an MBR with up to four `entries`."""
    return b"".join(entries).ljust(64, b"\0") + b"\x55\xaa"


def swap_header(bytes_, name):
    """The first page of a swap area of `bytes_` bytes, whose UUID is drawn from `name`."""
    pages = bytes_ // PAGE
    uuid = bytearray(hashlib.sha256(f"clockhand swap {name}".encode()).digest()[:16])
    uuid[6] = uuid[6] & 0x0f | 0x40
    uuid[8] = uuid[8] & 0x3f | 0x80
    head = struct.pack("<III", 1, pages - 1, 0) + bytes(uuid) + b"\0" * 16
    page = bytearray(PAGE)
    page[1024:1024 + len(head)] = head
    page[PAGE - 10:] = b"SWAPSPACE2"
    return bytes(page)


def make_swap_disk(path, bytes_, name):
    """A sparse disk with one swap partition of `bytes_` bytes (rounded up to whole pages)."""
    bytes_ = -(-bytes_ // PAGE) * PAGE
    with open(path, "wb") as f:
        f.truncate(FIRST_SECTOR * SECTOR + bytes_)
        f.seek(446)
        f.write(partition_table([partition_entry(TYPE_SWAP, FIRST_SECTOR, bytes_ // SECTOR)]))
        f.seek(FIRST_SECTOR * SECTOR)
        f.write(swap_header(bytes_, name))

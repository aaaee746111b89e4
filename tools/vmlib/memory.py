"""Where a machine's memory comes from: a dump of it, or a machine that stands still behind gdb's protocol.

Addresses are the kernel's: its linear map shows all of RAM from `base` on, so that a physical address
is base + itself. What was read is kept, for a dump doesn't change and a machine is stopped meanwhile.
"""
import os
import socket
import stat
import struct

from . import BadMemory, VmError

BLOCK = 4096
LINE_SECONDS = 10
PACKET_BYTES = 1024             # asked for at once: QEMU's stub takes no longer packets than 4096


class Memory:
    """A source of bytes; those who make one say in fetch() where they come from."""

    def __init__(self):
        self.blocks = {}

    def fetch(self, address, count):
        """`count` bytes that lie in one block. BadMemory."""
        raise NotImplementedError

    def _block(self, start):
        if start not in self.blocks:
            self.blocks[start] = self.fetch(start, BLOCK)
        return self.blocks[start]

    def read(self, address, count):
        out = b""
        while len(out) < count:
            at = (address + len(out)) & 0xffffffff
            start = at & ~(BLOCK - 1)
            out += self._block(start)[at - start:at - start + count - len(out)]
        return out

    def word(self, address):
        if address & 3:
            return int.from_bytes(self.read(address, 4), "little")
        return struct.unpack_from("<I", self._block(address & ~(BLOCK - 1)), address & BLOCK - 1)[0]

    def close(self):
        """Nothing more will be asked."""


class Dump(Memory):
    """A file: an ELF core by QEMU's dump-guest-memory, or plain memory from 0 on by its pmemsave."""

    def __init__(self, path, base):
        super().__init__()
        self.path, self.base = path, base
        try:
            self.file = open(path, "rb")
            self.size = os.fstat(self.file.fileno()).st_size
            self.ranges = self._ranges()
        except OSError as e:
            raise VmError(f"{path}: {e.strerror}") from e

    def _ranges(self):
        """[(physical address, place in the file, bytes)]."""
        head = self.file.read(64)
        if head[:4] != b"\x7fELF":
            return [(0, 0, self.size)]
        if len(head) < 64:
            raise VmError(f"{self.path} is cut off in its header")
        wide = head[4] == 2
        if struct.unpack_from("<H", head, 16)[0] != 4:
            raise VmError(f"{self.path} is an ELF file, but no core: not a dump of memory")
        table, = struct.unpack_from("<Q", head, 32) if wide else struct.unpack_from("<I", head, 28)
        bytes_, count = struct.unpack_from("<HH", head, 54 if wide else 42)
        ranges = []
        for i in range(count):
            self.file.seek(table + i * bytes_)
            entry = self.file.read(bytes_)
            if len(entry) < bytes_:
                raise VmError(f"{self.path} is cut off in its table of ranges")
            kind, = struct.unpack_from("<I", entry)
            place, paddr, size = (struct.unpack_from("<Q8xQQ", entry, 8) if wide else struct.unpack_from("<I4xII", entry, 4))
            if kind == 1:
                ranges.append((paddr, place, size))
                if place + size > self.size:
                    raise VmError(f"{self.path} is cut off: it has {self.size} bytes, and memory up to {place + size}")
        return ranges

    def fetch(self, address, count):
        pa = address - self.base
        for start, place, size in self.ranges:
            if start <= pa and pa + count <= start + size:
                self.file.seek(place + pa - start)
                return self.file.read(count)
        raise BadMemory(f"bad memory: {self.path} has nothing at {address:#x}")


class GdbLine(Memory):
    """A machine with QEMU's -gdb: its line is a unix socket's path or HOST:PORT. It stands still while
    we are connected, and runs again afterwards if it ran before (QEMU's stub doesn't say; we let it run)."""

    def __init__(self, where):
        super().__init__()
        self.where = where
        try:
            if ":" in where and not os.path.exists(where):
                host, _, port = where.rpartition(":")
                self.line = socket.create_connection((host or "localhost", int(port)), LINE_SECONDS)
            else:
                self.line = socket.socket(socket.AF_UNIX)
                self.line.settimeout(LINE_SECONDS)
                self.line.connect(where)
        except (OSError, ValueError) as e:
            raise VmError(f"no machine answers at {where}: {e}") from e
        self.pending = b""
        self.ask("?")               # QEMU stops the machine when somebody connects

    def _byte(self):
        if not self.pending:
            try:
                self.pending = self.line.recv(65536)
            except OSError as e:
                raise VmError(f"the machine at {self.where} doesn't answer: {e}") from e
            if not self.pending:
                raise VmError(f"the machine at {self.where} is gone")
        first, self.pending = self.pending[:1], self.pending[1:]
        return first

    def _send(self, text):
        data = text.encode()
        try:
            self.line.sendall(b"$" + data + b"#%02x" % (sum(data) & 0xff))
        except OSError as e:
            raise VmError(f"the machine at {self.where} is gone: {e}") from e

    def _packet(self):
        """Take in one packet ($DATA#SUM) and acknowledge it."""
        while self._byte() != b"$":
            pass
        data = b""
        while (byte := self._byte()) != b"#":
            data += byte
        if int(self._byte() + self._byte(), 16) != sum(data) & 0xff:
            raise VmError(f"a garbled answer from {self.where}")
        self.line.sendall(b"+")
        return data.decode("latin-1")

    def ask(self, text):
        """Send a question and return the answer. That the machine has stopped it may say unasked."""
        self._send(text)
        answer = self._packet()
        while answer[:1] in ("T", "S") and text != "?":
            answer = self._packet()
        return answer

    def fetch(self, address, count):
        out = b""
        while len(out) < count:
            answer = self.ask(f"m{address + len(out):x},{min(PACKET_BYTES, count - len(out)):x}")
            if answer.startswith("E") or not answer:
                raise BadMemory(f"bad memory: the machine has none at {address:#x} (is its kernel running yet?)")
            out += bytes.fromhex(answer)
        return out

    def close(self):
        """Leave: the machine goes on."""
        try:
            self.ask("D")
        finally:
            self.line.close()


def is_line(where):
    """Does `where` name a machine rather than a file?"""
    if os.path.exists(where):
        return stat.S_ISSOCK(os.stat(where).st_mode)
    host, colon, port = where.rpartition(":")
    return bool(colon) and port.isdecimal() and "/" not in host

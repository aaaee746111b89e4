"""Names for kernel addresses, and backtraces of a machine that stands still."""
import bisect
import re
import subprocess

KERNEL_BASE = 0xc0000000
PAGING = 1 << 31                # CR0.PG
DEPTH = 24                      # frames printed at most


class Symbols:
    """The functions of one kernel, by nm."""

    def __init__(self, kernel):
        self.addresses, self.names = [], []
        listing = subprocess.run(["nm", "-n", kernel], capture_output=True, text=True, check=False).stdout
        for line in listing.splitlines():
            fields = line.split()
            if len(fields) == 3 and fields[1] in "tT":
                self.addresses.append(int(fields[0], 16))
                self.names.append(fields[2])

    def name(self, address):
        """"function+0x12", or words for an address outside the kernel."""
        if address < KERNEL_BASE:
            # Before paging the kernel runs at its load address.
            i = bisect.bisect_right(self.addresses, address) - 1
            if i < 0 or address - self.addresses[i] > 0x10000:
                return "user program"
        else:
            i = bisect.bisect_right(self.addresses, address) - 1
        if i < 0:
            return "?"
        return f"{self.names[i]}+{address - self.addresses[i]:#x}"


def parse_registers(text):
    """{"EIP": 0x..., ...} from QEMU's `info registers`."""
    return {m.group(1): int(m.group(2), 16)
            for m in re.finditer(r"\b(EAX|EBX|ECX|EDX|ESI|EDI|EBP|ESP|EIP|EFL|CR[0234])=\s*([0-9a-f]+)", text)}


def _words(monitor, address, count):
    text = monitor.human(f"x /{count}wx {address:#x}")
    values = []
    for line in text.splitlines():
        values += [int(w, 16) for w in line.partition(":")[2].split() if w.startswith("0x")]
    return values if len(values) == count else None


def backtrace(monitor, symbols):
    """Where a stopped (or looping) machine is: lines "  0xADDR name+0xOFF"."""
    registers = parse_registers(monitor.human("info registers"))
    if "EIP" not in registers:
        return ["  (no registers)"]
    lines = [f"  {registers['EIP']:#010x} {symbols.name(registers['EIP'])}"]
    frame = registers.get("EBP", 0)
    lowest = KERNEL_BASE if registers.get("CR0", 0) & PAGING else 1
    while len(lines) < DEPTH and frame >= lowest and frame % 4 == 0:
        words = _words(monitor, frame, 2)
        if not words or words[1] == 0:
            break
        lines.append(f"  {words[1]:#010x} {symbols.name(words[1])}")
        if words[0] <= frame:
            break
        frame = words[0]
    return lines

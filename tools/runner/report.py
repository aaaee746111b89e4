"""The report of a run: the lines that begin with @ on port 0xE9 (docs/formats.md)."""
import hashlib


class Report:
    """Filled line by line while the machine runs."""

    def __init__(self):
        self.panic = None           # the cause, once the machine has panicked
        self.complete = False       # "@report end" was seen
        self.exit = None
        self.cause = None
        self.time = {}              # seconds by name
        self.config = {}
        self.counters = {}
        self.disks = {}
        self.trace = []
        self.samples = {"columns": [], "rows": []}      # of sample.ms=N, by time
        self.stream = []            # lines of trace.stream=..., as they came: see stream.py
        self.maps = []              # of swap.map=...: see _map()
        self.log = []               # everything else: the kernel's log again
        self._partial = b""

    def feed(self, data):
        """Take in what came from port 0xE9."""
        lines = (self._partial + data).split(b"\n")
        self._partial = lines.pop()
        for line in lines:
            if line.startswith(b"@="):          # half a million in a long run
                self.stream.append(line)
                continue
            self._line(line.decode("latin-1").rstrip("\r"))

    def _line(self, line):
        if not line.startswith("@"):
            self.log.append(line)
            return
        word, _, rest = line[1:].partition(" ")
        if word == "panic":
            self.panic = rest or "unknown"
        elif word == "report":
            self.complete = rest == "end"
        elif word == "exit":
            self.exit = int(rest)
        elif word == "cause":
            self.cause = rest
        elif word == "trace":
            self.trace.append(rest)
        elif word == "sample":
            self._sample(rest)
        elif word == "map":
            self._map(rest)
        elif word == "stream":
            self.stream.append(line.encode())
        elif word in ("time", "counter"):
            name, _, value = rest.partition(" ")
            if word == "time":
                self.time[name] = int(value) / 1e9
            else:
                self.counters[name] = int(value)
        elif word == "config":
            name, _, value = rest.partition(" ")
            self.config[name] = int(value) if value.isdecimal() else value
        elif word == "disk":
            name, field, value = (rest.split(" ", 2) + ["", ""])[:3]
            self.disks.setdefault(name, {})[field] = int(value) if value.isdecimal() else value

    def _sample(self, rest):
        """NANOSECONDS name=value ...; the first line names the columns."""
        time, *words = rest.split()
        pairs = [word.partition("=") for word in words]
        self.samples["columns"] = self.samples["columns"] or ["time"] + [name for name, _, _ in pairs]
        self.samples["rows"].append([int(time)] + [int(value) for _, _, value in pairs])

    def _map(self, rest):
        """One line of a map of swap, which lies between "begin" and "end". A map that was cut off is dropped there."""
        word, _, rest = rest.partition(" ")
        if word == "begin":
            time, _, cause = rest.partition(" ")
            self.maps.append({"time": int(time), "cause": cause, "areas": {}, "tasks": {}, "owners": {}})
            return
        m = self.maps[-1]
        name, _, rest = rest.partition(" ")
        if word == "area":
            device, size = rest.split()
            m["areas"][name] = {"device": device, "slots": int(size), "states": ""}
        elif word == "slots":
            m["areas"][name]["states"] = (m["areas"][name]["states"] + " " + rest).strip()
        elif word == "task":
            m["tasks"][name] = rest
        elif word == "owner":
            m["owners"][name] = (m["owners"].get(name, "") + " " + rest).strip()

    def trace_sha256(self):
        return hashlib.sha256("\n".join(self.trace).encode()).hexdigest()

    def log_tail(self, count):
        return [line for line in self.log if line.strip()][-count:]

    def panic_lines(self):
        """From PANIC to the end of the backtrace, as the kernel printed them."""
        lines, on = [], False
        for line in self.log:
            on = on or "PANIC" in line
            if on:
                lines.append(line)
        return lines[:60]

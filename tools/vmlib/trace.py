"""The trace ring: what the machine did last. Names of events and fields are the kernel's table of
kernel/trace.def, read from its memory."""


class Trace:
    """The ring of machine `m`."""

    def __init__(self, m):
        self.m = m
        self.ring = m.variable("trace_ring")
        self.bytes = m.debug.struct("trace_record").size
        self.length = (m.variable("trace_ring_mask") + 1) // self.bytes
        self.scale = m.variable("scale", "kernel/time.c")
        self.tick_ns = m.constant("TICK_NS", "kernel/time.c")
        self.ticks = m.variable("clock_source") in (m.constant("CLOCK_NONE"), m.constant("CLOCK_TICKS"))
        self.names = [(event.name, list(event.field)) for event in m.variable("events", "kernel/trace.c")]

    def seconds(self, cycles):
        ns = cycles * self.tick_ns if self.ticks else cycles * self.scale.mult >> self.scale.shift
        return f"{ns // 10**9}.{ns % 10**9:09}"

    def records(self, count):
        """The newest `count` records, oldest first, as the kernel prints them."""
        end = self.m.variable("trace_ring_next") // self.bytes
        for n in range(end - min(count, self.length), end):
            r = self.m.struct("trace_record", self.ring.address + n % self.length * self.bytes)
            if r.number:
                yield self.text(r)

    def text(self, r):
        if r.number > len(self.names):
            return f"{self.seconds(r.time)} event {r.number - 1}?"
        name, fields = self.names[r.number - 1]
        words = [f"{field}={value:#x}" if value else f"{field}=0" for field, value in zip(fields, (r.a, r.b, r.c)) if field]
        return " ".join([self.seconds(r.time), name, f"tid={r.tid}"] + words)

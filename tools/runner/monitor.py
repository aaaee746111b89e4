"""QEMU's control line (QMP): a socket pair whose other end QEMU inherits."""
import json
import select
import socket
import time


class MonitorError(Exception):
    """The machine does not answer (any more)."""


class Monitor:
    """One connection. Events gather in `events`; `closed` once QEMU is gone."""

    def __init__(self):
        self.sock, self.qemu_end = socket.socketpair()
        self.sock.setblocking(False)
        self.buffer = b""
        self.events = []
        self.replies = []
        self.closed = False

    def arguments(self):
        fd = self.qemu_end.fileno()
        return ["-chardev", f"socket,id=qmp,fd={fd}", "-mon", "chardev=qmp,mode=control"]

    def started(self):
        """QEMU has its end: drop ours, so that its death is an end of file here, and say hello,
        before which it sends no events."""
        self.qemu_end.close()
        try:
            self.command("qmp_capabilities", seconds=20)
        except MonitorError:
            pass            # it died at once; whoever waits for it will see that

    def wait(self, seconds):
        """Sleep until something comes from QEMU, at most `seconds`, and take it in."""
        if self.closed:
            time.sleep(seconds)
            return
        readable, _, _ = select.select([self.sock], [], [], seconds)
        if readable:
            self._read()

    def _read(self):
        try:
            data = self.sock.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.closed = True
            return
        self.buffer += data
        while b"\n" in self.buffer:
            line, _, self.buffer = self.buffer.partition(b"\n")
            message = json.loads(line)
            if "event" in message:
                self.events.append(message)
            elif "QMP" not in message:
                self.replies.append(message)

    def command(self, name, seconds=5, **arguments):
        """Run one QMP command and return its result. MonitorError when nothing comes back."""
        self.replies.clear()
        request = {"execute": name}
        if arguments:
            request["arguments"] = {k.replace("_", "-"): v for k, v in arguments.items()}
        try:
            self.sock.sendall(json.dumps(request).encode() + b"\n")
        except OSError as e:
            raise MonitorError(str(e)) from e
        end = time.monotonic() + seconds
        while not self.replies:
            left = end - time.monotonic()
            if self.closed or left <= 0:
                raise MonitorError(f"no answer to {name}")
            self.wait(left)
        return self.replies.pop(0).get("return")

    def human(self, line):
        """The text that QEMU's monitor prints for `line`."""
        return self.command("human-monitor-command", command_line=line) or ""

    def shutdown_reason(self):
        """Why the machine stopped by itself: "guest-reset", "guest-shutdown", ... or None."""
        for event in self.events:
            if event["event"] == "SHUTDOWN":
                return event["data"].get("reason", "")
        return None

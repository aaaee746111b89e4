"""The user's terminal, joined to a machine's console.

Raw while the machine runs, restored whatever happens. Ctrl-A X ends the machine, Ctrl-A A sends
a Ctrl-A. Input that is no terminal is given line by line, each when the shell asks for it; when
it ends the machine is told so by Ctrl-D, and powers off.
"""
import os
import select
import sys
import termios
import time
import tty

ESCAPE = 0x01                   # Ctrl-A
END_OF_INPUT = b"\x04"          # Ctrl-D
QUIET_SECONDS = 0.1             # after a prompt, for what it interrupted to come to its end
NOISE_SECONDS = 2.0             # something in the background may never be quiet
ASK_AGAIN_SECONDS = 2.0


class Terminal:
    """Context manager around one machine with `console`, a connected socket."""

    def __init__(self, machine, prompt):
        self.machine, self.prompt = machine, prompt
        self.input = sys.stdin.fileno() if sys.stdin else -1
        self.is_tty = self.input >= 0 and os.isatty(self.input)
        self.saved = None
        self.quit = False               # Ctrl-A X was typed
        self.escaped = False
        self.ended = self.input < 0     # no more input
        self.pending = b""              # read and not yet sent
        self.recent = b""               # the end of the machine's output
        self.prompted = None            # when the shell asked for a line it hasn't got yet
        self.last_output = time.monotonic()
        self.last_end = 0.0

    def __enter__(self):
        if self.is_tty:
            self.saved = termios.tcgetattr(self.input)
            tty.setraw(self.input)
        self.machine.console.setblocking(False)
        return self

    def __exit__(self, *_exc):
        if self.saved:
            termios.tcsetattr(self.input, termios.TCSADRAIN, self.saved)

    def pump(self, seconds):
        """Pass on what there is, both ways, waiting at most `seconds` for it."""
        watch = [self.machine.console, self.machine.monitor.sock]
        if not self.ended and len(self.pending) < 4096:
            watch.append(self.input)
        readable, _, _ = select.select(watch, [], [], seconds)
        if self.machine.console in readable:
            self._output()
        if self.input in readable:
            self._read_input()
        self._send()

    def _output(self):
        try:
            data = self.machine.console.recv(1 << 16)
        except OSError:
            return
        if not data:
            return
        self.last_output = time.monotonic()
        if self.prompt in self.recent + data:
            self.prompted = self.last_output
        self.recent = (self.recent + data)[-(len(self.prompt) - 1):]
        if not self.is_tty or self.saved is None:
            data = data.replace(b"\r\n", b"\n")
        os.write(sys.stdout.fileno(), data)

    def drain(self):
        """What still lies in the socket after the machine's end."""
        while select.select([self.machine.console], [], [], 0)[0]:
            before = self.last_output
            self._output()
            if self.last_output == before:
                return

    def _read_input(self):
        data = os.read(self.input, 1024)
        if not data:
            self.ended = True
        elif self.is_tty:
            self._typed(data)
        else:
            self.pending += data.replace(b"\n", b"\r")

    def _typed(self, data):
        for byte in data:
            if self.escaped:
                self.escaped = False
                if byte in b"xX":
                    self.quit = True
                elif byte in (ESCAPE, ord("a")):
                    self.pending += bytes([ESCAPE])
            elif byte == ESCAPE:
                self.escaped = True
            else:
                self.pending += bytes([byte])

    def _asked(self):
        """Does the shell wait for a line?"""
        now = time.monotonic()
        return self.prompted is not None and (now - self.last_output >= QUIET_SECONDS
                                              or now - self.prompted >= NOISE_SECONDS)

    def _send(self):
        if self.pending and self.is_tty:
            self._write(self.pending)
            self.pending = b""
        elif self.pending and self._asked():
            line, mark, rest = self.pending.partition(b"\r")
            if mark or self.ended:
                self._write(line + b"\r")
                self.pending, self.prompted = rest, None
        elif self.ended and not self.pending and self._asked():
            if time.monotonic() - self.last_end > ASK_AGAIN_SECONDS:
                self._write(END_OF_INPUT)
                self.last_end = time.monotonic()

    def _write(self, data):
        try:
            self.machine.console.setblocking(True)
            self.machine.console.sendall(data)
        except OSError:
            pass
        finally:
            self.machine.console.setblocking(False)

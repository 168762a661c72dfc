"""A program at a pseudo-terminal: the input and the output of a person."""

import os
import pty
import re
import select
import signal
import struct
import subprocess
import fcntl
import termios
import time

DEADLINE_S = 60


class Terminal:
    """Runs a command on a pseudo-terminal; the caller must close() it."""

    def __init__(self, command, environment, columns=100):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *command], stdin=slave, stdout=slave, stderr=slave,
            env=environment, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(slave)
        self.seen = b""  # since the last see()
        self.all = b""

    def _read(self, until):
        ready, _, _ = select.select([self.master], [], [], max(0, until - time.monotonic()))
        if not ready:
            return False
        try:
            more = os.read(self.master, 65536)
        except OSError:  # the program has ended
            return False
        self.seen += more
        self.all += more
        return bool(more)

    def type(self, text):
        os.write(self.master, text if isinstance(text, bytes) else text.encode())

    def see(self, pattern):
        """Waits for it, takes it and all before it away, and returns the match."""
        pattern = pattern.encode() if isinstance(pattern, str) else pattern
        until = time.monotonic() + DEADLINE_S
        while not (match := re.search(pattern, self.seen)):
            if not self._read(until):
                raise AssertionError(f"{pattern} does not appear; this does: {self.seen}")
        self.seen = self.seen[match.end():]
        return match

    def enter(self, line):
        self.type(line + "\r")

    def wait(self):
        """The exit code; all that is still said is read."""
        until = time.monotonic() + DEADLINE_S
        while self._read(until):
            pass
        return self.process.wait(DEADLINE_S)

    def signal(self, number=signal.SIGINT):
        self.process.send_signal(number)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.master)

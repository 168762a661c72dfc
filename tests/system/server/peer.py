"""Starts and ends the servers that are compared: keywayd and Debian's redis-server, on loopback."""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading

from wire import Wire

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools/common"))
from ports import free_port  # noqa: E402

START_S = 60
END_S = 60
ATTEMPTS = 5
CLUSTER_PORT = "<free>"  # among options: a port that is free, chosen again with each attempt


# redis-server and redis-check-rdb are one program, which checks the name that it is called by.
# Debian has it in redis-tools; its package redis-server adds the name, and a service.
_REDIS = ("redis-server", "redis-check-rdb")


def find_redis():
    return next(filter(None, map(shutil.which, _REDIS)), None)


def is_redis(program):
    return pathlib.Path(program).name in _REDIS


class Peer:
    """One running server in a separate folder; the caller must end() it."""

    ranks = 1

    def __init__(self, program, *options):
        self.program = str(program)
        self.is_redis = is_redis(self.program)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="keyway-peer-"))
        self.process = None
        self.options = options
        try:
            self._start()
        except BaseException:
            self.end()
            raise

    def _command(self, options):
        if self.is_redis:
            name = self.folder / "redis-server"
            if not name.exists():
                name.symlink_to(shutil.which(self.program))
            # One database, as Keyway has.
            return [str(name), "--port", str(self.port), "--bind", "127.0.0.1", "--save", "",
                    "--appendonly", "no", "--databases", "1", "--dir", str(self.folder), *options]
        if "--memory" not in options:
            options = ("--memory", "64MiB", *options)
        return [self.program, "--port", str(self.port), *options]

    def _start(self):
        for _ in range(ATTEMPTS):
            self.port = free_port(2 * self.ranks)
            self.cluster_port = self.port + self.ranks
            if self._started():
                return
            if "in use" not in self.said():
                break
        raise AssertionError(f"{self.program} does not start:\n{self.said()}")

    def _started(self):
        """On its port; false if it ends at once."""
        self.lines, self._ready = [], threading.Event()
        options = tuple(str(self.cluster_port) if option is CLUSTER_PORT else option
                        for option in self.options)
        # The kernel ends the server should this process be killed.
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *self._command(options)], cwd=self.folder,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace")
        self._reader = threading.Thread(target=self._read_output, daemon=True)
        self._reader.start()
        if not self._ready.wait(START_S):
            raise AssertionError(f"{self.program} is not ready in {START_S} s:\n{self.said()}")
        if self._announced():
            self.connect().close()
            return True
        self.process.wait(END_S)
        return False

    def die_and_come_back(self):
        """Killed, and started again on the same port."""
        self._kill()
        if not self._started():
            raise AssertionError(f"{self.program} does not come back:\n{self.said()}")

    def _announced(self):
        if self.is_redis:
            return any("Ready to accept connections" in line for line in self.lines)
        return any(f"keywayd: ready on {address}:{self.port}\n" in self.lines
                   for address in ("127.0.0.1", "0.0.0.0"))

    def _read_output(self):
        """Reads until the server ends, so that it never waits for a reader of its output."""
        for line in self.process.stdout:
            self.lines.append(line)
            if self._announced():
                self._ready.set()
        self._ready.set()

    def said(self):
        return "".join(self.lines)

    @property
    def pid(self):
        return self.process.pid

    def alive(self):
        return self.process.poll() is None

    def open_files(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def resident_bytes(self):
        pages = int(pathlib.Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def address_space(self):
        pages = int(pathlib.Path(f"/proc/{self.pid}/statm").read_text().split()[0])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def threads(self):
        return len(os.listdir(f"/proc/{self.pid}/task"))

    def touch_store(self):
        """Fills the store once and empties it: from then on what its memory holds no longer changes
        how much the process has resident."""
        with self.connect() as wire:
            number = 0
            while wire.request("SET", f"fill:{number}", b"x" * (1 << 19)) == b"+OK\r\n":
                number += 1
            if number < 10 or wire.request("FLUSHALL") != b"+OK\r\n":
                raise AssertionError("the store cannot be filled and emptied")

    def uri(self, rank=0):
        return f"redis://127.0.0.1:{self.port + rank}"

    def connect(self):
        return Wire(socket.create_connection(("127.0.0.1", self.port), timeout=START_S))

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)

    def exit_code(self):
        """Exit code of a server that was asked to end. A server that does not end fails the
        test."""
        code = self.process.wait(END_S)
        self._reader.join(END_S)
        return code

    def end(self):
        """Ends it in any state."""
        if self.process is not None:
            self._kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _kill(self):
        if self.alive():
            self.process.kill()
        self.process.wait()
        self._reader.join(END_S)
        self.process.stdout.close()

"""A raw client: sends bytes, and reads one reply of RESP2 or RESP3 as the bytes that it is."""

import fcntl
import select
import socket
import struct
import termios
import threading
import time

DEADLINE_S = 60  # far above the time of any reply: a client that waits that long was forgotten

# Instead of a reply: the server has closed the connection.
CLOSED = b"<closed>"

_LINES = b"+-:_,#("
_BULKS = b"$!="
_PARTS = {ord("*"): 1, ord("~"): 1, ord(">"): 1, ord("%"): 2, ord("|"): 2}


class NoReply(AssertionError):
    """Nothing came before the deadline."""


class NotResp(AssertionError):
    """The received bytes are not a reply."""


class _Closed(Exception):
    pass


def encode(words):
    """A request as clients send it."""
    parts = [b"*%d\r\n" % len(words)]
    for word in words:
        word = word if isinstance(word, bytes) else str(word).encode()
        parts.append(b"$%d\r\n%b\r\n" % (len(word), word))
    return b"".join(parts)


class Wire:
    """One connection. Each read has DEADLINE_S."""

    def __init__(self, connected):
        self.socket = connected
        self.socket.settimeout(DEADLINE_S)
        if connected.family == socket.AF_INET:
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received = bytearray()
        self._at = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def send(self, data):
        """If the server has closed, the next read reports it, not this code."""
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def send_aside(self, pieces):
        """Sends while the caller reads: a server that does not read before its replies are taken
        does not block."""
        def send_all():
            try:
                for piece in pieces:
                    self.send(piece)
            except OSError:
                pass  # closed here
        threading.Thread(target=send_all, daemon=True).start()

    def unarrived(self):
        """How many bytes of what was sent are not yet at the server's end."""
        return struct.unpack("i", fcntl.ioctl(self.socket, termios.TIOCOUTQ, b"\0" * 4))[0]

    def has_come(self):
        """Whether anything of a reply is there."""
        if self._received:
            return True
        return bool(select.select([self.socket], [], [], 0)[0])

    def come(self):
        """All that has come of replies that were not taken, without waiting for more."""
        try:
            while select.select([self.socket], [], [], 0)[0]:
                self._until = time.monotonic() + DEADLINE_S
                self._receive()
        except _Closed:
            pass
        return bytes(self._received)

    def finish(self):
        """No more will be sent."""
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # the server was faster

    def request(self, *words):
        self.send(encode(words))
        return self.reply()

    def reply(self):
        """The bytes of exactly one reply, or CLOSED when the connection ended before it."""
        self._until = time.monotonic() + DEADLINE_S
        try:
            self._at = 0
            self._skip_reply()
        except _Closed:
            return CLOSED
        found = bytes(self._received[:self._at])
        del self._received[:self._at]
        return found

    def take(self, size):
        """This many bytes, or the bytes before the connection ended."""
        self._until = time.monotonic() + DEADLINE_S
        try:
            while len(self._received) < size:
                self._receive()
        except _Closed:
            pass
        found = bytes(self._received[:size])
        del self._received[:size]
        return found

    def rest(self):
        """Everything until the server closes."""
        self._until = time.monotonic() + DEADLINE_S
        try:
            while True:
                self._receive()
        except _Closed:
            found = bytes(self._received)
            self._received.clear()
            return found

    def _receive(self):
        left = self._until - time.monotonic()
        try:
            if left <= 0:
                raise TimeoutError
            self.socket.settimeout(left)
            data = self.socket.recv(1 << 20)
        except TimeoutError:
            raise NoReply(f"no more after {bytes(self._received[:200])!r}") from None
        except (ConnectionResetError, BrokenPipeError):
            data = b""
        finally:
            self.socket.settimeout(DEADLINE_S)
        if not data:
            raise _Closed
        self._received += data

    def _line(self):
        while (end := self._received.find(b"\r\n", self._at)) < 0:
            self._receive()
        line = bytes(self._received[self._at:end])
        self._at = end + 2
        return line

    def _skip_reply(self):
        line = self._line()
        kind = line[0] if line else 0
        if kind in _LINES:
            return
        if kind not in _BULKS and kind not in _PARTS:
            raise NotResp(f"no reply begins like {line[:200]!r}")
        size = int(line[1:])
        if kind in _BULKS:
            if size >= 0:
                self._skip_bytes(size + 2)
            return
        for _ in range(size * _PARTS[kind]):
            self._skip_reply()
        if kind == ord("|"):  # an attribute comes before its reply
            self._skip_reply()

    def _skip_bytes(self, size):
        while len(self._received) - self._at < size:
            self._receive()
        self._at += size


def decode(reply):
    """One raw reply as (kind, value): bytes, or a list of such pairs."""
    value, rest = _decode(reply)
    assert not rest, f"more than one reply: {rest!r}"
    return value


def _decode(data):
    line, rest = data.split(b"\r\n", 1)
    kind = line[:1].decode()
    if line[0] in _LINES:
        return (kind, line[1:]), rest
    size = int(line[1:])
    if size < 0:
        return (kind, None), rest
    if line[0] in _BULKS:
        return (kind, rest[:size]), rest[size + 2:]
    parts = []
    for _ in range(size * _PARTS[line[0]]):
        part, rest = _decode(rest)
        parts.append(part)
    return (kind, parts), rest

"""The part of a Redis client that rows need which know the length of each reply."""

import socket
import time

TIMEOUT_S = 60


def encode(*words):
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%b\r\n" % (len(word), word)
                                             for word in words)


class Client:
    """A connection to the Unix socket at a path."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(TIMEOUT_S)
        self.socket.connect(path)

    def ask(self, requests, reply_bytes):
        """Sends requests, and takes as many bytes of replies."""
        self.socket.sendall(requests)
        while reply_bytes > 0:
            received = len(self.socket.recv(reply_bytes))
            if received == 0:
                raise SystemExit("keywayd has closed the connection")
            reply_bytes -= received

    def slot_of(self, key):
        self.socket.sendall(encode(b"CLUSTER", b"KEYSLOT", key))
        return int(self.socket.recv(100)[1:])

    def rate(self, pipelines, at_once, seconds):
        """Requests per second; a pipeline has `at_once`, and the bytes of their replies."""
        done, begin = 0, time.monotonic()
        while time.monotonic() - begin < seconds:
            self.ask(*pipelines[done % len(pipelines)])
            done += 1
        return done * at_once / (time.monotonic() - begin)

"""The common part of the tests of named locks: a server, and clients of it that hold and wait."""

import time
import unittest

from case import start_ours
from wire import DEADLINE_S, decode, encode

OK = b"+OK\r\n"
PONG = b"+PONG\r\n"
NULL = b"$-1\r\n"
LONG = ("TIMEOUT", 50000)


def token_of(reply):
    """The token of a granted lock."""
    if not reply.startswith(b":"):
        raise AssertionError(f"no token: {reply!r}")
    return int(reply[1:-2])


def as_value(part):
    """The value of a decoded RESP3 reply, with maps as dict."""
    kind, value = part
    if kind == "%":
        return {as_value(k): as_value(v) for k, v in zip(value[::2], value[1::2])}
    if isinstance(value, list):
        return [as_value(item) for item in value]
    return int(value) if kind == ":" else value.decode()


class LockCase(unittest.TestCase):
    OPTIONS = ("--workers", "2", "--fibers", "2")  # fewer fibers than there are clients that wait

    @classmethod
    def setUpClass(cls):
        cls.peer = start_ours(*cls.OPTIONS)
        cls.addClassCleanup(cls.peer.end)

    def setUp(self):
        self.asking = self.connect()
        self.assertEqual(self.asking.request("FLUSHALL"), OK)
        self.assertIn(b"proto", self.asking.request("HELLO", "3"))

    def tearDown(self):
        self.assertTrue(self.peer.alive(), f"the server has ended:\n{self.peer.said()}")

    def connect(self):
        wire = self.peer.connect()
        self.addCleanup(wire.close)
        return wire

    def info(self, name):
        return as_value(decode(self.asking.request("KW.LOCKINFO", name)))

    def until(self, name, holders, waiters):
        """Polls until this many hold and wait."""
        end = time.monotonic() + DEADLINE_S
        while True:
            info = self.info(name)
            if (len(info["holders"]), len(info["waiters"])) == (holders, waiters):
                return info
            self.assertLess(time.monotonic(), end, info)

    def hold(self, name, mode="WRITE", *options):
        """A connection that has the lock, and its token."""
        wire = self.connect()
        return wire, token_of(wire.request("KW.LOCK", name, mode, *options))

    def queue(self, name, mode, waiters, *options):
        """A waiting connection, the last of this many."""
        wire = self.connect()
        wire.send(encode(["KW.LOCK", name, mode, *(options or LONG)]))
        self.until(name, len(self.info(name)["holders"]), waiters)
        return wire

"""Expired keys are removed without a request, and long walks over the table delay no client."""

import time
import unittest

from case import main, start_ours
from wire import DEADLINE_S, encode

PONG = b"+PONG\r\n"
OK = b"+OK\r\n"


class Sweep(unittest.TestCase):
    def setUp(self):
        self.peer = start_ours("--workers", "2")
        self.addCleanup(self.peer.end)
        self.wire = self.peer.connect()
        self.addCleanup(self.wire.close)

    def until_size(self, size):
        until = time.monotonic() + DEADLINE_S
        while (reply := self.wire.request("DBSIZE")) != b":%d\r\n" % size:
            self.assertLess(time.monotonic(), until, reply)

    def test_what_has_expired_goes_and_nothing_else(self):
        count = 5000
        for kind, more in (("kept", ()), ("long", ("EX", "1000")), ("short", ("PX", "1"))):
            self.wire.send(b"".join(encode(["SET", f"{kind}:{i}", "v" * (i % 100), *more])
                                    for i in range(count)))
            for _ in range(count):
                self.assertEqual(self.wire.reply(), OK)
        self.until_size(2 * count)
        keys = [f"{kind}:{i}" for kind in ("kept", "long") for i in range(count)]
        self.assertEqual(self.wire.request("EXISTS", *keys), b":%d\r\n" % len(keys))

    def test_while_clients_write(self):
        for number in range(20000):
            self.wire.send(encode(["SET", f"k{number % 300}", str(number), "PX", "1"]) +
                           encode(["INCR", "n"]))
            self.assertEqual(self.wire.reply(), OK)
            self.assertEqual(self.wire.reply(), b":%d\r\n" % (number + 1))
        self.until_size(1)
        self.assertEqual(self.wire.request("GET", "n"), b"$5\r\n20000\r\n")

    def test_it_ends_with_the_server(self):
        self.wire.send(encode(["SET", "k", "v", "PX", "1"]))
        self.assertEqual(self.wire.reply(), OK)
        self.peer.terminate()
        self.assertEqual(self.peer.exit_code(), 0, self.peer.said())


class LongWalks(unittest.TestCase):
    """Over a table of millions of places with nothing in them."""

    def test_others_have_their_turn(self):
        peer = start_ours("--memory", "1GiB", "--workers", "1")
        self.addCleanup(peer.end)
        for request in (("RANDOMKEY",), ("SCAN", "0"), ("KEYS", "*"), ("FLUSHALL",)):
            with self.subTest(request=request), peer.connect() as slow, peer.connect() as other:
                # A busy machine may delay this process for longer than the whole pipeline takes: the
                # shorter both are, the likelier is one try without a delay. A server that never
                # yields answers the pipeline first each time.
                until = time.monotonic() + DEADLINE_S
                while not self.answered_first(slow, other, request):
                    self.assertLess(time.monotonic(), until, "they waited for the whole pipeline")

    def answered_first(self, slow, other, request):
        """Whether 3 PINGs are answered before a pipeline of 3 requests that came before them."""
        self.assertEqual(other.request("PING"), PONG)
        slow.send(encode(request) * 3)
        while slow.unarrived():
            pass
        for _ in range(3):
            self.assertEqual(other.request("PING"), PONG)
        # Replies to a pipeline leave together: while none has come, it is not answered.
        first = not slow.has_come()
        for _ in range(3):
            slow.reply()
        return first


if __name__ == "__main__":
    main()

"""The process gets no more memory: a request that needs some is refused or its client disconnected,
and no other client notices."""

import os
import resource
import unittest

from case import main, start_ours
from wire import CLOSED, encode

OK = b"+OK\r\n"
OOM = b"-OOM command not allowed when used memory > 'maxmemory'.\r\n"
MIB = 1 << 20
LARGE = 24 * MIB
CHUNK = 16 << 10  # of the heap: a large value has whole ones
# glibc reserves 64 MiB of addresses for each thread; allocations that fit there need no more.
os.environ["MALLOC_ARENA_MAX"] = "1"


class Memory(unittest.TestCase):
    def setUp(self):
        self.peer = start_ours("--memory", "128MiB")
        self.addCleanup(self.peer.end)
        self.wire = self.peer.connect()
        self.addCleanup(self.wire.close)
        self.other = self.peer.connect()
        self.addCleanup(self.other.close)

    def allow(self, more):
        """Limits the address space to this many bytes beyond the server's present use; None: no
        limit."""
        # By its reply, a connection has released the memory of the request before.
        self.assertEqual(self.wire.request("PING"), b"+PONG\r\n")
        limit = resource.RLIM_INFINITY if more is None else self.peer.address_space() + more
        resource.prlimit(self.peer.pid, resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))

    def check_others(self, *keys):
        """Another client reads and writes, these keys too: their locks are free."""
        self.assertEqual(self.other.request("SET", "small", "v"), OK)
        self.assertEqual(self.other.request("GET", "small"), b"$1\r\nv\r\n")
        for key in keys:
            self.assertIn(self.other.request("APPEND", key, "x")[:1], (b":", b"-"), key)
            self.assertEqual(self.other.request("DEL", key), b":1\r\n", key)
        self.assertTrue(self.peer.alive(), self.peer.said())

    def test_a_reply_that_has_no_room(self):
        self.assertEqual(self.wire.request("SET", "large", b"x" * LARGE), OK)
        self.allow(LARGE // 2)
        for request in (("GET", "large"), ("GETRANGE", "large", "0", "-1"), ("MGET", "large", "a"),
                        ("GETEX", "large")):
            self.assertEqual(self.wire.request(*request), OOM, request)
            self.assertEqual(self.wire.request("STRLEN", "large"), b":%d\r\n" % LARGE)
        self.check_others("large")

    def test_a_value_that_cannot_be_built(self):
        self.assertEqual(self.wire.request("SET", "large", b"x" * LARGE), OK)
        self.allow(LARGE // 2)
        # A value that outgrows its block is built again.
        for request in (("APPEND", "large", "y" * CHUNK),
                        ("SETRANGE", "large", str(LARGE + CHUNK), "y"),
                        ("SETRANGE", "new", str(LARGE), "y"), ("SETBIT", "new", str(8 * LARGE), "1"),
                        ("BITOP", "NOT", "new", "large")):
            self.assertEqual(self.wire.request(*request), OOM, request[:2])
        self.assertEqual(self.wire.request("EXISTS", "new"), b":0\r\n")
        self.assertEqual(self.wire.request("STRLEN", "large"), b":%d\r\n" % LARGE)
        self.allow(None)
        self.assertEqual(self.wire.request("APPEND", "large", "y" * CHUNK),
                         b":%d\r\n" % (LARGE + CHUNK))

    def test_a_part_of_a_value_needs_no_room_for_the_whole(self):
        self.assertEqual(self.wire.request("SET", "large", b"x" * LARGE), OK)
        self.allow(LARGE // 2)
        for request, reply in ((("SETRANGE", "large", "5", "y"), LARGE),
                               (("APPEND", "large", "y"), LARGE + 1),
                               (("SETBIT", "large", str(8 * LARGE - 1), "1"), 0),
                               (("GETBIT", "large", str(8 * LARGE - 1)), 1),
                               (("EXPIRE", "large", "1000"), 1), (("PERSIST", "large"), 1)):
            self.assertEqual(self.wire.request(*request), b":%d\r\n" % reply, request)
        self.assertEqual(self.wire.request("GETRANGE", "large", "4", "6"), b"$3\r\nxyx\r\n")
        self.assertEqual(self.wire.request("GETRANGE", "large", "-2", "-1"), b"$2\r\nyy\r\n")
        self.check_others("large")

    def test_work_that_has_no_room(self):
        for key in ("a", "b"):
            self.assertEqual(self.wire.request("SET", key, key * 8000), OK)
        self.allow(2 * MIB)  # an eighth: a bit for each pair of bytes
        self.assertEqual(self.wire.request("LCS", "a", "b"), OOM)
        self.assertEqual(self.wire.request("LCS", "a", "b", "LEN"), b":0\r\n")
        self.allow(None)
        self.assertEqual(self.wire.request("LCS", "a", "b"), b"$0\r\n\r\n")
        self.check_others("a", "b")

    def test_a_request_that_has_no_room(self):
        self.allow(LARGE // 2)
        self.wire.send(encode(["SET", "large", b"x" * LARGE]))
        self.assertEqual(self.wire.reply(), CLOSED)
        self.check_others()
        with self.peer.connect() as again:
            self.assertEqual(again.request("EXISTS", "large"), b":0\r\n")

    def test_many_words_have_no_room(self):
        self.allow(8 * MIB)
        self.wire.send(encode(["EXISTS", *["k"] * 2_000_000]))
        self.assertEqual(self.wire.reply(), CLOSED)
        self.check_others()

    def test_what_a_request_took_is_given_back(self):
        self.assertEqual(self.wire.request("SETRANGE", "large", str(LARGE), "x"),
                         b":%d\r\n" % (LARGE + 1))
        self.assertEqual(self.wire.request("PING"), b"+PONG\r\n")
        before = self.peer.resident_bytes()
        for _ in range(3):
            self.assertEqual(self.wire.request("SETRANGE", "large", str(LARGE), "y"),
                             b":%d\r\n" % (LARGE + 1))
            self.assertEqual(self.wire.request("SETRANGE", "new", "500000000", "x"), OOM)
            self.assertEqual(len(self.wire.request("GET", "large")), LARGE + 14)
            self.assertEqual(self.wire.request("PING"), b"+PONG\r\n")
        # Each of them needs it once or more; none keeps it.
        self.assertLess(self.peer.resident_bytes() - before, LARGE // 2)

    def test_clients_come_and_go(self):
        self.allow(4 * MIB)
        for _ in range(300):
            wires = [self.peer.connect() for _ in range(5)]
            for wire in wires:
                wire.send(encode(["ECHO", b"x" * 200_000]))
            for wire in wires:
                self.assertIn(wire.reply()[:7], (b"$200000", OOM[:7], CLOSED[:7]))
                wire.close()
        self.check_others()


if __name__ == "__main__":
    main()

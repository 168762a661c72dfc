"""A full store refuses writes as Redis does, leaves nothing half done, and still serves reads."""

import unittest

from case import main, redis_plays_both, start_ours, start_theirs

OK = b"+OK\r\n"
OOM = b"-OOM command not allowed when used memory > 'maxmemory'.\r\n"
MIB = 1 << 20
MEMORY = 64 * MIB  # memory of ours, as all these tests start it


def value_of(number):
    return (b"%08d" % number) * (MIB // 8)


class Full:
    def setUp(self):
        self.peer = self.start()
        self.addCleanup(self.peer.end)
        self.wire = self.peer.connect()
        self.addCleanup(self.wire.close)

    def fill(self):
        """How many values of 1 MiB there was room for."""
        for number in range(MEMORY // MIB + 1):
            reply = self.wire.request("SET", f"key:{number}", value_of(number))
            if reply != OK:
                self.assertEqual(reply, OOM)
                return number
        self.fail("more values than memory")

    def check_kept(self, numbers):
        for number in numbers:
            self.assertEqual(self.wire.request("GET", f"key:{number}"),
                             b"$%d\r\n%b\r\n" % (MIB, value_of(number)))

    def test_reads_go_on(self):
        count = self.fill()
        self.assertGreater(count, 30)
        self.assertEqual(self.wire.request("DBSIZE"), b":%d\r\n" % count)
        self.assertEqual(self.wire.request("EXISTS", f"key:{count}"), b":0\r\n")
        self.check_kept(range(count))
        self.assertEqual(self.wire.request("PING"), b"+PONG\r\n")
        self.assertTrue(self.peer.alive())

    def test_what_is_deleted_makes_room(self):
        for _ in range(5):
            count = self.fill()
            self.assertGreater(count, 30)
            self.assertEqual(self.wire.request("DEL", *(f"key:{i}" for i in range(0, count, 2))),
                             b":%d\r\n" % ((count + 1) // 2))
            for number in range(0, count // 2, 2):
                self.assertEqual(self.wire.request("SET", f"key:{number}", value_of(number)), OK)
            self.check_kept(range(1, count, 2))
            self.assertEqual(self.wire.request("FLUSHALL"), OK)


class Ours(Full, unittest.TestCase):
    @staticmethod
    def start():
        return start_ours(*(("--maxmemory", str(MEMORY)) if redis_plays_both() else ()))

    def test_a_refused_write_changes_nothing(self):
        # Redis checks its memory before a command, so that the last one may exceed it.
        if redis_plays_both():
            self.skipTest("of keywayd only")
        count = self.fill()
        for request in (("SET", "key:0", "x" * (2 * MIB)), ("APPEND", "key:1", "x" * MIB),
                        ("SETRANGE", "key:2", str(2 * MIB), "x"),
                        ("SETEX", "new", "100", "x" * MIB), ("SETRANGE", "new", str(2 * MIB), "x"),
                        ("GETSET", "key:3", "x" * (2 * MIB)),
                        ("MSET", "new", "x", "key:4", "x" * (2 * MIB)), ("SETNX", "new", "x" * MIB),
                        ("MSETNX", "new", "x", "newer", "x" * MIB),
                        ("SETBIT", "new", str(16 * MIB), "1"), ("BITOP", "NOT", "new", "key:5"),
                        ("SET", "key:6", "x" * (2 * MIB), "GET")):
            with self.subTest(request=request[:2]):
                self.assertEqual(self.wire.request(*request), OOM)
        self.assertEqual(self.wire.request("EXISTS", "new", "newer"), b":0\r\n")
        self.check_kept(range(count))


class Redis(Full, unittest.TestCase):
    """Shows that what is asked of ours is fair."""

    @staticmethod
    def start():
        return start_theirs("--maxmemory", str(MEMORY))


if __name__ == "__main__":
    main()

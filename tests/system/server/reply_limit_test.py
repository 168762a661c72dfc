"""How much memory one reply may take while it is made: the limits of a client's output, and of all
clients', hold for MGET, EXEC, KEYS and single values alike."""

import pathlib
import re
import unittest

from case import main, redis_plays_both, start_ours, start_theirs
from wire import CLOSED, encode

KIB, MIB = 1 << 10, 1 << 20
LIMIT = 16 * MIB
COUNT = 600  # times a value of a MiB
OK = b"+OK\r\n"


class ReplyLimit(unittest.TestCase):
    def start(self, start, *options):
        self.peer = start(*options)
        self.addCleanup(self.peer.end)
        self.other = self.connect()
        self.assertEqual(self.other.request("SETRANGE", "k", MIB - 1, "x"), b":%d\r\n" % MIB)
        self.assertEqual(len(self.other.request("GET", "k")), MIB + len(b"$1048576\r\n\r\n"))

    def connect(self):
        wire = self.peer.connect()
        self.addCleanup(wire.close)
        return wire

    def both(self):
        for start, limit in ((start_ours, f"{LIMIT}"), (start_theirs, f"normal {LIMIT} 0 0")):
            if start is start_ours and redis_plays_both():
                continue  # another form of the option
            self.start(start, "--client-output-buffer-limit", limit)
            yield

    def peak_bytes(self):
        """The most that the server has had resident."""
        status = pathlib.Path(f"/proc/{self.peer.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s*([0-9]+) kB", status)[1]) * KIB

    def check_cut_off(self, *requests, most=LIMIT):
        """The last of these requests gets no whole reply, and takes about the limit in memory."""
        before = self.peak_bytes()
        wire = self.connect()
        for request in requests[:-1]:
            self.assertIn(wire.request(*request)[:1], b"+$:")
        wire.send(encode(requests[-1]))
        self.assertLess(len(wire.rest()), most)
        self.assertEqual(self.other.request("SETRANGE", "k", "0", "y"), b":%d\r\n" % MIB)
        self.assertLess(self.peak_bytes() - before, most * 5 // 4)

    def test_mget(self):
        for _ in self.both():
            self.check_cut_off(["MGET", *["k"] * COUNT])

    def test_exec_whose_writes_stay(self):
        for _ in self.both():
            self.check_cut_off(["MULTI"], ["INCR", "before"], *[["GET", "k"]] * 40, ["INCR", "after"],
                               ["EXEC"])
            self.assertEqual(self.other.request("MGET", "before", "after"),
                             b"*2\r\n$1\r\n1\r\n$1\r\n1\r\n")

    def test_keys(self):
        for _ in self.both():
            name = "n" * 60 * KIB
            for number in range(500):
                self.assertEqual(self.other.request("SET", f"{number}{name}", ""), OK)
            self.check_cut_off(["KEYS", "*"])

    def test_a_value(self):
        for _ in self.both():
            self.assertEqual(self.other.request("SETRANGE", "large", LIMIT, "x")[:1], b":")
            self.check_cut_off(["GET", "large"])

    def test_what_all_may_have(self):
        if redis_plays_both():
            self.skipTest("an option of keywayd")
        self.start(start_ours, "--client-output-memory", f"{LIMIT}")
        self.check_cut_off(["MGET", *["k"] * COUNT])
        wire = self.connect()  # a client has as much as there is
        self.assertEqual(wire.request("MGET", *["k"] * 15).count(b"$1048576\r\n"), 15)
        self.assertEqual(self.other.request("MGET", *["k"] * 15).count(b"$1048576\r\n"), 15)

    def test_short_replies_have_room_whatever_others_keep(self):
        if redis_plays_both():
            self.skipTest("an option of keywayd")
        self.start(start_ours, "--client-output-memory", "1MiB")
        self.assertEqual(self.other.request("SET", "short", "v" * 200 * KIB), OK)
        wire = self.connect()
        wire.send_aside([encode(["GET", "short"]) * COUNT])
        greedy = self.connect()
        greedy.send(encode(["MGET", *["k"] * COUNT]))
        self.assertEqual(greedy.reply()[:20], CLOSED)
        for _ in range(COUNT):
            self.assertEqual(len(wire.reply()), 200 * KIB + len(b"$204800\r\n\r\n"))


if __name__ == "__main__":
    main()

"""Clients with less patience than another's transaction takes: TRYAGAIN, and nothing has
changed."""

import time
import unittest

from case import main, redis_plays_both, start_ours
from wire import DEADLINE_S, decode, encode

PATIENCE = "timeout=1ms"
SLOW = [["LCS", "a", "b", "LEN"]] * 10  # takes a good deal longer


def setUpModule():
    if redis_plays_both():
        raise unittest.SkipTest("of keywayd only")


class Impatience(unittest.TestCase):
    def setUp(self):
        # One stripe: every writer excludes all other clients.
        peer = start_ours("--workers", "2", "--store-options", f"stripes=1&{PATIENCE}")
        self.addCleanup(peer.end)
        self.holder, self.other = (self.enterContext(peer.connect()) for _ in range(2))
        text = "ab" * 2000
        self.assertEqual(self.other.request("MSET", "a", text, "b", text[::-1]), b"+OK\r\n")

    def hold(self):
        """A transaction that has the lock while it computes; its reply comes at its end."""
        for request in (["MULTI"], ["SET", "held", "1"], *SLOW):
            self.assertTrue(self.holder.request(*request).startswith(b"+"))
        self.holder.send(encode(["EXEC"]))

    def until_refused(self, ask):
        """Asks while the lock is held, which it may not be yet, or no longer: then once more.
        Returns the refusal, and how often it was not refused before."""
        granted, until = 0, time.monotonic() + DEADLINE_S
        while time.monotonic() < until:
            self.hold()
            refused = None
            while refused is None and not self.holder.has_come():
                reply = ask()
                if reply.startswith(b"-"):
                    refused = reply
                else:
                    granted += 1
            self.holder.reply()
            if refused is not None:
                return refused, granted
        raise AssertionError("nobody had to wait")

    def timeouts(self):
        told = decode(self.other.request("INFO", "locks"))[1].decode()
        return int(told.partition("lock_timeouts:")[2].split()[0])

    def test_a_command(self):
        before = self.timeouts()
        refused, granted = self.until_refused(lambda: self.other.request("INCR", "count"))
        self.assertRegex(refused, rb"^-TRYAGAIN \S.*\r\n$")
        self.assertEqual(self.other.request("INCR", "count"), b":%d\r\n" % (granted + 1))
        self.assertGreater(self.timeouts(), before)

    def test_a_reader(self):
        refused, _ = self.until_refused(lambda: self.other.request("GET", "held"))
        self.assertRegex(refused, rb"^-TRYAGAIN ")
        self.assertEqual(self.other.request("STRLEN", "a"), b":4000\r\n")

    def test_a_transaction(self):
        def transaction():
            for request in (["MULTI"], ["INCR", "count"], ["INCR", "more"]):
                self.other.request(*request)
            return self.other.request("EXEC")

        refused, granted = self.until_refused(transaction)
        self.assertRegex(refused, rb"^-EXECABORT .*TRYAGAIN ")
        self.assertEqual(transaction(), b"*2\r\n" + b":%d\r\n" % (granted + 1) * 2)


if __name__ == "__main__":
    main()

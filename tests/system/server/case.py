"""What the tests of the server share: the two programs, a running pair of them, the arguments."""

import argparse
import sys
import unittest

from peer import Peer, find_redis, is_redis


class Program:
    """Set once by main()."""
    keywayd = redis = None
    options = None


def redis_plays_both():
    return is_redis(Program.keywayd)


def start_ours(*options, own=()):
    """`own`: options that Redis does not have."""
    return Peer(Program.keywayd, *options, *(() if redis_plays_both() else own))


def start_theirs(*options):
    return Peer(Program.redis, *options)


class Case(unittest.TestCase):
    """A pair of servers, started once for the class; both must be alive after each test."""

    OPTIONS = ()

    @classmethod
    def setUpClass(cls):
        cls.ours = start_ours(*cls.OPTIONS)
        cls.addClassCleanup(cls.ours.end)
        cls.theirs = start_theirs(*cls.OPTIONS)
        cls.addClassCleanup(cls.theirs.end)
        cls.pair = (cls.ours, cls.theirs)

    def tearDown(self):
        for peer in self.pair:
            self.assertTrue(peer.alive(), f"{peer.program} has ended:\n{peer.said()}")

    def connect_both(self):
        wires = [peer.connect() for peer in self.pair]
        for wire in wires:
            self.addCleanup(wire.close)
        return wires

    def flush_both(self, *login):
        """An empty store on both sides."""
        for peer in self.pair:
            with peer.connect() as wire:
                for request in (*login, ("FLUSHALL",)):
                    self.assertEqual(wire.request(*request), b"+OK\r\n", peer.program)


def main(**options):
    """Takes --keywayd, and what `options` names; the rest is unittest's. For work on these tests
    --keywayd may name a redis-server, which then plays both parts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--keywayd", required=True)
    for name, more in options.items():
        parser.add_argument(f"--{name}", **more)
    Program.options, rest = parser.parse_known_args()
    Program.keywayd = Program.options.keywayd
    Program.redis = find_redis()
    if Program.redis is None:
        sys.exit("Redis is missing: install the package redis-tools")
    unittest.main(argv=[sys.argv[0], *rest])

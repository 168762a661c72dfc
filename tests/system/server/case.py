"""The common part of the server's tests: the two programs, a running pair of them, the
arguments."""

import argparse
import shutil
import subprocess
import sys
import unittest

from job import HostsJob, Job
from peer import Peer, find_redis, is_redis


class Program:
    """Set once by main()."""
    keywayd = redis = None
    ranks, mpirun = 0, ()  # 0: alone
    hosts = 1
    options = None


def redis_plays_both():
    return is_redis(Program.keywayd)


def start_ours(*options, own=()):
    """`own`: options that Redis does not have."""
    if redis_plays_both():
        return Peer(Program.keywayd, *options)
    if Program.ranks == 0:
        return Peer(Program.keywayd, *options, *own)
    # Few buckets, because a test that empties the store visits each.
    store = "buckets=256&stripes=16&timeout=60s"
    if Program.hosts > 1:
        return HostsJob(Program.keywayd, Program.mpirun, Program.ranks, Program.hosts,
                        "--store-options", store, *options, *own)
    # Two to a pretended host, so that there are near and far ranks.
    return Job(Program.keywayd, Program.mpirun, Program.ranks, "--store-options",
               f"ranks_per_node=2&{store}", *options, *own)


def start_theirs(*options):
    return Peer(Program.redis, *options)


def python_with_redis():
    """Debian's own Python has what python3-redis installs; another may have it too."""
    for python in (sys.executable, "/usr/bin/python3"):
        if shutil.which(python) and subprocess.run(
                [python, "-c", "import redis"], capture_output=True, check=False).returncode == 0:
            return python
    return None


class Case(unittest.TestCase):
    """A pair of servers, started once for the class; both must be alive after each test."""

    OPTIONS = ()
    OWN = ()  # options of keywayd

    @classmethod
    def setUpClass(cls):
        cls.ours = start_ours(*cls.OPTIONS, own=cls.OWN)
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
    """Takes --keywayd, --ranks with --mpirun for a job of it, and what `options` names; with --hosts,
    under netns_mpirun.sh --client, --mpirun has options for its mpirun. The rest is unittest's.
    For work on these tests --keywayd may name a redis-server, which then plays both parts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--keywayd", required=True)
    parser.add_argument("--ranks", type=int, default=0)
    parser.add_argument("--hosts", type=int, default=1)
    parser.add_argument("--mpirun", nargs=argparse.REMAINDER, default=())
    for name, more in options.items():
        parser.add_argument(f"--{name}", **more)
    Program.options, rest = parser.parse_known_args()
    Program.keywayd = Program.options.keywayd
    Program.ranks, Program.mpirun = Program.options.ranks, Program.options.mpirun
    Program.hosts = Program.options.hosts
    Program.redis = find_redis()
    if Program.redis is None:
        sys.exit("Redis is missing: install the package redis-tools")
    unittest.main(argv=[sys.argv[0], *rest])

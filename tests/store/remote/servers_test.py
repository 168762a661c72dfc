"""The store's own tests on servers that are reached in some other way than by a Unix socket."""

import argparse
import pathlib
import subprocess
import sys
import unittest
import urllib.parse

# How servers are started is the business of the tests of the server.
SYSTEM = pathlib.Path(__file__).resolve().parent.parent.parent / "system"
sys.path.insert(0, str(SYSTEM / "server"))
from certificates import authority_of  # noqa: E402
from peer import Peer, free_port  # noqa: E402
from redis_cluster import RedisCluster  # noqa: E402

TESTS_S = 300


class Program:
    """Set once by main()."""
    tests = keywayd = None


class Case(unittest.TestCase):
    def passes(self, uri, *selection):
        done = subprocess.run([Program.tests, uri, *selection], capture_output=True, text=True,
                              errors="replace", timeout=TESTS_S)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("All tests passed", done.stdout)  # some have run


class OverTls(Case):
    def test_the_stores_tests(self):
        authority, port = authority_of(self), free_port()
        peer = Peer(Program.keywayd, *authority.server_options(port))
        self.addCleanup(peer.end)
        trusted = urllib.parse.quote(authority.file)
        self.passes(f"rediss://127.0.0.1:{port}?tls_ca={trusted}", "~[memory]", "~[cluster]")


class InRedisCluster(Case):
    def setUp(self):
        self.cluster = RedisCluster()
        self.addCleanup(self.cluster.end)

    def test_what_concerns_one_key(self):
        self.passes(self.cluster.uri, "~[memory]", "~[cluster]", "~several keys*", "~remote model*")

    def test_what_concerns_several(self):
        self.passes(self.cluster.uri, "[cluster]")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tests", required=True)
    parser.add_argument("--keywayd", required=True)
    known, rest = parser.parse_known_args()
    Program.tests, Program.keywayd = known.tests, known.keywayd
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()

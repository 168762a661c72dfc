"""The common part of kvctl's tests: the programs, servers to talk to, one call of a program."""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "server"))

from peer import Peer, find_redis  # noqa: E402  (found by the path above)

PATIENCE_S = 120


class Program:
    """Set once by main()."""
    kvctl = keywayd = redis = None


def environment(**more):
    """Without variables of a person's own environment that affect the programs."""
    ours = {name: value for name, value in os.environ.items()
            if not name.startswith(("KVCTL_", "REDISCLI_", "KEYWAYD_"))}
    return {**ours, "KVCTL_HISTFILE": "", "TERM": "xterm", "LC_ALL": "C.UTF-8", **more}


class Answer:
    """The output of one call of a program, and its exit code."""

    def __init__(self, done):
        self.out, self.err, self.code = done.stdout, done.stderr, done.returncode

    def __eq__(self, other):
        return (self.out, self.err, self.code) == (other.out, other.err, other.code)

    def __repr__(self):
        return f"code {self.code}, said {self.out}, complained {self.err}"


def call(*words, stdin=b"", **more):
    return Answer(subprocess.run([word if isinstance(word, bytes) else str(word) for word in words],
                                 input=stdin, capture_output=True, timeout=PATIENCE_S, check=False,
                                 env=environment(**more)))


class Case(unittest.TestCase):
    """Servers of a class, started once: keywayd and Redis."""

    maxDiff = None
    REDIS_OPTIONS = ("--enable-debug-command", "yes")

    @classmethod
    def setUpClass(cls):
        cls.keywayd = cls.start(Program.keywayd)
        cls.redis = cls.start(Program.redis, *cls.REDIS_OPTIONS)
        cls.servers = (cls.keywayd, cls.redis)

    @classmethod
    def start(cls, program, *options):
        peer = Peer(program, *options)
        cls.addClassCleanup(peer.end)
        return peer

    def setUp(self):
        for peer in self.servers:
            with peer.connect() as wire:
                self.assertEqual(wire.request("FLUSHALL"), b"+OK\r\n")

    def folder(self):
        path = tempfile.mkdtemp(prefix="keyway-kvctl-")
        self.addCleanup(shutil.rmtree, path)
        return pathlib.Path(path)

    def kvctl(self, peer, *words, stdin=b"", **more):
        return call(Program.kvctl, "-p", peer.port, *words, stdin=stdin, **more)

    def assert_says(self, answer, out, code=0):
        self.assertEqual((answer.out, answer.code), (out, code), answer)

    def assert_refuses(self, answer, code, *parts):
        """One sentence on stderr, nothing on stdout."""
        self.assertEqual((answer.out, answer.code), (b"", code), answer)
        self.assertRegex(answer.err, rb"\Akvctl: [^\n]+\n\Z")
        for part in parts:
            self.assertIn(part, answer.err)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kvctl", required=True)
    parser.add_argument("--keywayd", required=True)
    arguments, rest = parser.parse_known_args()
    Program.kvctl, Program.keywayd = arguments.kvctl, arguments.keywayd
    Program.redis = find_redis()
    if Program.redis is None or shutil.which("redis-cli") is None:
        sys.exit("Redis is missing: install the package redis-tools")
    unittest.main(argv=[sys.argv[0], *rest])

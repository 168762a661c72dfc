"""The clients that people have: redis-cli, redis-benchmark and Debian's python3-redis find nothing
that differs from Redis."""

import pathlib
import re
import subprocess
import unittest

from case import Case, main, python_with_redis
from wire import encode

PATIENCE_S = 120
REPORT = pathlib.Path(__file__).with_name("python_client.py")


def call(*words, stdin=b""):
    return subprocess.run([str(word) for word in words], input=stdin, capture_output=True,
                          timeout=PATIENCE_S, check=False)


def encode_bulk(value):
    return b"$%d\r\n%d\r\n" % (len(str(value)), value)


class Clients(Case):
    def setUp(self):
        self.flush_both()

    def cli(self, peer, *words, stdin=b""):
        """Its output, errors and exit code, without the port."""
        done = call("redis-cli", "-h", "127.0.0.1", "-p", peer.port, *words, stdin=stdin)
        said, complained = (output.replace(str(peer.port).encode(), b"PORT")
                            for output in (done.stdout, done.stderr))
        return said, complained, done.returncode

    def compare_cli(self, *words, stdin=b""):
        ours, theirs = (self.cli(peer, *words, stdin=stdin) for peer in self.pair)
        self.assertEqual(ours, theirs, words)
        return ours

    def test_cli_one_by_one(self):
        for words in (
                ("ping",), ("set", "a", "1"), ("get", "a"), ("incr", "a"), ("get", "nothing"),
                ("--no-raw", "get", "nothing"), ("--no-raw", "mget", "a", "nothing", "a"),
                ("--no-raw", "incr", "a"), ("--no-raw", "keys", "*"), ("-r", "3", "incr", "a"),
                ("--csv", "mget", "a", "nothing"), ("-3", "--json", "mget", "a", "nothing"),
                ("-3", "--no-raw", "get", "nothing"), ("-2", "get", "a"), ("nosuch", "a"),
                ("-e", "nosuch", "a"), ("-e", "get"), ("-e", "incr", "a"), ("append", "a", "x y"),
                ("--no-raw", "get", "a"), ("mset", "k1", "1", "k2", "2"), ("del", "k1", "k2", "k3"),
                ("expire", "a", "10000"), ("persist", "a"), ("type", "a"), ("dbsize",),
                ("--quoted-input", "set", r'"\x00\xff"', r'"\r\n"'), ("--no-raw", "keys", "[^a]*"),
                ("-a", "word", "ping"), ("--no-auth-warning", "-a", "word", "--user", "x", "ping"),
                ("-d", ";", "mget", "a", "nothing"), ("echo", "ü ☃"),
                ("--no-raw", "echo", "ü ☃")):
            with self.subTest(words=words):
                self.compare_cli(*words)

    def test_cli_reads_from_stdin(self):
        value = bytes(range(256)) * 100
        self.compare_cli("-x", "set", "binary", stdin=value)
        said, _, code = self.compare_cli("get", "binary")
        self.assertEqual((said, code), (value + b"\n", 0))
        self.compare_cli("-X", "here", "append", "binary", "here", stdin=b"\0more")
        self.compare_cli(stdin=b'set "a b" "c\\r\\n"\nget "a b"\nnosuch\n\nmget x "a b"\n')

    def test_cli_scan(self):
        for peer in self.pair:
            with peer.connect() as wire:
                wire.request("MSET", *(word for i in range(2000) for word in (f"k:{i}", "v")))
        for words in (("--scan",), ("--scan", "--pattern", "k:1?9")):
            ours, theirs = (self.cli(peer, *words) for peer in self.pair)
            self.assertEqual(sorted(set(ours[0].split())), sorted(set(theirs[0].split())))
            self.assertEqual(ours[1:], theirs[1:])
            self.assertIn(b"k:129", ours[0].split())

    def test_cli_pipe(self):
        good = b"".join(encode(["SET", f"key:{i}", f"value {i}"]) for i in range(20000))
        said, _, _ = self.compare_cli("--pipe", stdin=good)
        self.assertIn(b"errors: 0, replies: 20000", said)
        self.assertEqual(self.compare_cli("dbsize")[0], b"20000\n")
        self.assertEqual(self.compare_cli("get", "key:19999")[0], b"value 19999\n")
        bad = encode(["SET", "text", "abc"]) + encode(["INCR", "text"]) * 50 + b"SET inline 1\r\n"
        said, _, _ = self.compare_cli("--pipe", stdin=bad)
        self.assertIn(b"errors: 50, replies: 52", said)

    def benchmark(self, peer, *words):
        """The tests that it reports."""
        done = call("redis-benchmark", "-h", "127.0.0.1", "-p", peer.port, "-q", *words)
        said = done.stdout.decode()
        self.assertEqual(done.returncode, 0, f"{peer.program} {words}: {said}{done.stderr}")
        self.assertNotRegex(said + done.stderr.decode(), r"(?i)error", words)
        return re.findall(r"(?m)^(?:.*\r)?\s*([A-Z_]+(?: \(\d+ keys\))?): [\d.]+ requests", said)

    def test_benchmark(self):
        tests = "ping_inline,ping_mbulk,set,get,incr,mset"
        for count, *words in ((3200, "-c", "10"), (6400, "-c", "50", "-P", "16"),
                              (6400, "-c", "5", "-P", "64", "-3"),
                              (6400, "-c", "8", "--threads", "2", "-P", "8"),
                              (200, "-c", "4", "-k", "0")):  # a connection for each request
            for peer in self.pair:
                with self.subTest(words=words, program=peer.program):
                    self.flush_both()
                    named = self.benchmark(peer, "-t", tests, "-n", count, "-d", "100", *words)
                    self.assertEqual(named, ["PING_INLINE", "PING_MBULK", "SET", "GET", "INCR",
                                             "MSET (10 keys)"])
                    with peer.connect() as wire:
                        self.assertEqual(wire.request("GET", "counter:__rand_int__"),
                                         encode_bulk(count))
                        self.assertEqual(wire.request("STRLEN", "key:__rand_int__"), b":100\r\n")

    def test_benchmark_over_many_keys(self):
        for peer in self.pair:
            self.benchmark(peer, "-t", "set,get,incr", "-n", "20000", "-c", "20", "-P", "10",
                           "-r", "100")
            with peer.connect() as wire:
                # All of the 100 keys and the 100 counters: 20000 draws leave none out.
                self.assertEqual(wire.request("DBSIZE"), b":200\r\n")

    def test_python(self):
        python = python_with_redis()
        if python is None:
            raise unittest.SkipTest("no Python has the package python3-redis")
        ours, theirs = (call(python, "-B", REPORT, peer.port) for peer in self.pair)
        for done, peer in zip((ours, theirs), self.pair):
            self.assertEqual((done.returncode, done.stderr), (0, b""), peer.program)
        self.assertEqual(ours.stdout.splitlines(), theirs.stdout.splitlines())
        self.assertGreater(len(ours.stdout.splitlines()), 40)


if __name__ == "__main__":
    main()

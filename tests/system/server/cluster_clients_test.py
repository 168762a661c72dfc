"""Clients of Redis Cluster, and clients that know of one server only, against several ranks."""

import pathlib
import re
import unittest

from case import Program, main, start_ours
from clients_test import call, python_with_redis
from wire import decode

REPORT = pathlib.Path(__file__).with_name("python_cluster.py")
KEYS = [f"key:{i}" for i in range(300)]


class Clients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.job = start_ours()
        cls.addClassCleanup(cls.job.end)

    def setUp(self):
        self.assertEqual(self.ask(0, "FLUSHALL"), b"+OK\r\n")

    def ask(self, rank, *request):
        with self.job.connect(rank) as wire:
            return wire.request(*request)

    def cli(self, rank, *words, stdin=b""):
        login = ("-a", self.job.password, "--no-auth-warning") if self.job.password else ()
        done = call("redis-cli", "-h", self.job.host(rank), "-p", self.job.port + rank, *login,
                    *words, stdin=stdin)
        self.assertEqual((done.returncode, done.stderr), (0, b""), words)
        return done.stdout.decode()

    def test_cli_goes_nowhere_else(self):
        # One that follows redirections has none to follow, and says so of each.
        lines = "".join(f"set {key} {i}\n" for i, key in enumerate(KEYS))
        for rank, mode in ((0, ()), (Program.ranks - 1, ("-c",))):
            self.assertEqual(self.cli(rank, *mode, stdin=lines.encode()), "OK\n" * len(KEYS))
        lines = "".join(f"get {key}\n" for key in KEYS)
        said = self.cli(1, "-c", stdin=lines.encode())
        self.assertEqual(said.split(), [str(i) for i in range(len(KEYS))])
        self.assertEqual(self.cli(1, "-c", "mget", *KEYS).split(), said.split())
        self.assertEqual(self.cli(2, "-c", "dbsize"), f"{len(KEYS)}\n")

    def test_cli_checks_the_cluster(self):
        self.ask(0, "MSET", *(word for key in KEYS for word in (key, "v")))
        said = self.cli(0, "--cluster", "check", f"{self.job.host(0)}:{self.job.port}")
        self.assertIn("[OK] All nodes agree about slots configuration.", said)
        self.assertIn("[OK] All 16384 slots covered.", said)
        said = self.cli(0, "--cluster", "info", f"{self.job.host(1)}:{self.job.port + 1}")
        self.assertIn(f"[OK] {len(KEYS)} keys in {Program.ranks} masters.", said)

    def benchmark(self, *words):
        login = ("-a", self.job.password) if self.job.password else ()
        done = call("redis-benchmark", "-h", self.job.host(0), "-p", self.job.port, "-q", *login,
                    *words)
        said = done.stdout.decode()
        self.assertEqual(done.returncode, 0, f"{words}: {said}{done.stderr}")
        self.assertNotRegex(said + done.stderr.decode(), r"(?i)error|moved", words)
        return re.findall(r"(?m)^(?:.*\r)?\s*([A-Z_]+(?: \(\d+ keys\))?): [\d.]+ requests", said)

    def test_benchmark_of_a_cluster(self):
        for words in (("-c", "10"), ("-c", "16", "-P", "8"), ("-c", "8", "--threads", "2")):
            with self.subTest(words=words):
                named = self.benchmark("--cluster", "-t", "set,get,incr,mset", "-n", "2000", "-r",
                                       "1000", "-d", "100", *words)
                self.assertEqual(named, ["SET", "GET", "INCR", "MSET (10 keys)"])
        self.assertGreater(int(decode(self.ask(0, "DBSIZE"))[1]), 1000)

    def test_benchmark_of_one_rank(self):
        named = self.benchmark("-t", "set,get,mset", "-n", "2000", "-r", "1000", "-c", "20", "-P",
                               "4")
        self.assertEqual(named, ["SET", "GET", "MSET (10 keys)"])

    def test_python(self):
        python = python_with_redis()
        if python is None:
            raise unittest.SkipTest("no Python has the package python3-redis")
        done = call(python, "-B", REPORT, *map(self.job.uri, range(Program.ranks)))
        self.assertEqual((done.returncode, done.stderr), (0, b""), done.stdout)
        self.assertEqual(done.stdout.decode().split("\n")[-2], "all as it should be")


if __name__ == "__main__":
    main()

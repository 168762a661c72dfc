"""A job as its clients and its operators see it: hiredis, our client library and kvload on any
rank, the figures of each rank, and its shutdown."""

import json
import subprocess
import unittest
import urllib.request

from case import Program, main, start_ours
from job import Job
from peer import ATTEMPTS, free_port
from wire import CLOSED, decode

PATIENCE_S = 120
KEYS = 40


def setUpModule():
    """One job for all. Its ports and those of its metrics may meet: then others are taken."""
    for left in reversed(range(ATTEMPTS)):
        Several.metrics = free_port(Program.ranks)
        try:
            Several.job = start_ours("--lock-policy", "auto", "--metrics-port",
                                     str(Several.metrics), "--slowlog-log-slower-than", "0")
            break
        except AssertionError as refused:
            if left == 0 or "port in use" not in str(refused):
                raise
    unittest.addModuleCleanup(Several.job.end)
    Several.uri = f"redis://127.0.0.1:{Several.job.port}"


class Several(unittest.TestCase):
    def setUp(self):
        self.assertEqual(self.ask(0, "FLUSHALL"), b"+OK\r\n")

    def tearDown(self):
        self.assertTrue(self.job.alive(), self.job.said())

    def ask(self, rank, *request):
        with self.job.connect(rank) as wire:
            return wire.request(*request)

    def call(self, *words):
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False,
                              timeout=PATIENCE_S)
        self.assertEqual(done.returncode, 0, f"{words}: {done.stdout}{done.stderr}")
        return done.stdout

    def fill(self):
        """Returns how many of the keys each rank owns."""
        for i in range(KEYS):
            self.assertEqual(self.ask(i % Program.ranks, "SET", f"key:{i}", "v"), b"+OK\r\n")
        return [self.keys_of(rank) for rank in range(Program.ranks)]

    def keys_of(self, rank):
        told = decode(self.ask(rank, "INFO", "keyspace"))[1].decode()
        return int(told.partition("keys=")[2].partition(",")[0] or 0)


class Clients(Several):
    def test_hiredis(self):
        self.call(Program.options.hiredis, "127.0.0.1", self.job.port, Program.ranks)

    def test_the_stores_own_tests(self):
        for some in ("several keys*", "store*"):
            said = self.call(Program.options.tests, self.uri, some, "~[memory]")
            self.assertIn("All tests passed", said)

    def test_kvload(self):
        for words in (("load",), ("run",), ("run", "--batch", 16)):
            said = self.call(Program.options.kvload, *words, "--workload", "a", "--store", self.uri,
                             "-threads", 3, "-p", "recordcount=200", "-p", "operationcount=600")
            self.assertNotIn("-FAILED", said)


class Told(Several):
    def test_the_store_is_whole_and_a_keyspace_the_ranks_own(self):
        owned = self.fill()
        self.assertEqual(sum(owned), KEYS)
        self.assertNotIn(KEYS, owned)
        for rank in range(Program.ranks):
            self.assertEqual(self.ask(rank, "DBSIZE"), b":%d\r\n" % KEYS)

    def test_kvctl_counts_each_key_once(self):
        owned = self.fill()
        rows = json.loads(self.call(Program.options.kvctl, "-p", self.job.port + 1, "--json",
                                    "cluster"))
        self.assertEqual([row["keys"] for row in rows], owned)
        self.assertEqual({row["state"] for row in rows}, {"online"})

    def test_kvctl_shows_the_locks_of_all_ranks(self):
        for _ in range(20):
            self.fill()
        rows = json.loads(self.call(Program.options.kvctl, "-p", self.job.port, "--json", "locks",
                                    "1000"))
        self.assertEqual({row["rank"] for row in rows}, set(range(Program.ranks)))

    def test_metrics_of_each_rank_are_on_a_port_of_its_own(self):
        for rank in range(Program.ranks):
            for _ in range(rank + 1):
                self.ask(rank, "STRLEN", "k")
            with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics + rank}/metrics",
                                        timeout=PATIENCE_S) as reply:
                self.assertIn(f'keyway_commands_total{{command="strlen"}} {rank + 1}\n',
                              reply.read().decode())

    def test_each_rank_tells_of_its_own_requests(self):
        ranks = range(Program.ranks)
        for rank in ranks:
            self.ask(rank, "CONFIG", "RESETSTAT")
            self.ask(rank, "SLOWLOG", "RESET")
            self.ask(rank, "SET", f"of:{rank}", "v")
        for rank in ranks:
            slow = self.ask(rank, "SLOWLOG", "GET", "-1")
            self.assertEqual([other for other in ranks if b"of:%d" % other in slow], [rank])
            timed = decode(self.ask(rank, "LATENCY", "HISTOGRAM", "set"))[1]
            self.assertEqual(timed[1][1][1], (":", b"1"))
            self.assertNotIn("e", self.ask(rank, "KW.HOTSTRIPES")[:1].decode())
            of_rank = decode(self.ask(rank, "KW.STRIPES"))[1]
            self.assertEqual({row[1][1] for _, row in of_rank} - {b"%d" % rank}, set())


class Shutdown(unittest.TestCase):
    def test_one_rank_ends_all(self):
        job = start_ours()
        self.addCleanup(job.end)
        wires = [job.connect(rank) for rank in range(job.ranks)]
        for wire in wires:
            self.addCleanup(wire.close)
            self.assertEqual(wire.request("PING"), b"+PONG\r\n")
        wires[1].send(b"SHUTDOWN\r\n")
        for wire in wires:
            self.assertEqual(wire.reply(), CLOSED)
        self.assertEqual(job.exit_code(), 0, job.said())
        self.assertTrue(job.all_have_ended())

    def test_a_metrics_port_beyond_the_last_is_refused(self):
        with self.assertRaisesRegex(AssertionError, r"--metrics-port 65534 is too high: rank 2"):
            Job(Program.keywayd, Program.mpirun, Program.ranks, "--metrics-port", "65534").end()


if __name__ == "__main__":
    main(hiredis={"required": True, "help": "hiredis_program, built"},
         tests={"required": True, "help": "store_remote_tests, built"},
         kvload={"required": True}, kvctl={"required": True})

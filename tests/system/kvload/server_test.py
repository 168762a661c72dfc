"""kvload puts YCSB's workloads on servers, keywayd and Debian's redis-server, over sockets."""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import sys
import time
import unittest
import urllib.parse

from case import Case, Program, kvload
from plain_peer import PlainPeer
from report import operations, phases

# How servers are started is the business of the tests of the server.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "server"))
from certificates import authority_of  # noqa: E402
from peer import Peer, find_redis, free_port  # noqa: E402
from redis_cluster import RedisCluster  # noqa: E402
from wire import DEADLINE_S  # noqa: E402

OPERATIONS = 3000
COUNT = 200_000  # seconds of work
EXIT_USAGE, EXIT_UNREACHABLE = 2, 3


class OnServers(Case):
    def on(self, letter, command, store, *more):
        return kvload(command, "-P", f"{Program.workloads}/workload{letter}", "-threads", 3,
                      "--store", store, "-p", f"operationcount={OPERATIONS}", *more)

    def run_on(self, letter, store, *more):
        """The operations of the run by kind, as in its report; all successful."""
        done = self.on(letter, "run", store, *more)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        _, run = phases(done.stdout)[-1]
        counts = operations(run)
        for metric, count in counts.items():
            self.assertEqual(run[metric]["Return=OK"], count)
        return counts


class Server(OnServers):
    program = None

    def setUp(self):
        self.peer = Peer(self.program, *self.options())
        self.addCleanup(self.peer.end)
        self.uri = f"redis://127.0.0.1:{self.peer.port}"

    def options(self):
        return ()


class Workloads:
    WRITES = {"a": ("UPDATE", 0.5), "b": ("UPDATE", 0.05), "c": ("UPDATE", 0),
              "d": ("INSERT", 0.05), "f": ("READ-MODIFY-WRITE", 0.5)}

    def test_workloads_and_every_value(self):
        for letter, (write, share) in self.WRITES.items():
            with self.subTest(workload=letter):
                loaded = self.on(letter, "load", self.uri, "-p", "dataintegrity=true")
                self.assertEqual(loaded.returncode, 0, loaded.stderr + loaded.stdout)
                counts = self.run_on(letter, self.uri, "-p", "dataintegrity=true")
                self.near(counts.get(write, 0), OPERATIONS, share)
                self.assertEqual(counts["VERIFY"], counts["READ"])
                if letter != "f":
                    self.assertEqual(counts["READ"] + counts.get(write, 0), OPERATIONS)

    def test_whole_records_parts_of_them_and_batches(self):
        self.assertEqual(self.on("b", "load", self.uri).returncode, 0)
        for more in (("-p", "readallfields=false"), ("-p", "writeallfields=true"), ("--batch", 32)):
            with self.subTest(more=more):
                self.run_on("b", self.uri, *more)

    def test_a_run_on_a_server_that_was_not_loaded_says_so(self):
        done = self.on("a", "run", self.uri)
        self.assertEqual(done.returncode, 1)
        self.assertIn("Return=NOT_FOUND", done.stdout)

    def test_scans_are_refused(self):
        done = self.on("e", "run", self.uri)
        self.assertEqual(done.returncode, EXIT_USAGE)
        self.assertIn("SCAN goes by cursors", done.stderr)


class OnRedis(Workloads, Server):
    pass


class OnKeyway(Workloads, Server):
    def test_options_that_are_the_servers(self):
        for option in (("--memory", "64MiB"), ("--lock-policy", "auto"), ("--path", "owner"),
                       ("--locality", "0.5")):
            done = self.on("a", "run", self.uri, *option)
            self.assertEqual(done.returncode, EXIT_USAGE)
            self.assertIn("give the first three to the server", done.stderr)


class Passwords(Server):
    def options(self):
        return ("--requirepass", "open sesame")

    def test_a_password_is_given_by_the_uri_or_the_environment_and_never_shown(self):
        self.assertEqual(self.on("c", "load", self.uri).returncode, EXIT_USAGE)
        wrong = self.on("c", "load", self.uri.replace("//", "//:ali%20baba@"))
        self.assertEqual(wrong.returncode, EXIT_USAGE)
        self.assertIn("refused the password", wrong.stderr)
        right = self.uri.replace("//", "//:open%20sesame@")
        done = self.on("c", "load", right, "--json", "out.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("sesame", done.stdout + done.stderr + pathlib.Path("out.json").read_text())
        self.assertEqual(json.loads(pathlib.Path("out.json").read_text())["configuration"]["store"],
                         self.uri.replace("//", "//***@"))
        os.environ["KVLOAD_PASSWORD"] = "open sesame"
        self.addCleanup(os.environ.pop, "KVLOAD_PASSWORD")
        self.run_on("c", self.uri)


class OverTls(Server):
    def options(self):
        self.authority, self.tls_port = authority_of(self), free_port()
        return self.authority.server_options(self.tls_port)

    def test_a_workload(self):
        uri = f"rediss://127.0.0.1:{self.tls_port}"
        unknown = self.on("a", "load", uri)
        self.assertEqual(unknown.returncode, EXIT_USAGE, unknown.stderr)
        self.assertIn("certificate", unknown.stderr)
        uri += "?tls_ca=" + urllib.parse.quote(self.authority.file)
        self.assertEqual(self.on("a", "load", uri).returncode, 0)
        self.assertEqual(sum(self.run_on("a", uri).values()), OPERATIONS)


class InRedisCluster(OnServers):
    def test_a_workload(self):
        cluster = RedisCluster()
        self.addCleanup(cluster.end)
        self.assertEqual(self.on("a", "load", cluster.uri).returncode, 0)
        self.assertEqual(sum(self.run_on("a", cluster.uri).values()), OPERATIONS)
        for node in cluster.nodes:
            with node.connect() as wire:
                self.assertNotEqual(wire.request("DBSIZE"), b":0\r\n")


class ComesBack(Server):
    """Connections that break are made again; what was asked and not answered is in doubt, once."""

    def commands(self):
        with self.peer.connect() as wire:
            return int(re.search(rb"total_commands_processed:(\d+)",
                                 wire.request("INFO", "stats"))[1])

    def wait_for_commands(self, more):
        until, begin = time.monotonic() + DEADLINE_S, self.commands()
        while self.commands() < begin + more:
            self.assertLess(time.monotonic(), until, "kvload asks for nothing")

    def test_a_server_that_is_killed_and_comes_back(self):
        self.assertEqual(self.on("a", "load", self.uri).returncode, 0)
        with concurrent.futures.ThreadPoolExecutor() as aside:
            run = aside.submit(self.on, "a", "run", self.uri, "-p", f"operationcount={COUNT}")
            self.wait_for_commands(5000)
            self.peer.die_and_come_back()
            self.wait_for_commands(5000)
            done = run.result()
        _, report = phases(done.stdout)[-1]
        ends = collections.Counter()
        for name in ("READ", "UPDATE"):
            for end, count in report[name].items():
                if end.startswith("Return="):
                    ends[end] += count
        self.assertEqual(sum(ends.values()), COUNT)
        # The one that came back has nothing of what was loaded, but for fields that were updated.
        others = sum(ends.values()) - sum(
            ends[f"Return={end}"] for end in ("OK", "NOT_FOUND", "UNEXPECTED_STATE"))
        self.assertLessEqual(others, 3, ends)  # for each thread the operation in flight


class OnAPlainPeer(OnServers):
    """Whole records need no more than GET and SET; a field in place needs SETRANGE."""

    def setUp(self):
        self.peer = PlainPeer()
        self.addCleanup(self.peer.end)

    def test_whole_records(self):
        self.assertEqual(self.on("a", "load", self.peer.uri).returncode, 0)
        counts = self.run_on("a", self.peer.uri, "-p", "writeallfields=true")
        self.assertEqual(sum(counts.values()), OPERATIONS)
        self.assertLessEqual(self.peer.asked, {b"PING", b"CLUSTER", b"GET", b"SET"})

    def test_what_the_peer_does_not_know_is_named(self):
        self.assertEqual(self.on("a", "load", self.peer.uri).returncode, 0)
        done = self.on("a", "run", self.peer.uri)
        self.assertEqual(done.returncode, 1)
        self.assertIn("ERR unknown command 'SETRANGE'", done.stderr)
        self.assertIn("Return=UNSUPPORTED", done.stdout)


class Nobody(Case):
    def test_a_server_that_is_not_there(self):
        done = kvload("run", "-P", f"{Program.workloads}/workloada", "--store",
                      f"redis://127.0.0.1:{free_port()}")
        self.assertEqual(done.returncode, EXIT_UNREACHABLE)
        self.assertIn("is the server running there?", done.stderr)

    def test_a_uri_that_makes_no_sense(self):
        done = kvload("run", "-P", f"{Program.workloads}/workloada", "--store", "redis:7400")
        self.assertEqual(done.returncode, EXIT_USAGE)
        self.assertIn("two slashes follow the scheme", done.stderr)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kvload", required=True)
    parser.add_argument("--workloads", required=True)
    parser.add_argument("--keywayd", required=True)
    known, rest = parser.parse_known_args()
    Program.kvload, Program.workloads = known.kvload, known.workloads
    OnRedis.program, OnKeyway.program = find_redis(), known.keywayd
    ComesBack.program = OverTls.program = Passwords.program = known.keywayd
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()

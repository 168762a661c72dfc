"""keywayd as a job of several ranks: how it starts, what it refuses, and how it ends."""

import os
import pathlib
import re
import signal
import socket
import subprocess
import time
import unittest

from case import Program, main
from job import Job, ranks_below
from peer import ATTEMPTS, CLUSTER_PORT, END_S, START_S, Peer, free_port
from started import Started, stop
from wire import CLOSED, DEADLINE_S, Wire, decode, encode

PONG = b"+PONG\r\n"
USAGE, NOT_POSSIBLE = 2, 3


def launched(*words):
    """The command line of a job."""
    return [*Program.mpirun, "-n", str(Program.ranks), *words]


def has_begun(pid):
    """Whether a rank is in MPI_Init, which makes additional threads."""
    return len(os.listdir(f"/proc/{pid}/task")) > 1


class Ending(Started):
    def test_the_launcher_is_told(self):
        if "openmpi" in Program.mpirun[0]:
            self.skipTest("Open MPI's mpirun ends its ranks by force")
        job = self.start()
        wires = [self.connect(job, rank) for rank in range(job.ranks)]
        for wire in wires:
            self.assertEqual(wire.request("PING"), PONG)
        job.terminate()
        for wire in wires:
            self.assertEqual(wire.reply(), CLOSED)
        self.ends_well(job)

    def test_any_rank_is_told(self):
        for rank in (0, Program.ranks - 1):
            with self.subTest(rank=rank):
                job = self.start("--store-options", "ranks_per_node=1")
                wires = [self.connect(job, rank) for rank in range(job.ranks)]
                os.kill(job.pids[rank], signal.SIGTERM)
                for wire in wires:
                    self.assertEqual(wire.reply(), CLOSED)
                self.ends_well(job)

    def test_a_rank_is_told_while_it_starts(self):
        job = subprocess.Popen(
            launched(Program.keywayd, "--memory", "64MiB", "--port", str(free_port(Program.ranks))),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(job.kill)
        until = time.monotonic() + START_S
        told = None
        while told is None:
            self.assertLess(time.monotonic(), until, "no rank has begun")
            told = next(filter(has_begun, ranks_below(job.pid, Program.keywayd).values()), None)
        os.kill(told, signal.SIGTERM)
        said = job.communicate(timeout=START_S + END_S)[0]
        self.assertEqual(job.returncode, 0, said)
        self.assertNotIn("TERMINATION", said)

    def test_what_was_sent_to_any_rank_is_answered(self):
        job = self.start("--store-options", "ranks_per_node=1")
        keys = [f"key:{i}" for i in range(100)]
        wires = [self.connect(job, rank) for rank in range(job.ranks)]
        for wire in wires:
            wire.send(b"".join(encode(["SET", key, "v" * 100]) for key in keys))
        for wire in wires:
            self.assertEqual(wire.reply(), b"+OK\r\n")
        self.assertFalse(any(wire.unarrived() for wire in wires))
        os.kill(job.pids[1], signal.SIGTERM)
        for wire in wires:
            self.assertEqual(wire.rest(), b"+OK\r\n" * (len(keys) - 1))
        self.ends_well(job)

    def test_edits_go_as_path_says(self):
        # Open MPI's messages wait for their receiver, so an edit may return from there.
        for path in ("onesided",) if "openmpi" in Program.mpirun[0] else ("onesided", "owner"):
            with self.subTest(path=path):
                job = self.start("--store-options", "ranks_per_node=1", "--path", path)
                wire = self.connect(job, 0)
                for i in range(40):
                    self.assertEqual(wire.request("SET", f"key:{i}", "v" * 100), b"+OK\r\n")
                said = wire.request("INFO", "fabric").decode()
                made = int(re.search(r"remote_edits_by_owners:(\d+)", said)[1])
                self.assertEqual(made > 0, path == "owner", said)
                os.kill(job.pids[1], signal.SIGTERM)
                self.ends_well(job)

    def test_a_rank_dies(self):
        for options in ((), ("--store-options", "ranks_per_node=1")):
            with self.subTest(options=options):
                job = self.start(*options)
                wire = self.connect(job, 0)
                self.assertEqual(wire.request("PING"), PONG)
                os.kill(job.pids[1], signal.SIGKILL)
                self.assertEqual(wire.reply(), CLOSED)
                self.assertNotEqual(job.exit_code(), 0)
                self.assertRegex(job.said(), rf"keyway: rank 1 \(pid {job.pids[1]} on \S+\) died")
                self.assertTrue(job.all_have_ended())


class Forced(Started):
    def test_a_rank_that_stands_still_does_not_keep_the_job_from_its_end(self):
        """J4, whether requests wait for that rank or none does."""
        for asks in (False, True):
            with self.subTest(asks=asks):
                job = self.start("--store-options", "ranks_per_node=1", "--shutdown-timeout", "0")
                wire, last = self.connect(job, 0), job.ranks - 1
                self.assertEqual(wire.request("PING"), PONG)
                stop(job.pids[last])
                if asks:
                    wire.send(encode(["GET", "a"]))  # slot 15495, of the last rank
                os.kill(job.pids[0], signal.SIGTERM)
                self.assertNotEqual(job.exit_code(), 0, job.said())
                self.assertRegex(job.said(), "keywayd: (requests still run|all requests are answered)")
                self.assertTrue(job.all_have_ended())


class Listening(Started):
    def connect_path(self, path):
        connected = socket.socket(socket.AF_UNIX)
        self.addCleanup(connected.close)
        connected.settimeout(DEADLINE_S)
        connected.connect(str(path))
        return Wire(connected)

    def test_a_unix_socket_for_each_rank(self):
        job = self.start("--unixsocket", "server.sock")
        paths = [job.folder / ("server.sock" + (f".{rank}" if rank else ""))
                 for rank in range(job.ranks)]
        for rank, path in enumerate(paths):
            wire = self.connect_path(path)
            self.assertEqual(wire.request("SET", f"k{rank}", "v"), b"+OK\r\n")
            other = self.connect(job, (rank + 1) % job.ranks)
            self.assertEqual(other.request("GET", f"k{rank}"), b"$1\r\nv\r\n")
        os.kill(job.pids[0], signal.SIGTERM)
        self.ends_well(job)
        self.assertEqual([path for path in paths if path.exists()], [])

    def test_free_ports_are_told(self):
        job = AnyPorts(Program.keywayd, Program.mpirun, Program.ranks, "--announce-host", "::1")
        self.addCleanup(job.end)
        self.assertEqual(len(set(job.ports)), job.ranks)
        with job.connect_port(job.ports[0]) as wire:
            _, told = decode(wire.request("CLUSTER", "SLOTS"))
        nodes = [entry[1][2][1] for entry in told]
        ports = {int(node[1][1]) for node in nodes}
        self.assertEqual(len(ports), job.ranks)
        self.assertTrue(ports.isdisjoint(job.ports))  # they are for clients of the cluster
        self.assertEqual({node[0][1] for node in nodes}, {b"::1"})

    def test_ports_of_the_cluster_are_those_that_were_given(self):
        job = self.start("--cluster-port", CLUSTER_PORT)
        for rank in range(job.ranks):
            with job.connect(rank) as wire:
                _, told = decode(wire.request("CLUSTER", "SLOTS"))
            self.assertEqual([int(entry[1][2][1][1][1]) for entry in told],
                             [job.cluster_port + r for r in range(job.ranks)])

    def test_the_address_that_a_client_came_to_is_told(self):
        job = self.start("--bind", "127.0.0.1,127.0.0.2")
        for address in ("127.0.0.1", "127.0.0.2"):
            with Wire(socket.create_connection((address, job.port), timeout=START_S)) as wire:
                for words in ("SLOTS", "SHARDS", "NODES"):
                    said = wire.request("CLUSTER", words)
                    self.assertIn(address.encode(), said)
                    self.assertEqual(len(set(re.findall(rb"127\.0\.0\.\d", said))), 1, said)


class AnyPorts(Job):
    """With --port 0."""

    def _command(self, options):
        words = super()._command(options)
        words[words.index("--port") + 1] = "0"
        return words

    @property
    def ports(self):
        return [int(port) for port in re.findall(r"ready on 127.0.0.1:(\d+)\n", self.said())]

    def _announced(self):
        return len(self.ports) == self.ranks

    def connect(self, rank=None):
        return self.connect_port(self.ports[rank or 0])

    @staticmethod
    def connect_port(port):
        return Wire(socket.create_connection(("127.0.0.1", port), timeout=START_S))


class Refused(unittest.TestCase):
    """One sentence of ours for the whole job, and its end."""

    def sentence(self, *words):
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=END_S,
                              stdin=subprocess.DEVNULL)
        self.assertNotEqual(done.returncode, 0, words)
        ours = [line for line in done.stderr.splitlines() if line.startswith("keywayd: ")]
        self.assertEqual(len(ours), 1, f"{words}: {done.stderr}")
        self.assertNotIn("ready", done.stdout)
        return ours[0]

    def refused(self, parts, *words):
        sentence = self.sentence(*words)
        for part in parts:
            self.assertIn(part, sentence, words)

    def test_a_port_in_use_on_one_rank(self):
        last = Program.ranks - 1
        for _ in range(ATTEMPTS):
            port = free_port(Program.ranks)
            try:
                taken = socket.create_server(("127.0.0.1", port + last))
            except OSError:
                continue  # another process was faster
            with taken:
                said = self.sentence(*launched(Program.keywayd, "--memory", "64MiB", "--port",
                                               str(port)))
            self.assertIn("in use", said)
            if f"rank {last}: " in said:  # else the port of another rank has been taken, too
                self.assertIn(str(port + last), said)
                return
        self.fail(f"each time another port was in use, too: {said}")

    def test_what_no_rank_takes(self):
        for parts, words in ((["--nosuch"], ["--nosuch"]), (["--workers"], ["--workers", "no"]),
                             (["--port 65535", "rank 1", "65536"], ["--port", "65535"]),
                             (["--fabric"], ["--fabric", "tcp"]),
                             (["--cluster"], ["--cluster", "maybe"]),
                             (["color"], ["--store-options", "color=red"]),
                             (["--unixsocket", "no/such"],
                              ["--unixsocket", "no/such/folder/s", "--port", str(free_port(9))])):
            with self.subTest(words=words):
                self.refused(parts, *launched(Program.keywayd, "--memory", "64MiB", *words))

    def odd_one_out(self, rank, *words):
        """A program that gives `words` to one rank more."""
        path = pathlib.Path("odd.sh").resolve()
        path.write_text("#!/bin/sh\n"
                        f'[ "${{PMI_RANK:-$OMPI_COMM_WORLD_RANK}}" = {rank} ] || exec "$@"\n'
                        f'exec "$@" {" ".join(words)}\n', encoding="utf8")
        path.chmod(0o755)
        self.addCleanup(path.unlink, missing_ok=True)
        return path

    def test_what_one_rank_alone_does_not_take(self):
        for rank, words in ((0, ["--nosuch"]), (1, ["--nosuch"]), (1, ["--workers", "no"])):
            with self.subTest(rank=rank, words=words):
                odd = self.odd_one_out(rank, *words)
                self.refused([words[0]], *launched(str(odd), Program.keywayd, "--memory", "64MiB",
                                                   "--port", str(free_port(Program.ranks))))

    def test_ranks_that_disagree(self):
        odd = self.odd_one_out(1, "--memory", "32MiB")
        self.refused(["disagree", "memory"],
                     *launched(str(odd), Program.keywayd, "--port", str(free_port(Program.ranks))))


class Alone(unittest.TestCase):
    """Without a launcher, or by option, a process is a separate store."""

    def check_alone(self, peer):
        with peer.connect() as wire:
            self.assertRegex(wire.request("CLUSTER", "INFO"), rb"^-ERR .*cluster support disabled")
        threads = os.listdir(f"/proc/{peer.pid}/task")
        self.assertEqual(len(threads), 2, "MPI has been entered: it has threads")

    def test_without_a_launcher(self):
        peer = Peer(Program.keywayd)
        self.addCleanup(peer.end)
        self.check_alone(peer)

    def test_one_rank_is_no_cluster(self):
        job = Job(Program.keywayd, Program.mpirun, 1)
        self.addCleanup(job.end)
        with job.connect() as wire:
            self.assertRegex(wire.request("CLUSTER", "INFO"), rb"^-ERR .*cluster support disabled")
        os.kill(job.pids[0], signal.SIGTERM)
        self.assertEqual(job.exit_code(), 0, job.said())


if __name__ == "__main__":
    main()

"""A rank of keywayd that stands still: what its clients, and those of the others, see."""

import os
import pathlib
import re
import signal
import time

from case import Program, main
from started import Started, stop
from wire import DEADLINE_S, encode

# Of the store.
TIMEOUT_S = 1


def thread_named(name, pid):
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            if (task / "comm").read_text() == f"{name}\n":
                return task
        except OSError:
            pass  # it has ended
    raise AssertionError(f"no thread is named {name}")


class Waiting(Started):
    def test_a_rank_that_stands_still_holds_up_no_other_client(self):
        if "openmpi" in Program.mpirun[0]:
            self.skipTest("a flush of Open MPI keeps its thread: locks/fabric/ORDERING.md")
        job = self.start("--store-options", "ranks_per_node=1")
        near, far = "b", "a"  # owners of slots 3300 and 15495
        last = job.ranks - 1
        asks, writes, others = (self.connect(job, 0) for _ in range(3))
        for wire in (asks, others):
            self.assertEqual(wire.request("MSET", near, "1", far, "2"), b"+OK\r\n")
        stop(job.pids[last])
        try:
            asks.send(encode(["GET", far]))
            writes.send(encode(["SET", far, "v" * 100_000]))  # not sent to the owner
            # For longer than a wait keeps its thread at any time (mpi_interface.h).
            until = time.monotonic() + 0.2
            while time.monotonic() < until:
                self.assertEqual(others.request("GET", near), b"$1\r\n1\r\n")
        finally:
            os.kill(job.pids[last], signal.SIGCONT)
        self.assertIn(len(asks.reply()), (len(b"$1\r\n2\r\n"), len(b"$100000\r\n") + 100_002))
        self.assertEqual(writes.reply(), b"+OK\r\n")

    def test_a_pipeline_does_not_wait_for_each_of_its_requests(self):
        if "openmpi" in Program.mpirun[0]:
            self.skipTest("a flush of Open MPI keeps its thread: locks/fabric/ORDERING.md")
        near, far, farther = "b", "a", "e"  # owners of slots 3300, 15495 and 15363
        for order, overlaps in (("slot", True), ("strict", False)):
            job = self.start("--store-options", "ranks_per_node=1", "--pipeline-order", order)
            last = job.ranks - 1
            wire, other = (self.connect(job, 0) for _ in range(2))
            self.assertEqual(other.request("MSET", near, "1", far, "2", farther, "4"),
                             b"+OK\r\n")
            stop(job.pids[last])
            try:
                wire.send(b"".join(map(encode, (["INCR", far], ["INCR", farther], ["SET", near, "3"],
                                                ["GET", near], ["GET", far]))))
                while True:
                    self.assertFalse(wire.has_come())  # replies keep their order
                    if (value := other.request("GET", near)) == b"$1\r\n3\r\n" or not overlaps:
                        break
                self.assertEqual(value, b"$1\r\n%d\r\n" % (3 if overlaps else 1))
            finally:
                os.kill(job.pids[last], signal.SIGCONT)
            self.assertEqual([wire.reply() for _ in range(5)],
                             [b":3\r\n", b":5\r\n", b"+OK\r\n", b"$1\r\n3\r\n",
                              b"$1\r\n3\r\n"])
            job.end()

    def test_requests_for_a_rank_that_stands_still_end_at_their_deadline(self):
        if "openmpi" in Program.mpirun[0]:
            self.skipTest("a flush of Open MPI knows no deadline: locks/fabric/ORDERING.md")
        job = self.start("--store-options", "ranks_per_node=1&buckets=256&stripes=16&"
                         f"timeout={TIMEOUT_S}s")
        near, far = "b", "a"  # owners of slots 3300 and 15495
        last = job.ranks - 1
        with self.connect(job, 0) as wire:
            self.assertEqual(wire.request("MSET", near, "1", far, "v" * 100), b"+OK\r\n")
        requests = (["GET", far], ["SET", far, "w" * 100], ["SET", far, "v" * 100_000], ["DEL", far],
                    ["INCR", far], ["APPEND", far, "x"], ["EXPIRE", far, "100"], ["TTL", far],
                    ["MGET", near, far, far], ["MSET", near, "1", far, "2"], ["EXISTS", far, near],
                    ["RENAME", far, near], ["GETRANGE", far, "0", "1"], ["KEYS", "*"], ["DBSIZE"])
        wires = [self.connect(job, 0) for _ in requests]
        stop(job.pids[last])
        try:
            for again in (False, True):
                begun = time.monotonic()
                for wire, request in zip(wires, requests):
                    wire.send(encode(request))
                for wire, request in zip(wires, requests):
                    with self.subTest(request=request, again=again):
                        self.assertRegex(wire.reply(), rb"^-(TIMEOUT|INDOUBT|.*in time|.*in doubt)")
                took = time.monotonic() - begun
                self.assertLess(took, 1.5 * TIMEOUT_S)
            with self.connect(job, 0) as wire:
                self.assertEqual(wire.request("GET", near), b"$1\r\n1\r\n")
                said = wire.request("INFO", "fabric").decode()
            self.assertIn(f"fabric_silent_ranks:{last}\r\n", said)
            self.assertRegex(said, rf"fabric_rank{last}:waits=[1-9]\d*,mean_us=\d+\.\d,"
                                   r"unanswered=[1-9]\d*,silent=1\r\n")
        finally:
            os.kill(job.pids[last], signal.SIGCONT)
        for wire in wires:
            self.assertEqual(wire.request("SET", far, "1"), b"+OK\r\n")
            self.assertEqual(wire.request("MGET", near, far), b"*2\r\n$1\r\n1\r\n$1\r\n1\r\n")
        self.assertIn("fabric_silent_ranks:\r\n", wires[0].request("INFO", "fabric").decode())
        os.kill(job.pids[0], signal.SIGTERM)
        self.ends_well(job)
        self.assertRegex(job.said(), rf"rank {last} has not answered for \d+\.\d s")
        self.assertRegex(job.said(), rf"rank {last} answers again, after \d+\.\d s")

    def test_a_worker_whose_fibers_wait_does_not_keep_its_processor(self):
        """W3. Without it, ranks on few processors kept each other from running for seconds."""
        if "openmpi" in Program.mpirun[0]:
            self.skipTest("a flush of Open MPI keeps its thread: locks/fabric/ORDERING.md")
        job = self.start("--store-options", "ranks_per_node=1")
        wire, last = self.connect(job, 0), job.ranks - 1
        self.assertEqual(wire.request("PING"), b"+PONG\r\n")  # so the thread has its name
        worker = thread_named("worker", job.pids[0])

        def rests():
            return int(re.search(r"^voluntary_ctxt_switches:\s(\d+)$",
                                 (worker / "status").read_text(), re.M)[1])
        stop(job.pids[last])
        try:
            wire.send(encode(["GET", "a"]))  # slot 15495, of the last rank
            until, before = time.monotonic() + DEADLINE_S, rests()
            while rests() < before + 1000:
                self.assertFalse(wire.has_come())
                self.assertLess(time.monotonic(), until, f"rested {rests() - before} times")
        finally:
            os.kill(job.pids[last], signal.SIGCONT)
        self.assertEqual(wire.reply(), b"$-1\r\n")


if __name__ == "__main__":
    main()

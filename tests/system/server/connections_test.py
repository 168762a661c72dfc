"""Connections that come, go, stall and break off harm no other client."""

import contextlib
import socket
import struct
import threading
import time
import unittest

from case import main, redis_plays_both, start_ours, start_theirs
from wire import CLOSED, DEADLINE_S, Wire, encode

PONG = b"+PONG\r\n"
# Files beside 1000 connections: the observer's, and those that a worker opens once.
KEPT_FILES = 8
# Memory for replies that wait for clients: much less than the tests request below, even if a
# sanitizer needs several times as much.
BOUND = ("--client-output-memory", "4MiB")


def break_off(wire):
    """Closes with a reset: no client reads the rest of the server's replies."""
    wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wire.close()


class Connections:
    """The parameters of each kind of server below."""

    @classmethod
    def setUpClass(cls):
        cls.peer = cls.start()
        cls.addClassCleanup(cls.peer.end)

    def setUp(self):
        with self.peer.connect() as wire:
            self.assertEqual(wire.request("FLUSHALL"), b"+OK\r\n")

    def tearDown(self):
        self.assertTrue(self.peer.alive(), f"the server has ended:\n{self.peer.said()}")

    def check_serves(self):
        with self.peer.connect() as wire:
            self.assertEqual(wire.request("PING"), PONG)

    def test_an_end_that_comes_with_the_last_bytes(self):
        """The end may come without a separate event. The reply comes, and then the end of the
        connection."""
        for number in range(50):
            with self.peer.connect() as wire:
                requests = 1 + number % 3
                wire.send(encode(["PING"]) * requests)
                wire.finish()
                self.assertEqual(wire.rest(), PONG * requests)

    def test_gone_in_the_middle_of_a_request(self):
        whole = encode(["SET", "k", "v" * 1000])
        for number in range(400):
            wire = self.peer.connect()
            wire.send(whole[:1 + number * 7 % (len(whole) - 1)])
            (break_off if number % 2 else Wire.close)(wire)
        with self.peer.connect() as wire:
            self.assertEqual(wire.request("EXISTS", "k"), b":0\r\n")

    def test_gone_before_the_reply(self):
        with self.peer.connect() as wire:
            wire.request("SET", "large", "x" * 100000)
        for number in range(200):
            wire = self.peer.connect()
            wire.send(encode(["GET", "large"]) * 20 + encode(["INCR", "n"]))
            (break_off if number % 2 else Wire.close)(wire)
        self.check_serves()
        with self.peer.connect() as wire:
            self.assertEqual(wire.request("STRLEN", "large"), b":100000\r\n")

    def test_who_does_not_read_stops_nobody_else(self):
        value, count = b"x" * 100000, 300
        reply = b"$%d\r\n%b\r\n" % (len(value), value)
        with self.peer.connect() as wire:
            wire.request("SET", "large", value)
        slow = [self.peer.connect() for _ in range(3)]
        for wire in slow:
            self.addCleanup(wire.close)
            wire.send_aside([encode(["GET", "large"])] * count)
        # All that they send is on its way, or waits for them to read.
        with contextlib.ExitStack() as stack:
            others = [stack.enter_context(self.peer.connect()) for _ in range(20)]
            for number in range(100):
                for other in others:
                    self.assertEqual(other.request("PING", str(number))[4:-2],
                                     str(number).encode())
        for wire in slow:
            # A server may disconnect a client that does not read; it may not omit or mix up
            # replies.
            for _ in range(count):
                found = wire.reply()
                if found == CLOSED:
                    break
                self.assertEqual(found, reply)
        self.check_serves()

    def test_connections_leave_no_open_files(self):
        self.check_serves()
        before = self.peer.open_files()
        for wave in range(10):
            wires = [self.peer.connect() for _ in range(100)]
            for number, wire in enumerate(wires):
                wire.send(encode(["PING"]))
                self.assertEqual(wire.reply(), PONG)
                if number % 4 == 1:
                    wire.send(b"*2\r\n$4\r\nPI")
                elif number % 4 == 2:
                    self.assertEqual(wire.request("QUIT"), b"+OK\r\n")
            if wave == 0:  # the cost of a connection shows while it exists
                self.assertGreater(self.peer.open_files(), before + 50)
            for number, wire in enumerate(wires):
                (break_off if number % 2 else Wire.close)(wire)
        self.until_open_files(before)

    def until_open_files(self, before):
        """A close arrives when it does; each round trip gives the server its turn."""
        until = time.monotonic() + DEADLINE_S
        with self.peer.connect() as wire:
            while (count := self.peer.open_files()) > before + KEPT_FILES:
                self.assertLess(time.monotonic(), until,
                                f"{count} open files, {before} before the connections")
                wire.request("PING")

    def test_many_at_once(self):
        with contextlib.ExitStack() as stack:
            wires = [stack.enter_context(self.peer.connect()) for _ in range(500)]
            for wire in wires:
                wire.send(encode(["INCR", "n"]) * 20)
            for wire in wires:
                replies = [int(wire.reply()[1:-2]) for _ in range(20)]
                self.assertEqual(replies, sorted(set(replies)))
            self.assertEqual(wires[0].request("GET", "n"), b"$5\r\n10000\r\n")

    def test_increments_side_by_side(self):
        threads, rounds, batch = 6, 50, 40
        seen = [[] for _ in range(threads)]

        def increment(found):
            with self.peer.connect() as wire:
                for _ in range(rounds):
                    wire.send(encode(["INCR", "n"]) * batch)
                    found.extend(int(wire.reply()[1:-2]) for _ in range(batch))

        workers = [threading.Thread(target=increment, args=(found,)) for found in seen]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(DEADLINE_S)
        # Each number was given out once, and to no client after a larger one.
        self.assertEqual(sorted(sum(seen, [])), list(range(1, threads * rounds * batch + 1)))
        for found in seen:
            self.assertEqual(found, sorted(found))

    def test_a_client_that_quits_gets_what_it_asked_before(self):
        with self.peer.connect() as wire:
            wire.send(encode(["PING"]) * 1000 + encode(["QUIT"]))
            self.assertEqual(wire.rest(), PONG * 1000 + b"+OK\r\n")


class Ours(Connections):
    def test_what_nobody_reads_does_not_pile_up(self):
        if redis_plays_both():
            self.skipTest("Redis keeps all replies")
        value, clients, count = b"x" * 100000, 100, 100
        with self.peer.connect() as wire:
            wire.request("SET", "large", value)
        before = self.peer.resident_bytes()
        with contextlib.ExitStack() as stack:
            for _ in range(clients):
                wire = stack.enter_context(self.peer.connect())
                wire.send(encode(["GET", "large"]) * count)
            for _ in range(clients):  # they come after all the others, at each worker
                self.check_serves()
            grown = self.peer.resident_bytes() - before
        # Less than half of the requested bytes, although a sanitizer keeps freed memory.
        self.assertLess(grown, clients * count * len(value) // 2)


class OneWorker(Ours, unittest.TestCase):
    @staticmethod
    def start():
        return start_ours(own=("--workers", "1", *BOUND))


class ManyWorkers(Ours, unittest.TestCase):
    @staticmethod
    def start():
        return start_ours(own=("--workers", "4", "--poll-us", "0", *BOUND))


class Redis(Connections, unittest.TestCase):
    """Shows that what is asked of ours is fair."""

    @staticmethod
    def start():
        return start_theirs()


if __name__ == "__main__":
    main()

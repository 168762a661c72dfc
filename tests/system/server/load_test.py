"""Clients by the thousand and pipelines by the million leave nothing behind: no memory, no open file,
no thread."""

import resource
import time
import unittest

from case import main, start_ours
from connections_test import break_off
from wire import DEADLINE_S, Wire, encode

PONG = b"+PONG\r\n"
OK = b"+OK\r\n"
MIB = 1 << 20
CLIENTS = 10_000
OURS = 200  # files that this process and the server have open besides
# The maximum growth of a server between a warm-up and the end: the pieces of the allocator, which
# do not depend on the load. For 10,000 clients it is 800 B each; a leaked client would be 20 KiB.
GROWTH = 8 * MIB
ROUNDS = 4


class Load(unittest.TestCase):
    def setUp(self):
        self.start("--maxclients", str(CLIENTS + OURS), "--workers", "2")

    def start(self, *options):
        self.peer = start_ours(*options)
        self.addCleanup(self.peer.end)
        self.peer.touch_store()
        self.wire = self.peer.connect()
        self.addCleanup(self.wire.close)
        self.assertEqual(self.wire.request("PING"), PONG)  # it counts among the open files

    def until_open(self, holds, what):
        """Waits until the number of the server's open files is as it should be."""
        until = time.monotonic() + DEADLINE_S
        while not holds(self.peer.open_files()):
            self.assertLess(time.monotonic(), until, what)
            self.assertEqual(self.wire.request("PING"), PONG)

    def measure(self, files=None):
        """Resident bytes and threads, once at most this many files are open."""
        if files is not None:
            self.until_open(lambda now: now <= files, "connections that have gone are still open")
        return self.peer.resident_bytes(), self.peer.threads()

    def check_no_growth(self, before, files):
        memory, threads = self.measure(files)
        self.assertEqual(threads, before[1])
        self.assertLess(memory - before[0], GROWTH)

    def come_and_go(self, count):
        """In waves, and in each way that a client can leave."""
        for wave in range(0, count, 500):
            wires = [self.peer.connect() for _ in range(500)]
            for number, wire in enumerate(wires):
                wire.send((encode(["PING"]), encode(["SET", f"k{number}", "x" * 5000]) * 20,
                           b"*2\r\n$4\r\nECHO\r\n$100000\r\nhalf", b"*1000000\r\n$1\r\n",
                           b"GET k1\r\n" * 200)[(wave + number) % 5])
            for number, wire in enumerate(wires):
                (break_off if number % 3 == 0 else Wire.close)(wire)

    def test_ten_thousand_come_and_go(self):
        files = self.peer.open_files()
        self.come_and_go(CLIENTS // 2)
        memory, threads = self.measure(files)
        # The machine determines how many clients exist at one time, and with them the allocator's
        # pieces. A leak per client would grow in every round.
        grown = []
        while len(grown) < ROUNDS and (not grown or grown[-1] >= GROWTH):
            self.come_and_go(CLIENTS)
            before = memory
            memory, threads_now = self.measure(files)
            self.assertEqual(threads_now, threads)
            grown.append(memory - before)
        self.assertLess(grown[-1], GROWTH, grown)

    def test_ten_thousand_at_once(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        count = min(CLIENTS, hard - OURS)
        if count < CLIENTS:
            print(f"a user may open {hard} files here: {count} clients at once")
        files = self.peer.open_files()
        before = None
        for _ in range(2):
            wires = [self.peer.connect() for _ in range(count)]
            try:
                # The kernel completes a connection before the server accepts it.
                self.until_open(lambda now: now >= count, "clients were not accepted")
                for wire in wires:
                    wire.send(encode(["INCR", "n"]))
                for wire in wires:
                    self.assertEqual(wire.reply()[:1], b":")
            finally:
                for wire in wires:
                    wire.close()
            if before is None:
                before = self.measure(files)
        self.check_no_growth(before, files)
        self.assertEqual(self.wire.request("GET", "n"), b"$5\r\n%d\r\n" % (2 * count))

    def test_a_million_commands(self):
        count = 1_000_000
        expected = b"".join(b":%d\r\n" % number for number in range(1, count + 1))
        with self.peer.connect() as wire:
            wire.send_aside([encode(["INCR", "n"]) * 10_000] * (count // 10_000))
            while wire.unarrived() == 0 and not wire.has_come():
                pass
            for _ in range(100):  # it is not alone
                self.assertEqual(self.wire.request("PING"), PONG)
            until = time.monotonic() + DEADLINE_S
            while self.wire.request("GET", "n") != b"$7\r\n1000000\r\n":
                self.assertLess(time.monotonic(), until, "it waits for a client that reads afterwards")
            self.assertEqual(wire.take(len(expected)), expected)

    def test_a_million_commands_and_nobody_reads(self):
        self.start("--workers", "2", "--client-output-memory", "4MiB")
        files = self.peer.open_files()
        self.assertEqual(self.wire.request("SET", "k", "x" * 100), OK)
        before = self.measure()
        wires = [self.peer.connect() for _ in range(4)]
        for wire in wires:
            self.addCleanup(wire.close)
            wire.send_aside([encode(["GET", "k"]) * 10_000] * 25)
        for _ in range(1000):
            self.assertEqual(self.wire.request("GET", "k"), b"$100\r\n%b\r\n" % (b"x" * 100))
        # They request 100 MiB, but get 4 MiB, and each one part of its replies besides.
        self.assertLess(self.peer.resident_bytes() - before[0], 16 * MIB)
        for wire in wires:
            wire.finish()  # or else another sender keeps the socket
            break_off(wire)
        self.check_no_growth(before, files)

    def test_what_is_announced_comes_slowly(self):
        before = self.measure()
        heads = (b"*1000000\r\n", b"*2\r\n$4\r\nECHO\r\n$500000000\r\n", b"*3\r\n$500000000\r\n",
                 b"*2147483647\r\n$1\r\n")
        wires = [self.peer.connect() for _ in range(400)]
        for number, wire in enumerate(wires):
            self.addCleanup(wire.close)
            wire.send(heads[number % len(heads)])
        honest = self.peer.connect()
        self.addCleanup(honest.close)
        request = encode(["SET", "slow", "value"])
        for at in range(len(request)):
            for wire in wires:
                wire.send(b"$1\r\nx\r\n"[at % 7:][:1])
            honest.send(request[at:at + 1])
            self.assertEqual(self.wire.request("PING"), PONG)
        self.assertEqual(honest.reply(), OK)
        # 4 KiB to receive into for each, and what a connection is; nothing for what was announced.
        self.assertLess(self.peer.resident_bytes() - before[0], len(wires) * 16 * 1024)
        self.assertEqual(self.wire.request("GET", "slow"), b"$5\r\nvalue\r\n")

    def test_who_breaks_off_in_the_middle_of_a_pipeline(self):
        """Its earlier requests are executed or not, in order; the half request is not."""
        with self.peer.connect() as wire:
            wire.send(encode(["RPUSHX"]) + encode(["SET", "a", "1"]) * 1000 +
                      encode(["SET", "a", "2"])[:-3])
            break_off(wire)
        self.assertIn(self.wire.request("GET", "a"), (b"$-1\r\n", b"$1\r\n1\r\n"))
        self.assertEqual(self.wire.request("PING"), PONG)


if __name__ == "__main__":
    main()

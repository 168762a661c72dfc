"""Clients that wait for named locks: their later requests, their maximum number, and their replies
when the server ends."""

import contextlib
import time
import unittest

from case import main, start_ours
from lock_case import LONG, OK, PONG, LockCase, token_of
from wire import CLOSED, DEADLINE_S, decode, encode


class Waiting(LockCase):
    def test_what_comes_behind_a_request_that_waits(self):
        _, token = self.hold("n")
        wire = self.connect()
        wire.send(encode(["PING"]) + encode(["KW.LOCK", "n", "WRITE", *LONG]) +
                  encode(["SET", "k", "v"]) + encode(["GET", "k"]))
        self.assertEqual(wire.reply(), PONG)
        self.until("n", 1, 1)
        wire.send(encode(["KW.LOCK", "m", "WRITE"]) + encode(["PING"]))
        self.assertEqual(self.asking.request("EXISTS", "k"), b":0\r\n")
        self.assertEqual(self.asking.request("KW.UNLOCK", "n", token), OK)
        self.assertGreater(token_of(wire.reply()), token)
        self.assertEqual([wire.reply() for _ in range(2)], [OK, b"$1\r\nv\r\n"])
        token_of(wire.reply())
        self.assertEqual(wire.reply(), PONG)

    def test_more_behind_it_than_is_read_ahead(self):
        _, token = self.hold("n")
        wire = self.connect()
        value, count = b"x" * 10000, 500
        wire.send_aside([encode(["KW.LOCK", "n", "WRITE", *LONG])] +
                        [encode(["APPEND", "k", value])] * count)
        self.until("n", 1, 1)
        self.assertEqual(self.asking.request("KW.UNLOCK", "n", token), OK)
        token_of(wire.reply())
        for number in range(count):
            self.assertEqual(wire.reply(), b":%d\r\n" % (10000 * (number + 1)))

    def test_who_waits_holds_up_nobody(self):
        """There are four fibers."""
        _, token = self.hold("n")
        waiting = [self.connect() for _ in range(100)]
        for wire in waiting:
            wire.send(encode(["KW.LOCK", "n", "READ", *LONG]))
        self.until("n", 1, 100)
        for _ in range(20):
            with self.peer.connect() as wire:
                self.assertEqual(wire.request("PING"), PONG)
        self.assertEqual(self.asking.request("KW.UNLOCK", "n", token), OK)
        tokens = [token_of(wire.reply()) for wire in waiting]
        self.assertEqual(len(set(tokens)), 100)
        self.assertEqual(self.info("n")["mode"], "read")

    def test_clients_that_come_and_go(self):
        """A client that disconnects at any moment leaves nothing behind."""
        request = encode(["KW.LOCK", "n", "WRITE", *LONG])
        for number in range(300):
            wire = self.peer.connect()
            wire.send(request if number % 3 else request + encode(["PING"]) * 10)
            if number % 5 == 0:
                token_of(wire.reply())
            wire.close()
        self.until("n", 0, 0)

    def test_an_end_of_input_is_the_clients_end(self):
        _, token = self.hold("n")
        wire = self.queue("n", "WRITE", 1)
        wire.finish()
        self.until("n", 1, 0)
        self.assertEqual(wire.reply(), CLOSED)


class Bounds(LockCase):
    OPTIONS = ("--lock-waiters", "20", "--lock-held", "3", "--lock-longest", "60000",
               "--lock-memory", "8MiB", "--lock-lease", "45000", "--lock-timeout", "0")

    def test_options(self):
        wire, _ = self.hold("n")
        self.assertEqual(self.info("n")["holders"][0]["lease-ms"], 45000)
        self.assertEqual(self.asking.request("KW.LOCK", "n", "WRITE"), b"_\r\n")
        self.assertEqual(wire.request("KW.LOCK", "m", "READ", "TIMEOUT", 60001),
                         b"-ERR TIMEOUT must be from 0 to 60000 ms\r\n")

    def until_answered(self, wires, count):
        """Waits until data has arrived on this many of the connections, and on no more."""
        end = time.monotonic() + DEADLINE_S
        while (come := sum(wire.has_come() for wire in wires)) < count:
            self.assertLess(time.monotonic(), end, f"{come} of {count}")
        self.assertEqual(come, count)

    def test_so_many_may_wait(self):
        holder, token = self.hold("n")
        full = b"-ERR too many clients are waiting for lock 'n' (limit 20, lock-waiters)\r\n"
        with contextlib.ExitStack() as stack:
            wires = [stack.enter_context(self.peer.connect()) for _ in range(200)]
            for wire in wires:
                wire.send(encode(["KW.LOCK", "n", "READ", *LONG]))
            self.until("n", 1, 20)
            # A full queue does not hinder a try, nor another lock.
            self.assertEqual(self.asking.request("KW.LOCK", "n", "READ", "TIMEOUT", 0), b"_\r\n")
            token_of(self.asking.request("KW.LOCK", "m", "READ", *LONG))
            self.until_answered(wires, 180)  # all have sent it: once it is free no client is
                                             # refused
            # The next request of those 180 is answered; it is behind the wait of the others.
            for wire in wires:
                wire.send(encode(["PING"]))
            self.assertEqual(holder.request("KW.UNLOCK", "n", token), OK)
            first = [wire.reply() for wire in wires]
            for wire in wires:
                self.assertEqual(wire.reply(), PONG)
        self.assertEqual(first.count(full), 180)
        for reply in first:
            if reply != full:
                self.assertGreater(token_of(reply), token)

    def test_so_many_may_be_held(self):
        wire, token = self.hold("a")
        for name in ("b", "c"):
            token_of(wire.request("KW.LOCK", name, "READ"))
        full = b"-ERR this connection holds too many locks (limit 3, lock-held)\r\n"
        self.assertEqual(wire.request("KW.LOCK", "d", "READ"), full)
        self.assertEqual(wire.request("KW.UNLOCK", "a", token), OK)
        token_of(wire.request("KW.LOCK", "d", "READ"))
        self.assertEqual(wire.request("KW.LOCK", "e", "READ"), full)


class Shutdown(unittest.TestCase):
    def test_who_waits_is_told(self):
        peer = start_ours("--workers", "2")
        self.addCleanup(peer.end)
        holder, waiters = peer.connect(), [peer.connect() for _ in range(20)]
        for wire in (holder, *waiters):
            self.addCleanup(wire.close)
        token_of(holder.request("KW.LOCK", "n", "WRITE"))
        for wire in waiters:
            wire.send(encode(["KW.LOCK", "n", "WRITE", *LONG]) + encode(["SET", "k", "v"]))
        with peer.connect() as asking:
            end = time.monotonic() + DEADLINE_S
            while len(decode(asking.request("KW.LOCKINFO", "n"))[1][5][1]) < len(waiters):
                self.assertLess(time.monotonic(), end)
        peer.terminate()
        told = b"-ERR the server is shutting down: lock 'n' was not acquired\r\n" + OK
        for wire in waiters:
            self.assertEqual(wire.rest(), told)
        self.assertEqual(holder.rest(), b"")
        self.assertEqual(peer.exit_code(), 0)


if __name__ == "__main__":
    main()

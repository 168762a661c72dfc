"""CLIENT PAUSE, beside Redis: paused requests, and the events that resume them; CLIENT UNBLOCK of a
client that waits for a named lock."""

import time
import unittest

from case import Case, main, redis_plays_both, start_ours
from wire import DEADLINE_S, decode, encode

PONG = b"+PONG\r\n"
OK = b"+OK\r\n"
LONG = "600000"  # ms: no pause here ends by itself, unless it is said
UNBLOCKED = b"-UNBLOCKED client unblocked via CLIENT UNBLOCK\r\n"

AT_ONCE = ((), "GET a"), ((), "SELECT 0"), ((), "SET a"), ((), "NOSUCH"), ((), "MULTI"), \
    (("MULTI",), "GET a"), (("MULTI", "SET a 1"), "DISCARD"), (("MULTI", "GET a"), "EXEC"), \
    ((), "CONFIG SET maxclients 1000"), ((), "CLIENT ID")
HELD_UP = ((), "SET a 2"), ((), "FLUSHALL"), ((), "DEL a"), ((), "GETEX a"), (("MULTI",), "SET a 1"), \
    (("MULTI", "SET a 1"), "EXEC")


class Paused(Case):
    def flags(self, wire, client):
        lines = decode(wire.request("CLIENT", "LIST", "ID", client))[1].decode().split()
        return next(field[6:] for field in lines if field.startswith("flags="))

    def until_held_up(self, asking, client):
        until = time.monotonic() + DEADLINE_S
        while "b" not in self.flags(asking, client):
            self.assertLess(time.monotonic(), until, "its request is not held up")

    def start(self, peer, before):
        wire = peer.connect()
        self.addCleanup(wire.close)
        client = wire.request("CLIENT", "ID")[1:-2]
        for line in before:
            wire.request(*line.split())
        return wire, client

    def test_writes(self):
        for peer in self.pair:
            asking, _ = self.start(peer, ())
            clients = [(*self.start(peer, before), line, cases is HELD_UP)
                       for cases in (AT_ONCE, HELD_UP) for before, line in cases]
            self.assertEqual(asking.request("CLIENT", "PAUSE", LONG, "WRITE"), OK)
            for wire, client, line, held_up in clients:
                wire.send(encode(line.split()) + encode(["PING"]))
                if held_up:
                    self.until_held_up(asking, client)
                else:
                    self.assertIn(wire.reply()[:1], (b"$", b"+", b"-", b":", b"*"), line)
            self.assertEqual(asking.request("CLIENT", "UNPAUSE"), OK)
            for wire, _, line, held_up in clients:
                if held_up:
                    self.assertIn(wire.reply()[:1], (b"$", b"+", b":", b"*"), line)
                self.assertIn(wire.reply(), (PONG, b"+QUEUED\r\n"), line)

    def test_all_and_it_ends_by_itself(self):
        for peer in self.pair:
            (asking, _), (other, _) = self.start(peer, ()), self.start(peer, ())
            began = time.monotonic()
            self.assertEqual(asking.request("CLIENT", "PAUSE", "300"), OK)
            other.send(encode(["PING"]) * 3)
            self.assertEqual(asking.request("PING"), PONG)
            self.assertGreaterEqual(time.monotonic() - began, 0.3)  # or it was not paused
            self.assertEqual([other.reply() for _ in range(3)], [PONG] * 3)


class Ours(unittest.TestCase):
    def setUp(self):
        if redis_plays_both():
            self.skipTest("of keywayd only")
        self.peer = start_ours(own=("--workers", "2", "--fibers", "2"))
        self.addCleanup(self.peer.end)
        self.asking = self.connect()

    def connect(self):
        wire = self.peer.connect()
        self.addCleanup(wire.close)
        return wire

    def blocked(self):
        """A client that waits for the lock n, which self.asking holds."""
        wire = self.connect()
        client = wire.request("CLIENT", "ID")[1:-2]
        wire.send(encode(["KW.LOCK", "n", "WRITE", "TIMEOUT", LONG]) + encode(["PING"]))
        self.until(client, b"flags=b")
        return wire, client

    def until(self, client, text):
        until = time.monotonic() + DEADLINE_S
        while text not in self.asking.request("CLIENT", "LIST", "ID", client):
            self.assertLess(time.monotonic(), until, f"{client} does not show {text}")

    def test_unblock(self):
        token = self.asking.request("KW.LOCK", "n", "WRITE")[1:-2]
        for how, reply in (((), b"$-1\r\n"), (("TIMEOUT",), b"$-1\r\n"), (("ERROR",), UNBLOCKED)):
            wire, client = self.blocked()
            self.assertEqual(self.asking.request("CLIENT", "UNBLOCK", client, *how), b":1\r\n")
            self.assertEqual([wire.reply(), wire.reply()], [reply, PONG])
            self.assertEqual(self.asking.request("CLIENT", "UNBLOCK", client), b":0\r\n")
        self.assertEqual(self.asking.request("KW.UNLOCK", "n", token), OK)
        self.assertEqual(wire.request("KW.LOCK", "n", "WRITE", "TIMEOUT", "0")[:1], b":")

    def test_unblock_or_the_lock_but_not_both(self):
        for _ in range(100):
            token = self.asking.request("KW.LOCK", "n", "WRITE")[1:-2]
            wire, client = self.blocked()
            other = self.connect()
            other.send(encode(["CLIENT", "UNBLOCK", client, "ERROR"]))
            self.assertEqual(self.asking.request("KW.UNLOCK", "n", token), OK)
            unblocked, reply = other.reply() == b":1\r\n", wire.reply()
            self.assertEqual(wire.reply(), PONG)
            self.assertEqual(reply == UNBLOCKED, unblocked, reply)
            if not unblocked:
                self.assertEqual(wire.request("KW.UNLOCK", "n", reply[1:-2]), OK)
            wire.close()
            other.close()

    def test_who_is_paused_holds_up_nobody_and_may_be_killed(self):
        self.assertEqual(self.asking.request("CLIENT", "PAUSE", LONG, "WRITE"), OK)
        wires = [self.connect() for _ in range(20)]  # there are four fibers
        ids = [wire.request("CLIENT", "ID")[1:-2] for wire in wires]
        for wire in wires:
            wire.send(encode(["PING"]) + encode(["INCR", "n"]) + encode(["PING"]))
            self.assertEqual(wire.reply(), PONG)
        for client in ids:
            self.until(client, b"flags=b")
        self.assertEqual(self.asking.request("CLIENT", "UNBLOCK", ids[0]), b":0\r\n")
        self.assertEqual(self.asking.request("CLIENT", "KILL", "ID", ids[0]), b":1\r\n")
        self.assertEqual(wires[0].rest(), b"")
        wires[1].close()
        self.assertEqual(self.asking.request("EXISTS", "n"), b":0\r\n")
        self.assertEqual(self.asking.request("CLIENT", "UNPAUSE"), OK)
        for wire in wires[2:]:
            self.assertEqual([wire.reply()[:1], wire.reply()], [b":", PONG])
        self.assertIn(self.asking.request("GET", "n"), (b"$2\r\n18\r\n", b"$2\r\n19\r\n"))

    def test_who_goes_while_it_is_paused_is_counted_no_more(self):
        self.assertEqual(self.asking.request("CLIENT", "PAUSE", LONG, "WRITE"), OK)
        wire = self.connect()
        client = wire.request("CLIENT", "ID")[1:-2]
        wire.send(encode(["INCR", "n"]))
        self.until(client, b"flags=b")
        self.assertIn(b"blocked_clients:1\r\n", self.asking.request("INFO", "clients"))
        wire.close()
        until = time.monotonic() + DEADLINE_S
        while b"blocked_clients:0\r\n" not in self.asking.request("INFO", "clients"):
            self.assertLess(time.monotonic(), until, "it is still counted")

    def test_a_server_that_ends_answers_them(self):
        self.assertEqual(self.asking.request("CLIENT", "PAUSE", LONG, "WRITE"), OK)
        wire = self.connect()
        client = wire.request("CLIENT", "ID")[1:-2]
        wire.send(encode(["INCR", "n"]))
        self.until(client, b"flags=b")
        self.peer.terminate()
        self.assertEqual(wire.rest(), b":1\r\n")
        self.assertEqual(self.peer.exit_code(), 0)


if __name__ == "__main__":
    main()

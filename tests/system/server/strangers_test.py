"""A client without the password: it may make the server keep little, and stay as long as
--auth-timeout says, whatever it does."""

import contextlib
import re
import time
import unittest
import urllib.request

from case import main, redis_plays_both, start_ours
from peer import free_port
from wire import CLOSED, DEADLINE_S, encode

KIB, MIB = 1 << 10, 1 << 20
SECRET = "secret"
UNTIMED = ("--auth-timeout", "0", "--client-output-timeout", "0")
TIMED = ("--auth-timeout", "1", "--client-output-timeout", "0")
SHORT = b"x\n"  # answered by 54 bytes
FLOOD = SHORT * (12 * MIB)
STILL = 200  # turns of the event loop in which nothing more is read


class Strangers(unittest.TestCase):
    def start(self, *options):
        if redis_plays_both():
            self.skipTest("options of keywayd")
        self.peer = start_ours("--requirepass", SECRET, *options)
        self.addCleanup(self.peer.end)
        self.known = self.connect()
        self.assertEqual(self.known.request("AUTH", SECRET), b"+OK\r\n")
        # The store's memory comes in pages of 2 MiB at the first write, also by the sweep.
        self.assertEqual(self.known.request("SET", "first", "v", "EX", "1000"), b"+OK\r\n")
        self.assertEqual(self.known.request("DEL", "first"), b":1\r\n")

    def connect(self):
        wire = self.peer.connect()
        self.addCleanup(wire.close)
        return wire

    def bytes_read(self):
        """By the server, but for the request that asks: all of these are of one length."""
        self.asked = getattr(self, "asked", 0) + 1
        found = re.search(rb"total_net_input_bytes:([0-9]+)", self.known.request("INFO", "stats"))
        return int(found[1]) - self.asked * len(encode(["INFO", "stats"]))

    def until_nothing_is_read(self):
        """One worker serves all: each reply to `known` is a turn in which it could have read more."""
        until = time.monotonic() + DEADLINE_S
        before, still = self.bytes_read(), 0
        while still < STILL:
            self.assertLess(time.monotonic(), until, "the server reads on")
            now = self.bytes_read()
            before, still = now, still + 1 if now == before else 0

    def waiting(self):
        """Bytes of replies that wait, of the client that has most."""
        return max(int(found) for found in re.findall(rb" omem=([0-9]+)",
                                                      self.known.request("CLIENT", "LIST")))

    def check_little_is_kept(self, *floods):
        self.until_nothing_is_read()
        before = self.peer.resident_bytes()
        for pieces in floods:
            self.connect().send_aside(pieces)
        self.until_nothing_is_read()
        self.assertLessEqual(self.peer.resident_bytes() - before, len(floods) * MIB)
        self.assertLessEqual(self.waiting(), 32 * KIB)

    def until_closed(self, wire, act):
        """Until the server closes `wire`, its client continues with `act`."""
        until = time.monotonic() + DEADLINE_S
        wire.socket.setblocking(False)
        with contextlib.suppress(ConnectionResetError, BrokenPipeError):
            while True:
                self.assertLess(time.monotonic(), until, "the connection stays open")
                with contextlib.suppress(BlockingIOError):
                    act(wire.socket)
                with contextlib.suppress(BlockingIOError):
                    if not wire.socket.recv(1):
                        break
                self.assertEqual(self.known.request("PING"), b"+PONG\r\n")


class Memory(Strangers):
    def test_short_requests_whose_replies_nobody_takes(self):
        self.start(*UNTIMED)
        self.check_little_is_kept([FLOOD])

    def test_several_of_them(self):
        self.start(*UNTIMED)
        self.check_little_is_kept(*([FLOOD] for _ in range(4)))

    def test_replies_that_repeat_what_was_sent(self):
        self.start(*UNTIMED)
        self.check_little_is_kept([encode(["HELLO", "3", "n" * 16384]) * 1000])

    def test_the_longest_request(self):
        self.start(*UNTIMED)
        words = ["x" * 16384] * 10
        self.check_little_is_kept([encode(words)[:-1]])

    def test_the_most_words(self):
        self.start(*UNTIMED)
        self.check_little_is_kept([b"a " * 2000 + b"\n" for _ in range(1000)])

    def test_what_comes_behind_a_login_that_is_held_up(self):
        """All clients are paused, so the metrics show how much was read."""
        port = free_port()
        self.start(*UNTIMED, "--metrics-port", str(port))

        def bytes_read():
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=DEADLINE_S) as reply:
                return float(re.search(rb"\nkeyway_received_bytes_total (\S+)", reply.read())[1])
        self.bytes_read = bytes_read
        self.until_nothing_is_read()
        before = self.peer.resident_bytes()
        self.assertEqual(self.known.request("CLIENT", "PAUSE", "600000", "ALL"), b"+OK\r\n")
        self.connect().send_aside([encode(["AUTH", "wrong"]), FLOOD])
        self.until_nothing_is_read()
        self.assertLessEqual(self.peer.resident_bytes() - before, MIB)

    def test_a_login_is_served_whatever_came_before(self):
        self.start()
        wire = self.connect()
        errors = 5000
        wire.send_aside([SHORT * errors, encode(["AUTH", SECRET]), encode(["ECHO", "v" * MIB])])
        for _ in range(errors):
            self.assertEqual(wire.reply()[:1], b"-")
        self.assertEqual(wire.reply(), b"+OK\r\n")
        self.assertEqual(len(wire.reply()), len(b"$1048576\r\n\r\n") + MIB)

    def test_a_long_line_is_refused(self):
        self.start()
        wire = self.connect()
        wire.send(b"x" * 4097)
        self.assertEqual(wire.reply(), b"-ERR Protocol error: too big inline request\r\n")
        self.assertEqual(wire.reply(), CLOSED)


class Time(Strangers):
    def test_who_takes_hardly_any_replies(self):
        """It is paused: the server reads no more from it."""
        self.start(*TIMED, "--client-output-memory", "1MiB")
        self.until_closed(self.connect(), lambda socket: socket.send(SHORT * 32 * KIB))

    def test_who_asks_without_end_and_reads(self):
        def ask_and_read(socket):
            socket.send(encode(["AUTH", "wrong"]))
            socket.recv(KIB)
        self.start(*TIMED)
        self.until_closed(self.connect(), ask_and_read)

    def test_who_begins_a_request_again_and_again(self):
        self.start(*TIMED)
        wire = self.connect()
        wire.send(b"*1\r\n$16384\r\n")
        self.until_closed(wire, lambda socket: socket.send(b"x"))

    def test_who_is_held_up_by_a_pause(self):
        self.start(*TIMED)
        wire = self.connect()
        self.assertEqual(self.known.request("CLIENT", "PAUSE", "600000", "ALL"), b"+OK\r\n")
        wire.send(encode(["AUTH", SECRET]))
        self.assertEqual(wire.reply(), CLOSED)

    def test_who_has_come_in_is_not_timed(self):
        self.start(*TIMED)
        stranger = self.connect()
        self.assertEqual(stranger.reply(), CLOSED)  # later than the limit of `known`
        self.assertEqual(self.known.request("PING"), b"+PONG\r\n")


class Names(Strangers):
    def test_a_stranger_has_none(self):
        self.start()
        wire = self.connect()
        self.assertEqual(wire.request("HELLO", "3", "SETNAME", "intruder")[:7], b"-NOAUTH")
        self.assertNotIn(b"name=intruder", self.known.request("CLIENT", "LIST"))

    def test_the_slow_log_keeps_no_long_ones(self):
        self.start("--slowlog-log-slower-than", "0")
        self.assertEqual(self.known.request("CLIENT", "SETNAME", "n" * 1025)[:1], b"-")
        self.assertEqual(self.known.request("CLIENT", "SETNAME", "n" * 1024), b"+OK\r\n")
        self.assertEqual(self.known.request("PING"), b"+PONG\r\n")
        self.assertNotIn(b"n" * 129, self.known.request("SLOWLOG", "GET", "-1"))


if __name__ == "__main__":
    main()

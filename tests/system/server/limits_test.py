"""Limits of a client's resources and time, and the server's options on its sockets."""

import re
import select
import subprocess
import time
import unittest

from case import main, redis_plays_both, start_ours, start_theirs
from wire import CLOSED, DEADLINE_S, encode

PONG = b"+PONG\r\n"
MIB = 1 << 20


class Limits(unittest.TestCase):
    """Each test starts its own servers."""

    def start(self, start, *options):
        peer = start(*options)
        self.addCleanup(peer.end)
        return peer

    def start_own(self, *options):
        if redis_plays_both():
            self.skipTest("an option of keywayd")
        return self.start(start_ours, *options)

    def both(self, *options):
        for start in (start_ours, start_theirs):
            yield self.start(start, *options)

    def connect(self, peer):
        wire = peer.connect()
        self.addCleanup(wire.close)
        return wire

    def until_closed(self, wire, busy):
        """Until the server closes `wire`, `busy` continues to send requests: it must not be
        closed."""
        until = time.monotonic() + DEADLINE_S
        while not select.select([wire.socket], [], [], 0.02)[0]:
            self.assertEqual(busy.request("PING"), PONG)
            self.assertLess(time.monotonic(), until, "the connection stays open")
        self.assertEqual(wire.reply(), CLOSED)
        self.assertEqual(busy.request("PING"), PONG)


class Time(Limits):
    def test_who_asks_for_nothing_is_sent_away(self):
        for peer in self.both("--timeout", "1"):
            busy, idle = self.connect(peer), self.connect(peer)
            self.assertEqual(idle.request("PING"), PONG)
            self.until_closed(idle, busy)

    def test_half_a_request_is_no_request(self):
        for peer in self.both("--timeout", "1"):
            busy, stalls = self.connect(peer), self.connect(peer)
            stalls.send(b"*2\r\n$4\r\nECHO\r\n$100\r\nhalf")
            self.until_closed(stalls, busy)

    def test_a_password_has_to_come_in_time(self):
        peer = self.start_own("--requirepass", "secret", "--auth-timeout", "1")
        known, stranger, asks = (self.connect(peer) for _ in range(3))
        for wire in (known, asks):
            self.assertEqual(wire.request("AUTH", "secret" if wire is known else "wrong")[:1],
                             b"+" if wire is known else b"-")
        self.until_closed(stranger, known)
        self.until_closed(asks, known)

    def test_who_takes_no_replies_is_sent_away(self):
        peer = self.start_own("--client-output-timeout", "1")
        busy = self.connect(peer)
        self.assertEqual(busy.request("SET", "large", "x" * MIB), b"+OK\r\n")
        before = peer.open_files()
        stalls = self.connect(peer)
        stalls.send_aside([encode(["GET", "large"])] * 500)
        until = time.monotonic() + DEADLINE_S
        came = False
        while not came or peer.open_files() > before:
            self.assertEqual(busy.request("PING"), PONG)
            came = came or peer.open_files() > before
            self.assertLess(time.monotonic(), until, "the connection stays open")

    def test_who_takes_them_slowly_is_not(self):
        peer = self.start_own("--client-output-timeout", "2")
        wire = self.connect(peer)
        value = b"x" * MIB
        self.assertEqual(wire.request("SET", "large", value), b"+OK\r\n")
        count = 40
        wire.send_aside([encode(["GET", "large"])] * count)
        whole = count * len(b"$%d\r\n%b\r\n" % (len(value), value))
        began = time.monotonic()
        while whole > 0:
            taken = len(wire.socket.recv(MIB // 4))
            self.assertGreater(taken, 0, "sent away in the middle")
            whole -= taken
            if time.monotonic() - began < 4:  # longer than the limit, in all
                select.select([], [], [], 0.05)


class Size(Limits):
    def test_a_request_that_is_too_long_is_not_kept(self):
        for peer in self.both("--client-query-buffer-limit", str(MIB)):
            wire, other = self.connect(peer), self.connect(peer)
            wire.send_aside([b"*2\r\n$4\r\nECHO\r\n$%d\r\n" % (100 * MIB), b"x" * (3 * MIB)])
            self.assertEqual(wire.rest(), b"")
            self.assertEqual(other.request("ECHO", "x" * (MIB // 2))[:1], b"$")

    def test_a_pipeline_longer_than_that_is_no_long_request(self):
        for peer in self.both("--client-query-buffer-limit", str(MIB)):
            wire = self.connect(peer)
            count = 200_000
            wire.send_aside([encode(["PING"]) * count + encode(["QUIT"])])
            self.assertEqual(len(wire.rest()), count * len(PONG) + len(b"+OK\r\n"))

    def test_replies_that_are_too_long_are_not_kept(self):
        for start, option in ((start_ours, ["1MiB"]), (start_theirs, ["normal 1mb 0 0"])):
            if start is start_ours and redis_plays_both():
                continue  # another form of the option
            peer = self.start(start, "--client-output-buffer-limit", *option)
            wire, other = self.connect(peer), self.connect(peer)
            self.assertEqual(wire.request("SET", "large", "x" * (MIB // 2)), b"+OK\r\n")
            self.assertEqual(wire.request("GET", "large")[:1], b"$")
            wire.send(encode(["MGET"] + ["large"] * 200))
            self.assertLess(len(wire.rest()), 100 * MIB)
            self.assertEqual(other.request("PING"), PONG)

    def test_clients_beyond_the_most_are_told(self):
        for peer in self.both("--maxclients", "10"):
            until = time.monotonic() + DEADLINE_S
            served = 0
            while served < 10:  # the connection that has seen the server start may still be there
                wire = self.connect(peer)
                served += wire.request("PING") == PONG
                self.assertLess(time.monotonic(), until, f"{served} clients of 10")
            late = self.connect(peer)
            self.assertEqual(late.rest(), b"-ERR max number of clients reached\r\n")


class Kernel(Limits):
    def sockets(self, peer, *more):
        """The lines of `ss` about the server's side, without its header."""
        done = subprocess.run(["ss", "-tnoH", *more, "sport", "=", f":{peer.port}"],
                              capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    def test_backlog(self):
        for peer in self.both("--tcp-backlog", "37"):
            (line,) = self.sockets(peer, "-l")
            self.assertEqual(line.split()[2], "37", line)

    def test_keepalive(self):
        for option, expected in (("300", True), ("0", False)):
            for peer in self.both("--tcp-keepalive", option):
                wire = self.connect(peer)
                self.assertEqual(wire.request("PING"), PONG)
                (line,) = self.sockets(peer)
                found = re.search(r"timer:\(keepalive,[45]min", line)
                self.assertEqual(found is not None, expected, line)


if __name__ == "__main__":
    main()

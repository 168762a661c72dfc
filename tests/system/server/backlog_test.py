"""Replies that wait for their client: a client that reads only after it has sent everything gets
all replies, in order, over every kind of socket; a client that never reads is disconnected; neither
of them delays other clients."""

import shutil
import socket
import ssl
import tempfile
import time
import unittest

from case import main, redis_plays_both, start_ours, start_theirs
from certificates import authority_of
from peer import free_port
from wire import DEADLINE_S, NoReply, Wire, encode

PONG = b"+PONG\r\n"
OK = b"+OK\r\n"
KIB, MIB = 1 << 10, 1 << 20
SMALL = 16 * KIB  # approximate capacity of a client's Unix socket
VALUE = b"v" * 1000
REPLY = b"$1000\r\n%b\r\n" % VALUE
COUNT = 20_000
# More than any two sockets hold, as requests and as replies: 20 MB each.
PIPELINE = (encode(["INCR", "n"]) + encode(["ECHO", VALUE])) * COUNT
REPLIES = b"".join(b":%d\r\n%b" % (number, REPLY) for number in range(1, COUNT + 1))


def connect(family, address):
    """Over TCP the kernel chooses what sockets hold: with a small window it may wait for seconds."""
    connected = socket.socket(family)
    connected.settimeout(DEADLINE_S)
    try:
        if family == socket.AF_UNIX:
            for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
                connected.setsockopt(socket.SOL_SOCKET, option, SMALL)
        connected.connect(address)
    except BaseException:
        connected.close()
        raise
    return connected


class Backlog(unittest.TestCase):
    def start(self, start, *options):
        self.peer = start(*options)
        self.addCleanup(self.peer.end)
        self.other = self.peer.connect()
        self.addCleanup(self.other.close)
        self.assertEqual(self.other.request("PING"), PONG)

    def start_own(self, *options):
        if redis_plays_both():
            self.skipTest("an option of keywayd")
        self.start(start_ours, *options)

    def wire(self, connected=None):
        wire = Wire(connected or connect(socket.AF_INET, ("127.0.0.1", self.peer.port)))
        self.addCleanup(wire.close)
        return wire

    def send_all(self, wire, data):
        """As a client does that reads afterwards. A server that waits for it fails the test."""
        wire.socket.settimeout(DEADLINE_S)
        try:
            wire.socket.sendall(data)
        except TimeoutError:
            raise NoReply("the server reads no more of a pipeline whose replies nobody takes") from None

    def check_reads_afterwards(self, wire):
        self.assertEqual(self.other.request("DEL", "n")[:1], b":")
        self.send_all(wire, PIPELINE)
        self.assertEqual(self.other.request("PING"), PONG)
        self.assertEqual(wire.take(len(REPLIES)), REPLIES)
        self.assertEqual(wire.request("PING"), PONG)

    def until(self, holds, what):
        until = time.monotonic() + DEADLINE_S
        while not holds():
            self.assertEqual(self.other.request("PING"), PONG)
            self.assertLess(time.monotonic(), until, what)

    def field_of(self, client, name):
        """The entry of a client in CLIENT LIST; None if there is none."""
        listed = self.other.request("CLIENT", "LIST", "ID", client).decode()
        fields = dict(field.split("=", 1) for field in listed.split() if "=" in field)
        return int(fields[name]) if name in fields else None

    def stall(self, *last):
        """A client that has sent all of PIPELINE, then `last`, and has read nothing; its number."""
        wire = self.wire()
        client = wire.request("CLIENT", "ID")[1:-2].decode()
        self.send_all(wire, PIPELINE + b"".join(map(encode, last)))
        return wire, client


class ReadsAfterwards(Backlog):
    def test_tcp(self):
        for start in (start_ours, start_theirs):
            self.start(start)
            self.check_reads_afterwards(self.wire())

    def test_unix(self):
        for start in (start_ours, start_theirs):
            folder = tempfile.mkdtemp(prefix="keyway-backlog-")
            self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
            path = f"{folder}/socket"
            self.start(start, "--unixsocket", path)
            self.check_reads_afterwards(self.wire(connect(socket.AF_UNIX, path)))

    def test_tls(self):
        authority, port = authority_of(self), free_port()
        self.start_own(*authority.server_options(port))
        context = ssl.create_default_context(cafile=authority.file)
        plain = connect(socket.AF_INET, ("127.0.0.1", port))
        self.addCleanup(plain.close)
        self.check_reads_afterwards(
            self.wire(context.wrap_socket(plain, server_hostname="127.0.0.1")))

    def test_large_replies(self):
        self.start_own()
        value = b"x" * (3 * MIB)
        self.assertEqual(self.other.request("SET", "large", value), OK)
        wire = self.wire()
        self.send_all(wire, (encode(["GET", "large"]) + encode(["PING"])) * 20)
        for _ in range(20):
            self.assertEqual(wire.reply(), b"$%d\r\n%b\r\n" % (len(value), value))
            self.assertEqual(wire.reply(), PONG)

    def test_who_quits_gets_all_before(self):
        for start in (start_ours, start_theirs):
            self.start(start)
            wire = self.wire()
            self.send_all(wire, PIPELINE + encode(["QUIT"]))
            self.assertEqual(wire.rest(), REPLIES + OK)

    def test_who_ends_its_half_gets_all(self):
        """Redis takes that for the end of both halves."""
        self.start_own()
        wire, _ = self.stall()
        wire.finish()
        self.assertEqual(wire.rest(), REPLIES)

    def test_a_request_that_waits_comes_after_all_before(self):
        self.start_own()
        token = self.other.request("KW.LOCK", "door", "WRITE")[1:-2]
        wire, _ = self.stall(("KW.LOCK", "door", "WRITE", "TIMEOUT", "600000"), ("ECHO", "last"))
        self.until(lambda: b"waited-ms" in self.other.request("KW.LOCKINFO", "door"),
                   "it does not wait for the lock")
        self.assertEqual(self.other.request("KW.UNLOCK", "door", token), OK)
        self.assertEqual(wire.take(len(REPLIES)), REPLIES)
        self.assertEqual(wire.reply()[:1], b":")
        self.assertEqual(wire.reply(), b"$4\r\nlast\r\n")

    def test_sigterm_waits_for_them(self):
        self.start_own()
        wire, _ = self.stall()
        self.until(lambda: self.other.request("GET", "n") == b"$5\r\n%d\r\n" % COUNT,
                   "not all is executed")
        self.peer.terminate()
        self.assertEqual(wire.rest(), REPLIES)
        self.assertEqual(self.peer.exit_code(), 0)


class NeverReads(Backlog):
    def test_client_list_shows_what_waits(self):
        self.start_own()
        wire, client = self.stall()
        self.until(lambda: self.field_of(client, "omem") > len(REPLIES) // 2, "nothing waits")
        self.assertGreater(self.field_of(client, "oll"), 0)
        self.assertEqual(wire.take(len(REPLIES)), REPLIES)
        self.until(lambda: self.field_of(client, "omem") == 0, "something waits")
        self.assertEqual(self.field_of(client, "oll"), 0)

    def test_client_kill(self):
        self.start_own()
        wire, client = self.stall()
        self.assertEqual(self.other.request("CLIENT", "KILL", "ID", client), b":1\r\n")
        self.until(lambda: self.field_of(client, "omem") is None, "it is still there")
        self.assertTrue(REPLIES.startswith(wire.rest()))

    def test_beyond_the_limit_it_is_sent_away(self):
        for start, limit in ((start_ours, "1MiB"), (start_theirs, "normal 1mb 0 0")):
            if start is start_ours and redis_plays_both():
                continue  # another form of the option
            self.start(start, "--client-output-buffer-limit", limit)
            wire = self.wire()
            wire.send(PIPELINE)  # all, or until the server closes
            came = wire.rest()
            self.assertLess(len(came), len(REPLIES))
            self.assertTrue(REPLIES.startswith(came))
            self.assertEqual(self.other.request("PING"), PONG)

    def test_what_all_may_have_is_shared(self):
        """When the reply memory is used up, the server does not read from a client until the client
        reads."""
        self.start_own("--client-output-memory", "2MiB")
        wires = [self.wire() for _ in range(4)]
        for wire in wires:
            wire.send_aside([PIPELINE])
        for wire in wires:
            self.until(wire.has_come, "no reply comes")
        for wire in wires:
            seen = [self.take_one_pair(wire) for _ in range(COUNT)]
            self.assertEqual(seen, sorted(set(seen)))

    def take_one_pair(self, wire):
        number = int(wire.reply()[1:-2])
        self.assertEqual(wire.reply(), REPLY)
        return number

    def test_who_takes_none_in_time_is_sent_away(self):
        self.start_own("--client-output-timeout", "1")
        wire, client = self.stall()
        self.until(lambda: self.field_of(client, "omem") is None, "it is still there")
        self.assertTrue(REPLIES.startswith(wire.rest()))


if __name__ == "__main__":
    main()

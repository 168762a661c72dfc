"""The server as a process: start, addresses, refused options, shutdown."""

import socket
import subprocess
import unittest

from case import Program, main, redis_plays_both, start_ours, start_theirs
from peer import END_S, free_port
from wire import CLOSED, DEADLINE_S, Wire, encode

PONG = b"+PONG\r\n"
USAGE, NOT_POSSIBLE = 2, 3


class Server(unittest.TestCase):
    """Each test starts its own."""

    def start(self, start, *options):
        peer = start(*options)
        self.addCleanup(peer.end)
        return peer

    def connect(self, peer):
        wire = peer.connect()
        self.addCleanup(wire.close)
        return wire


class Ending(Server):
    def each(self):
        return [self.start(start) for start in (start_ours, start_theirs)]

    def test_idle(self):
        for peer in self.each():
            peer.terminate()
            self.assertEqual(peer.exit_code(), 0, peer.said())

    def test_connections_are_closed(self):
        for peer in self.each():
            wires = [self.connect(peer) for _ in range(20)]
            for wire in wires:
                self.assertEqual(wire.request("PING"), PONG)
            wires[0].send(b"*2\r\n$4\r\nECHO\r\n$10\r\nhalf")
            peer.terminate()
            for wire in wires:
                self.assertEqual(wire.reply(), CLOSED)
            self.assertEqual(peer.exit_code(), 0, peer.said())

    def check_answered(self, peer, count):
        """Requests that arrive before the server is asked to end are answered."""
        wires = [self.connect(peer) for _ in range(5)]
        for wire in wires:
            wire.send(encode(["PING", "x" * 20]) * count)
        for wire in wires:
            self.assertEqual(wire.reply(), b"$20\r\n" + b"x" * 20 + b"\r\n")
        other = self.connect(peer)
        while any(wire.unarrived() for wire in wires):
            self.assertEqual(other.request("PING"), PONG)
        peer.terminate()
        for wire in wires:
            self.assertEqual(wire.rest().count(b"$20\r\n"), count - 1)
        self.assertEqual(peer.exit_code(), 0, peer.said())

    def test_what_was_sent_is_answered(self):
        # Few enough bytes for Redis to read at once: it does not read any more after SIGTERM.
        for peer in self.each():
            self.check_answered(peer, 300)

    def test_much_that_was_sent_is_answered(self):
        if redis_plays_both():
            self.skipTest("Redis reads no more when told to end")
        self.check_answered(self.start(start_ours), 1200)

    def test_nobody_who_stalls_delays_it(self):
        for peer in self.each():
            wire = self.connect(peer)
            self.assertEqual(wire.request("SET", "large", "x" * 100000), b"+OK\r\n")
            wire.send_aside([encode(["GET", "large"])] * 1000)
            with peer.connect() as other:
                self.assertEqual(other.request("PING"), PONG)
            peer.terminate()
            self.assertEqual(peer.exit_code(), 0, peer.said())


class TooFewLocks(Server):
    def test_a_transaction_about_the_whole_store_says_which_option_is_too_small(self):
        if redis_plays_both():
            self.skipTest("of keywayd only")
        wire = self.connect(self.start(start_ours, "--lock-policy", "rma-rw"))
        self.assertEqual(wire.request("MULTI"), b"+OK\r\n")
        self.assertEqual(wire.request("DBSIZE"), b"+QUEUED\r\n")
        self.assertRegex(wire.request("EXEC"), b"^-EXECABORT .*--store-options locks_per_session")
        enough = ("--lock-policy", "rma-rw", "--store-options", "stripes=64&locks_per_session=64")
        wire = self.connect(self.start(start_ours, *enough))
        self.assertEqual(wire.request("MULTI"), b"+OK\r\n")
        self.assertEqual(wire.request("DBSIZE"), b"+QUEUED\r\n")
        self.assertEqual(wire.request("EXEC"), b"*1\r\n:0\r\n")


class UnixSocket(Server):
    """Under a name in the file system, beside the port."""

    def connect_unix(self, peer):
        connected = socket.socket(socket.AF_UNIX)
        self.addCleanup(connected.close)
        connected.settimeout(DEADLINE_S)
        connected.connect(str(peer.folder / "server.sock"))
        return Wire(connected)

    def each(self):
        for start in (start_ours, start_theirs):
            yield self.start(start, "--unixsocket", "server.sock")

    def test_serves_both_ways(self):
        for peer in self.each():
            unix = self.connect_unix(peer)
            self.assertEqual(unix.request("SET", "k", "v"), b"+OK\r\n")
            self.assertEqual(self.connect(peer).request("GET", "k"), b"$1\r\nv\r\n")
            unix.send_aside([encode(["GET", "k"]) * 5000 + encode(["QUIT"])])
            self.assertEqual(unix.rest(), b"$1\r\nv\r\n" * 5000 + b"+OK\r\n")

    def test_its_file_goes_with_it(self):
        for peer in self.each():
            peer.terminate()
            self.assertEqual(peer.exit_code(), 0, peer.said())
            self.assertFalse((peer.folder / "server.sock").exists(), peer.program)


class Refused(unittest.TestCase):
    """One sentence on stderr, nothing on stdout, an exit code that tells usage errors from
    failures."""

    def setUp(self):
        if redis_plays_both():
            self.skipTest("of keywayd only")
        # The test does not wait for a server that does not refuse: it ends because its port is
        # taken.
        taken = self.enterContext(socket.create_server(("127.0.0.1", 0)))
        self.taken = str(taken.getsockname()[1])

    def refused(self, codes, parts, *words):
        done = subprocess.run([Program.keywayd, *words], capture_output=True, text=True,
                              check=False, timeout=END_S, stdin=subprocess.DEVNULL)
        self.assertIn(done.returncode, codes, f"{words}: {done.stderr}{done.stdout}")
        self.assertEqual(done.stdout, "", words)
        self.assertRegex(done.stderr, r"\Akeywayd: [^\n]+\n\Z", words)
        for part in parts:
            self.assertIn(part, done.stderr, words)

    def test_a_port_in_use(self):
        self.refused((USAGE, NOT_POSSIBLE), [self.taken, "in use"], "--port", self.taken,
                     "--memory", "64MiB")

    def test_bad_options(self):
        for parts, words in (
                (["--nosuch"], ["--nosuch"]), (["-x"], ["-x"]), (["more"], ["more"]),
                (["--port"], ["--port", "70000"]), (["--port"], ["--port", "many"]),
                (["--port"], ["--port", "-1"]), (["--memory"], ["--memory", "lots"]),
                (["--workers"], ["--workers", "0"]), (["--workers"], ["--workers", "many"]),
                (["nowhere"], ["--bind", "nowhere"]),
                (["--requirepass"], ["--bind", "0.0.0.0"])):  # a password comes first
            with self.subTest(words=words):
                port = () if "--port" in words else ("--port", self.taken)
                self.refused((USAGE,), parts, *port, *words)

    def test_a_unix_socket_that_cannot_be(self):
        for path in ("no/such/folder/server.sock", "x" * 200):
            self.refused((USAGE, NOT_POSSIBLE), [path], "--port", str(free_port()),
                         "--unixsocket", path)


if __name__ == "__main__":
    main()

"""One client's requests, however long they take, delay neither another client nor the end of the
server. The test checks the order of replies and the server's own figures: no times."""

import os
import pathlib
import re
import signal
import subprocess
import unittest

from case import Program, main, start_ours
from peer import END_S, START_S
from wire import CLOSED, encode

PONG = b"+PONG\r\n"
VALUE = 32 << 20
MANY = 3000  # some ms each: far more work than the other client's requests
FORCED = 4


class Started(unittest.TestCase):
    """Each test starts its own server."""

    def start(self, *options):
        peer = start_ours("--memory", "256MiB", *options)
        self.addCleanup(peer.end)
        return peer

    def connect(self, peer):
        wire = peer.connect()
        self.addCleanup(wire.close)
        return wire

    def with_long_value(self, peer):
        wire = self.connect(peer)
        self.assertEqual(wire.request("SETRANGE", "long", VALUE - 1, "x"), b":%d\r\n" % VALUE)
        return wire

    def await_exec(self, peer):
        """Until a transaction is in progress."""
        with peer.connect() as other:
            while b" cmd=exec " not in other.request("CLIENT", "LIST"):
                pass


class Turns(Started):
    """The other client has its replies before the hog has all of those it waits for."""

    def check_others_are_served(self, peer, hog, last):
        other = self.connect(peer)
        for _ in range(20):
            self.assertEqual(other.request("PING"), PONG)
        self.assertNotIn(last, hog.come())

    def test_a_pipeline(self):
        peer = self.start()
        hog = self.with_long_value(peer)
        hog.send(encode(["BITCOUNT", "long"]) * MANY + encode(["ECHO", "the end"]))
        self.check_others_are_served(peer, hog, b"the end")

    def test_one_request(self):
        peer = self.start()
        hog = self.with_long_value(peer)
        hog.send(encode(["MULTI"]) + encode(["BITCOUNT", "long"]) * MANY + encode(["EXEC"]))
        self.check_others_are_served(peer, hog, b"*%d" % MANY)

    def test_a_pipeline_beside_one_request(self):
        """The events of the one do not delay the fiber of the other, either."""
        peer = self.start()
        hog = self.with_long_value(peer)
        hog.send(encode(["BITCOUNT", "long"]) * MANY + encode(["ECHO", "the end"]))
        short = self.connect(peer)
        short.send(encode(["MULTI"]) + encode(["BITCOUNT", "long"]) * 10 + encode(["EXEC"]))
        for _ in range(12):
            self.assertNotEqual(short.reply(), CLOSED)
        self.assertNotIn(b"the end", hog.come())

    def test_who_is_sent_away_is_not_served_to_the_end(self):
        """C10: also if no reply shows that the connection is closed."""
        peer = self.start()
        self.with_long_value(peer)
        hog, other = self.connect(peer), self.connect(peer)
        number = hog.request("CLIENT", "ID")[1:-2]
        # Few bytes, which are read at once.
        hog.send(b"client reply off\r\n" + b"bitcount long\r\n" * 200 + b"set the end\r\n")
        self.assertEqual(other.request("CLIENT", "KILL", "ID", number), b":1\r\n")
        self.assertEqual(hog.reply(), CLOSED)
        while b"id=%b " % number in other.request("CLIENT", "LIST"):
            pass
        self.assertEqual(other.request("EXISTS", "the"), b":0\r\n")


class Workers(Started):
    CLIENTS = 20

    def descriptors(self, wire):
        """{port of the client: descriptor of the server}."""
        listed = wire.request("CLIENT", "LIST").decode()
        return {int(port): int(fd)
                for port, fd in re.findall(r" addr=127.0.0.1:(\d+) .*? fd=(\d+) ", listed)}

    def watched(self, peer):
        """The descriptors that each event loop waits for."""
        folder = pathlib.Path(f"/proc/{peer.pid}/fdinfo")
        return [set(map(int, re.findall(r"^tfd:\s+(\d+)", info.read_text(), re.M)))
                for info in folder.iterdir()]

    def test_clients_come_to_the_worker_that_has_least_to_do(self):
        """Clients that arrive while one worker has a long request: without the measure, it got half
        of them."""
        peer = self.start("--workers", "2")
        hog = self.with_long_value(peer)
        hog.send(encode(["MULTI"]) + encode(["BITCOUNT", "long"]) * MANY + encode(["EXEC"]))
        self.await_exec(peer)
        idle = [self.connect(peer) for _ in range(self.CLIENTS)]
        asks = self.connect(peer)
        while len(self.descriptors(asks)) < self.CLIENTS + 2:
            pass  # until all are accepted
        descriptors = self.descriptors(asks)
        of = {wire: descriptors[wire.socket.getsockname()[1]] for wire in (hog, *idle)}
        beside, = [fds for fds in self.watched(peer) if of[hog] in fds]
        self.assertEqual([wire for wire in idle if of[wire] in beside], [])
        self.assertNotIn(b"*%d" % MANY, hog.come())


class Ending(Started):
    def busy(self, *options):
        """A server with a request that takes far longer than any wait here."""
        peer = self.start(*options)
        hog = self.with_long_value(peer)
        count = 10 * MANY
        hog.send(encode(["MULTI"]) + encode(["BITCOUNT", "long"]) * count + encode(["EXEC"]))
        self.await_exec(peer)
        return peer

    def test_a_request_that_runs_does_not_delay_it_beyond_its_limit(self):
        peer = self.busy("--shutdown-timeout", "0")
        peer.terminate()
        self.assertEqual(peer.exit_code(), FORCED, peer.said())
        self.assertRegex(peer.said(), r"keywayd: requests still run 5 s after the shutdown began: "
                                      r"it stops without their replies\n")

    def test_who_tells_it_again_does_not_wait(self):
        for second in (signal.SIGTERM, signal.SIGINT):
            peer = self.busy("--shutdown-timeout", "3600")
            peer.terminate()
            while peer.alive():  # signals that come together are one
                peer.process.send_signal(second)
            self.assertEqual(peer.exit_code(), FORCED, peer.said())
            self.assertRegex(peer.said(), r"keywayd: second signal to stop: stopped at once")

    def test_a_path_is_gone_when_it_ends_so(self):
        peer = self.busy("--shutdown-timeout", "0", "--unixsocket", "server.sock")
        self.assertTrue((peer.folder / "server.sock").exists())
        peer.terminate()
        self.assertEqual(peer.exit_code(), FORCED, peer.said())
        self.assertFalse((peer.folder / "server.sock").exists())


class Signals(Started):
    def ignored(self, peer):
        mask = re.search(r"^SigIgn:\s(\w+)$", pathlib.Path(f"/proc/{peer.pid}/status").read_text(),
                         re.M)
        return int(mask[1], 16)

    def test_a_hang_up_and_a_pipe_without_reader_are_ignored(self):
        peer = self.start()
        wire = self.connect(peer)
        for which in (signal.SIGHUP, signal.SIGPIPE):
            self.assertTrue(self.ignored(peer) >> (which - 1) & 1, which)
            peer.process.send_signal(which)
            self.assertEqual(wire.request("PING"), PONG)

    def test_its_output_may_be_closed(self):
        reader, writer = os.pipe()
        os.close(reader)
        with subprocess.Popen([Program.keywayd, "--port", "0", "--memory", "64MiB", "--unixsocket",
                               "closed.sock"], stdin=subprocess.DEVNULL, stdout=writer,
                              stderr=writer) as process:
            os.close(writer)
            self.addCleanup(process.kill)
            self.addCleanup(pathlib.Path("closed.sock").unlink, missing_ok=True)
            while not pathlib.Path("closed.sock").exists():
                self.assertIsNone(process.poll())
            process.terminate()
            self.assertEqual(process.wait(END_S + START_S), 0)


if __name__ == "__main__":
    main()

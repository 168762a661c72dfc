"""TLS: accepted clients and versions, and that no other client harms the server."""

import random
import select
import shutil
import socket
import ssl
import subprocess
import tempfile
import time
import unittest
import warnings

from case import Program, main, redis_plays_both, start_ours
from certificates import Authority
from peer import END_S, free_port
from wire import CLOSED, DEADLINE_S, Wire, encode

PONG = b"+PONG\r\n"
USAGE = 2


def setUpModule():
    if redis_plays_both():
        raise unittest.SkipTest("of keywayd only")
    Files.folder = tempfile.mkdtemp(prefix="keyway-tls-")
    unittest.addModuleCleanup(shutil.rmtree, Files.folder, ignore_errors=True)
    Files.ours, Files.others = (Authority(Files.folder, name) for name in ("ours", "others"))
    Files.cert, Files.key = Files.ours.sign("server")
    Files.client = Files.ours.sign("client")
    Files.stranger = Files.others.sign("stranger")


class Files:
    """Set once by setUpModule()."""


class Tls(unittest.TestCase):
    def start(self, *options):
        self.port = free_port()
        self.peer = start_ours("--tls-port", str(self.port), "--tls-cert", Files.cert, "--tls-key",
                               Files.key, *options)
        self.addCleanup(self.peer.end)

    def tcp(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=DEADLINE_S)

    def connect(self, certificate=None, version=None):
        context = ssl.create_default_context(cafile=Files.ours.file)
        if certificate:
            context.load_cert_chain(*certificate)
        if version:
            context.minimum_version = context.maximum_version = version
        plain = self.tcp()
        self.addCleanup(plain.close)
        wire = Wire(context.wrap_socket(plain, server_hostname="127.0.0.1"))
        self.addCleanup(wire.close)
        return wire

    def check_serves(self):
        self.assertEqual(self.connect().request("PING"), PONG)
        with self.peer.connect() as plain:  # the other port
            self.assertEqual(plain.request("PING"), PONG)


class Serves(Tls):
    def setUp(self):
        self.start()

    def test_versions(self):
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            wire = self.connect(version=version)
            self.assertEqual(wire.request("PING"), PONG)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_ciphers("ALL:@SECLEVEL=0")
        with warnings.catch_warnings(action="ignore"):  # deprecated
            context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
        with self.tcp() as plain, self.assertRaises(OSError):
            context.wrap_socket(plain)
        self.check_serves()

    def test_long_pipelines_and_values(self):
        wire = self.connect()
        value = random.Random(1).randbytes(5_000_000)
        self.assertEqual(wire.request("SET", "k", value), b"+OK\r\n")
        self.assertEqual(wire.request("GET", "k"), b"$%d\r\n%b\r\n" % (len(value), value))
        wire.send(b"".join(encode(["INCR", "n"]) for _ in range(5000)))
        for number in range(1, 5001):
            self.assertEqual(wire.reply(), b":%d\r\n" % number)
        self.assertEqual(wire.request("QUIT"), b"+OK\r\n")
        self.assertEqual(wire.reply(), CLOSED)  # with a goodbye: Python would say if there is none

    def test_redis_cli(self):
        cli = ["redis-cli", "--tls", "--cacert", Files.ours.file, "-p", str(self.port)]
        done = subprocess.run([*cli, "SET", "k", "v"], capture_output=True, text=True, check=False,
                              timeout=END_S)
        self.assertEqual(done.stdout, "OK\n", done.stderr)
        done = subprocess.run([*cli, "-r", "2", "GET", "k"], capture_output=True, text=True,
                              check=False, timeout=END_S)
        self.assertEqual(done.stdout, "v\nv\n", done.stderr)

    def test_plain_bytes_harm_nobody(self):
        noise = random.Random(2)
        known = self.connect()
        for data in (encode(["PING"]), b"\r\n", b"\x16\x03\x01\xff\xff", b"\x16\x03\x01\x00\x05hello",
                     *(noise.randbytes(noise.randrange(1, 3000)) for _ in range(40))):
            with Wire(self.tcp()) as wire:
                wire.send(data)
                wire.finish()
                self.assertNotIn(b"+PONG", wire.rest())
            self.assertEqual(known.request("PING"), PONG)
        self.check_serves()

    def test_what_was_sent_is_answered_at_the_end(self):
        wires = [self.connect() for _ in range(5)]
        count = 300
        for wire in wires:
            wire.send(encode(["ECHO", "x" * 20]) * count)
        for wire in wires:
            self.assertEqual(wire.reply(), b"$20\r\n" + b"x" * 20 + b"\r\n")
        other = self.connect()
        while any(wire.unarrived() for wire in wires):
            self.assertEqual(other.request("PING"), PONG)
        self.peer.terminate()
        for wire in wires:
            self.assertEqual(wire.rest().count(b"$20\r\n"), count - 1)
        self.assertEqual(self.peer.exit_code(), 0, self.peer.said())

    def test_nobody_who_stalls_delays_the_end(self):
        stalls = [self.tcp() for _ in range(3)]
        for plain, data in zip(stalls, (b"", b"\x16\x03\x01", b"\x16\x03\x01\x01\x00\x01")):
            self.addCleanup(plain.close)
            plain.sendall(data)
        self.check_serves()
        self.peer.terminate()
        self.assertEqual(self.peer.exit_code(), 0, self.peer.said())


class InTime(Tls):
    def test_a_handshake_that_stalls_ends(self):
        self.start("--auth-timeout", "1")
        known = self.connect()
        for data in (b"", b"\x16\x03\x01\x02\x00\x01"):
            with self.tcp() as plain:
                plain.sendall(data)
                until = time.monotonic() + DEADLINE_S
                while not select.select([plain], [], [], 0.02)[0]:
                    self.assertEqual(known.request("PING"), PONG)
                    self.assertLess(time.monotonic(), until, "the connection stays open")
                self.assertEqual(plain.recv(100), b"")
        self.assertEqual(known.request("PING"), PONG)

    def test_who_asks_for_nothing_is_sent_away(self):
        self.start("--timeout", "1")
        wire = self.connect()
        self.assertEqual(wire.request("PING"), PONG)
        self.assertEqual(wire.reply(), CLOSED)


class Clients(Tls):
    """S1. In TLS 1.3 a client learns that it was refused when it reads."""

    def served(self, certificate):
        try:
            return self.connect(certificate).request("PING") == PONG
        except OSError:
            return False

    def test_a_certificate_is_demanded(self):
        for options in ((), ("--tls-auth-clients", "yes")):
            self.start("--tls-ca", Files.ours.file, *options)
            self.assertTrue(self.served(Files.client))
            self.assertFalse(self.served(None))
            self.assertFalse(self.served(Files.stranger))
            self.assertTrue(self.served(Files.client))

    def test_a_certificate_is_looked_at_where_there_is_one(self):
        self.start("--tls-ca", Files.ours.file, "--tls-auth-clients", "optional")
        self.assertTrue(self.served(Files.client))
        self.assertTrue(self.served(None))
        self.assertFalse(self.served(Files.stranger))

    def test_none_is_asked_for(self):
        self.start("--tls-auth-clients", "no")
        self.assertTrue(self.served(None))
        self.assertTrue(self.served(Files.stranger))

    def test_a_password_is_asked_for_all_the_same(self):
        self.start("--tls-ca", Files.ours.file, "--requirepass", "secret")
        wire = self.connect(Files.client)
        self.assertEqual(wire.request("PING"), b"-NOAUTH Authentication required.\r\n")
        self.assertEqual(wire.request("AUTH", "secret"), b"+OK\r\n")
        self.assertEqual(wire.request("PING"), PONG)


class Ports(Tls):
    def test_tls_alone(self):
        port = free_port()
        server = subprocess.Popen(
            [Program.keywayd, "--port", "0", "--tls-port", str(port), "--tls-cert", Files.cert,
             "--tls-key", Files.key, "--memory", "64MiB", "--cluster", "on"],
            stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait, END_S)
        self.addCleanup(server.terminate)
        self.assertEqual(server.stdout.readline(),
                         f"keywayd: ready on 127.0.0.1:{port}, with TLS\n")
        listening = subprocess.run(["ss", "-tlnpH"], capture_output=True, text=True, check=True)
        ours = [line for line in listening.stdout.splitlines() if f"pid={server.pid}," in line]
        self.assertEqual(len(ours), 1, ours)
        self.port = port
        wire = self.connect()
        self.assertEqual(wire.request("PING"), PONG)
        self.assertIn(b"\r\n:%d\r\n" % port, wire.request("CLUSTER", "SLOTS"))
        self.assertNotIn(b"$4\r\nport\r\n", wire.request("CLUSTER", "SHARDS"))


class InACluster(Tls):
    """As Redis with tls-cluster: a client receives addresses that it can use with its own
    protocol."""

    def test_a_client_hears_of_ports_that_speak_as_it_does(self):
        self.start("--cluster", "on")
        with self.peer.connect() as plain:
            for wire, port in ((self.connect(), self.port), (plain, self.peer.port)):
                self.assertIn(b"\r\n:%d\r\n" % port, wire.request("CLUSTER", "SLOTS"))
                self.assertIn(b" 127.0.0.1:%d@" % port, wire.request("CLUSTER", "NODES"))
                # Here are both, by name.
                self.assertIn(b"$4\r\nport\r\n:%d\r\n$8\r\ntls-port\r\n:%d\r\n" % (
                    self.peer.port, self.port), wire.request("CLUSTER", "SHARDS"))


class Refused(unittest.TestCase):
    """One sentence, which names the option."""

    def refused(self, option, *words):
        done = subprocess.run(
            [Program.keywayd, "--port", str(free_port()), "--memory", "64MiB", *words],
            capture_output=True, text=True, check=False, timeout=END_S, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, rf"\Akeywayd: {option}[^\n]+\n\Z", words)

    def test_files_that_are_not_what_they_should_be(self):
        port = ("--tls-port", str(free_port()))
        locked = Files.ours.lock_key(Files.key)
        for option, cert, key, more in (
                ("--tls-cert", "no/such.crt", Files.key, ()),
                ("--tls-cert", Files.key, Files.key, ()),
                ("--tls-cert", "/dev/null", Files.key, ()),
                ("--tls-key", Files.cert, "no/such.key", ()),
                ("--tls-key", Files.cert, Files.cert, ()),
                ("--tls-key", Files.cert, Files.client[1], ()),  # the key of another certificate
                ("--tls-key", Files.cert, locked, ()),
                ("--tls-ca", Files.cert, Files.key, ("--tls-ca", "no/such.crt")),
                ("--tls-ca", Files.cert, Files.key, ("--tls-ca", "/dev/null"))):
            with self.subTest(cert=cert, key=key, more=more):
                self.refused(option, *port, "--tls-cert", cert, "--tls-key", key, *more)

    def test_options_that_do_not_go_together(self):
        port = ("--tls-port", str(free_port()))
        both = ("--tls-cert", Files.cert, "--tls-key", Files.key)
        self.refused("--tls-port", *port)
        self.refused("--tls-port", *port, *both[:2])
        self.refused("--tls-cert", *both)
        self.refused("--tls-ca", "--tls-ca", Files.ours.file)
        self.refused("--tls-auth-clients", *port, *both, "--tls-auth-clients", "yes")
        self.refused("--tls-auth-clients", *port, *both, "--tls-auth-clients", "maybe")

    def test_a_certificate_is_no_password(self):
        self.refused("--bind", "--bind", "0.0.0.0", "--tls-port", str(free_port()), "--tls-cert",
                     Files.cert, "--tls-key", Files.key, "--tls-ca", Files.ours.file)


if __name__ == "__main__":
    main()

"""How kvctl reaches a server, how it logs in, and its messages on failure."""

import socket
import threading
import unittest

from case import Case, Program, call, main
from certificates import authority_of
from peer import free_port

SECRET = "open sesame"


class Connect(Case):
    REDIS_OPTIONS = ("--requirepass", SECRET)

    def setUp(self):
        pass  # nothing is written

    def test_a_password_comes_from_the_environment_an_option_or_a_uri(self):
        port = self.redis.port
        for name in ("KVCTL_PASSWORD", "REDISCLI_AUTH"):
            answer = self.kvctl(self.redis, "PING", **{name: SECRET})
            self.assert_says(answer, b"PONG\n")
            self.assertEqual(answer.err, b"")
        self.assert_says(self.kvctl(self.redis, "-3", "PING", KVCTL_PASSWORD=SECRET), b"PONG\n")
        for words in (("-p", port, "-a", SECRET),
                      ("-u", f"redis://:{SECRET.replace(' ', '%20')}@127.0.0.1:{port}")):
            answer = call(Program.kvctl, *words, "PING")
            self.assert_says(answer, b"PONG\n")
            self.assertIn(b"others can see a password", answer.err)
            self.assertEqual(call(Program.kvctl, *words, "--no-auth-warning", "PING").err, b"")

    def test_without_the_right_password_nothing_is_asked(self):
        self.assert_refuses(self.kvctl(self.redis, "PING"), 3, b"wants a password")
        for user in ((), ("--user", "nobody")):
            answer = self.kvctl(self.redis, *user, "PING", KVCTL_PASSWORD="wrong")
            self.assert_refuses(answer, 3, b"refused", b"WRONGPASS")
            self.assertNotIn(b"wrong", answer.err)
        self.assert_refuses(self.kvctl(self.redis, "--askpass", "PING"), 2, b"--askpass")

    def test_a_server_that_is_not_there(self):
        port = free_port()
        self.assert_refuses(call(Program.kvctl, "-p", port, "PING"), 3, b"127.0.0.1:%d" % port)
        self.assert_refuses(call(Program.kvctl, "-s", "/nonexistent/socket", "PING"), 3,
                            b"/nonexistent/socket")
        self.assert_refuses(call(Program.kvctl, "-h", "no.such.host.invalid", "PING"), 3,
                            b"no.such.host.invalid")

    def test_a_server_that_never_answers(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            self.assert_refuses(call(Program.kvctl, "-p", silent.getsockname()[1], "-t", "0.2", "PING"),
                                3, b"did not answer")

    def test_a_server_that_goes_away(self):
        """It answers the PING of the connection, and closes when it is asked."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            def once():
                client, _ = server.accept()
                with client:
                    client.recv(1000)
                    client.sendall(b"+PONG\r\n")
                    client.recv(1000)
            thread = threading.Thread(target=once)
            thread.start()
            self.addCleanup(thread.join)
            self.assert_refuses(call(Program.kvctl, "-p", server.getsockname()[1], "INCR", "n"), 3,
                                b"closed the connection")

    def test_unix_sockets(self):
        path = self.folder() / "socket"
        self.start(Program.keywayd, "--unixsocket", str(path))
        self.assert_says(call(Program.kvctl, "-s", path, "ECHO", "x"), b"x\n")
        self.assert_says(call(Program.kvctl, "-u", f"unix:{path}", "ECHO", "x"), b"x\n")

    def test_databases(self):
        peer = self.start(Program.redis, "--databases", "4")
        self.assert_says(self.kvctl(peer, "-n", "3", "SET", "here", "x"), b"OK\n")
        self.assert_says(self.kvctl(peer, "GET", "here"), b"\n")
        self.assert_says(self.kvctl(peer, "-u", f"redis://127.0.0.1:{peer.port}/3", "GET", "here"),
                         b"x\n")
        self.assert_refuses(self.kvctl(peer, "-n", "9", "PING"), 3, b"no database 9")

    def test_tls(self):
        authority, port = authority_of(self), free_port()
        cert, key = authority.sign("server")
        self.start(Program.redis, "--tls-port", str(port), "--tls-cert-file", cert,
                   "--tls-key-file", key, "--tls-ca-cert-file", authority.file)
        at = ("-h", "localhost", "-p", port)
        files = ("--cacert", authority.file, "--cert", cert, "--key", key)
        self.assert_says(call(Program.kvctl, *at, "--tls", *files, "ECHO", "x"), b"x\n")
        big = b"v" * 2_000_000
        self.assert_says(call(Program.kvctl, *at, "--tls", *files, "-x", "SET", "k", stdin=big),
                         b"OK\n")
        self.assert_says(call(Program.kvctl, "-u", f"rediss://localhost:{port}", *files, "GET", "k"),
                         big + b"\n")
        self.assert_refuses(call(Program.kvctl, *at, "--tls", "PING"), 3, b"TLS")
        self.assert_refuses(call(Program.kvctl, *at, "-t", "5", "PING"), 3)

    def test_usage(self):
        for words in (("--nothing",), ("--scan", "--stat"), ("-x",), ("-p", "x", "PING"),
                      ("-u", "http://h", "PING"), ("--raw", "--csv", "PING")):
            with self.subTest(words=words):
                self.assert_refuses(call(Program.kvctl, *words), 2)
        self.assertIn(b"Exit codes:", call(Program.kvctl, "--help").out)
        self.assertRegex(call(Program.kvctl, "--version").out, rb"\Akvctl \d")


if __name__ == "__main__":
    main()

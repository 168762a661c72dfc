"""What kvctl prints is what redis-cli prints, byte for byte, of the same replies of the same server."""

import itertools
import json
import unittest

from case import Case, call, main

STYLES = ("--no-raw", "--raw", "--csv", "--json")
VERSIONS = ("-2", "-3")

# Of both servers.
COMMON = (
    ("PING",), ("PING", "two words"), ("ECHO", b"a\n\"b\"\\\t\x01\x7f\xc3\xa9"), ("GET", "k"),
    ("GET", "absent"), ("SET", "k", "v"), ("SET", "k", "v", "NX"), ("INCR", "n"), ("INCR", "k"),
    ("MGET", "k", "absent", "n"), ("MGET", *("k",) * 11), ("KEYS", "*"), ("KEYS", "nothing"),
    ("SCAN", "0"), ("TTL", "k"), ("GETRANGE", "k", "0", "-1"), ("SETBIT", "b", "7", "1"),
    ("LCS", "k", "k", "IDX"), ("NO", "such", "command"), ("GET",), ("CLIENT", "GETNAME"),
    ("COMMAND", "INFO", "get", "nothing"), ("HELLO", "9"), ("AUTH", "x"),
)
# Replies that Keyway has no command for.
OF_REDIS = tuple(("DEBUG", "PROTOCOL", kind) for kind in (
    "string", "integer", "double", "null", "array", "set", "map", "push", "verbatim", "true",
    "false")) + (
    ("EVAL", "return {1,{2,{3,'x'}},{},{err='E x'},{map={a=1}},{double=3.1},false,{set={b=true}}}",
     "0"),
    ("EVAL", "return {map={a={},b={set={}},c={map={x={1,2}}},d=1,"
     "e={map={x=1}},f={1},g={verbatim_string={format='txt',string='a\\nb'}}}}", "0"),
    ("HGETALL", "absent"),
    ("CONFIG", "GET", "maxmemory*"), ("CLUSTER", "INFO"), ("CLUSTER", "NODES"),
    ("MEMORY", "DOCTOR"), ("LATENCY", "DOCTOR"), ("OBJECT", "HELP"),
)
SCRIPT = b"""set a 1
get a

no such command
get "a
incr a
3 incr a
mget a absent
set "with blanks" "x\\xff\\n"
get 'with blanks'
quit
get a
"""


class Output(Case):
    def setUp(self):
        super().setUp()
        for peer in self.servers:
            with peer.connect() as wire:
                self.assertEqual(wire.request("MSET", "k", b"\x00text\n", "n", "5"), b"+OK\r\n")

    def compare(self, peer, requests, styles=STYLES, versions=VERSIONS):
        for style, version, words in itertools.product(styles, versions, requests):
            with self.subTest(server=peer.program, options=(style, version), words=words):
                self.setUp()
                theirs = call("redis-cli", "-p", peer.port, style, version, *words)
                self.setUp()
                ours = self.kvctl(peer, style, version, *words)
                if style == "--json" and (b"error:" in theirs.out or theirs.out.startswith(b"ERR")):
                    # No JSON: here we differ.
                    self.assertIn('"error":', json.dumps(json.loads(ours.out)))
                else:
                    self.assertEqual(ours, theirs)

    def test_replies_of_keywayd(self):
        self.compare(self.keywayd, COMMON)

    def test_replies_of_redis(self):
        self.compare(self.redis, COMMON, ("--no-raw",), ("-2",))
        self.compare(self.redis, OF_REDIS)

    def test_json_can_be_read(self):
        for words in COMMON:
            answer = self.kvctl(self.keywayd, "--json", *words)
            with self.subTest(words=words):
                json.loads(answer.out.decode())

    def test_commands_from_stdin(self):
        for options in ((), ("--no-raw",), ("--csv",), ("-n", "0")):
            for peer in self.servers:
                with self.subTest(server=peer.program, options=options):
                    self.setUp()
                    theirs = call("redis-cli", "-p", peer.port, *options, stdin=SCRIPT)
                    self.setUp()
                    self.assertEqual(self.kvctl(peer, *options, stdin=SCRIPT), theirs)

    def test_values_from_stdin(self):
        value = bytes(range(256)) * 300
        for words in (("-x", "SET", "big"), ("-X", "here", "SET", "big", "here", "EX", "100")):
            with self.subTest(words=words):
                self.assert_says(self.kvctl(self.keywayd, *words, stdin=value), b"OK\n")
                self.assert_says(self.kvctl(self.keywayd, "GET", "big"), value + b"\n")
        self.assert_refuses(self.kvctl(self.keywayd, "-X", "nowhere", "GET", "k"), 2, b"nowhere")

    def test_repeats(self):
        self.assert_says(self.kvctl(self.keywayd, "-r", "3", "-i", "0.01", "INCR", "c"),
                         b"1\n2\n3\n")

    def test_an_error_ends_all_where_that_is_asked_for(self):
        error = b"ERR value is not an integer or out of range\n"
        answer = self.kvctl(self.keywayd, "-e", "INCR", "k")
        self.assertEqual((answer.out, answer.err, answer.code), (b"", error, 1))
        self.assertEqual(answer, call("redis-cli", "-p", self.keywayd.port, "-e", "INCR", "k"))
        self.assert_says(self.kvctl(self.keywayd, "INCR", "k"), error + b"\n")
        answer = self.kvctl(self.keywayd, "-e", stdin=b"incr n\nincr k\nincr n\n")
        self.assertEqual((answer.out, answer.err, answer.code), (b"6\n", error, 1))


if __name__ == "__main__":
    main()

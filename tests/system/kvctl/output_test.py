"""kvctl prints the same bytes as redis-cli for the same replies of the same server."""

import itertools
import json
import re
import unittest

from case import Case, Program, call, main

STYLES = ("--no-raw", "--raw", "--csv", "--json")
VERSIONS = ("-2", "-3")

# Commands of both servers.
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


def quoted(word):
    """As both programs read it from a line."""
    word = word if isinstance(word, bytes) else word.encode()
    return b'"' + b"".join(b"\\x%02x" % byte for byte in word) + b'"'


def with_errors_as_objects(output):
    """The output of redis-cli, changed to kvctl's where the two differ in JSON."""
    text = rb'"(?:[^"\\]|\\.)*"'
    output = re.sub(rb"error:(%b)" % text, rb'{"error":\1}', output)
    return re.sub(rb"(?m)^(ERR .*)$", rb'{"error":"\1"}', output)


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

    def both(self, peer, *words, stdin=b""):
        """The outputs of redis-cli and kvctl, each on a store as setUp() makes it."""
        answers = []
        for program in ("redis-cli", Program.kvctl):
            self.setUp()
            answers.append(call(program, "-p", peer.port, *words, stdin=stdin))
        return answers

    def compare(self, peer, requests):
        """All of them from stdin, in each style and version."""
        lines = b"".join(b" ".join(map(quoted, words)) + b"\n" for words in requests)
        for style, version in itertools.product(STYLES, VERSIONS):
            with self.subTest(server=peer.program, options=(style, version)):
                theirs, ours = self.both(peer, style, version, stdin=lines)
                if style == "--json":
                    theirs.out = with_errors_as_objects(theirs.out)
                self.assertEqual(ours, theirs)

    def test_replies_of_keywayd(self):
        self.compare(self.keywayd, COMMON)

    def test_replies_of_redis(self):
        self.compare(self.redis, COMMON + OF_REDIS)

    def test_a_command_on_the_command_line(self):
        for words in (("GET", "k"), ("GET", "absent"), ("MGET", "k", "n"), ("INCR", "k"),
                      ("NO", "such"), ("INFO", "nothing"), ("SET", "k", "")):
            for peer, style in itertools.product(self.servers, ((), *((s,) for s in STYLES[:3]))):
                with self.subTest(server=peer.program, style=style, words=words):
                    theirs, ours = self.both(peer, *style, *words)
                    self.assertEqual(ours, theirs)

    def test_json_can_be_read(self):
        for words in COMMON:
            answer = self.kvctl(self.keywayd, "--json", *words)
            with self.subTest(words=words):
                json.loads(answer.out.decode())

    def test_commands_from_stdin(self):
        for options in ((), ("--no-raw",), ("--csv",), ("-n", "0")):
            for peer in self.servers:
                with self.subTest(server=peer.program, options=options):
                    theirs, ours = self.both(peer, *options, stdin=SCRIPT)
                    self.assertEqual(ours, theirs)

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

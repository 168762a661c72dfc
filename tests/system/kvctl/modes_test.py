"""What kvctl does beside sending commands: bulk loads, scans, sizes, latency, views."""

import json
import re
import unittest

from case import Case, Program, main
from wire import encode

MANY = 5000


class Modes(Case):
    def fill(self, peer, count=MANY):
        load = b"".join(encode((b"SET", b"key:%d" % i, b"v" * (i % 100))) for i in range(count))
        self.assert_says(self.kvctl(peer, "--pipe", stdin=load),
                         b"errors: 0, replies: %d\n" % count)

    def test_a_bulk_load_is_resp_or_lines(self):
        lines = b"".join(b"SET line:%d \"a b %d\"\r\n" % (i, i) for i in range(MANY))
        for peer in self.servers:
            self.fill(peer)
            self.assert_says(self.kvctl(peer, "--pipe", stdin=lines + b"\n\nSET last x"),
                             b"errors: 0, replies: %d\n" % (MANY + 1))
            self.assert_says(self.kvctl(peer, "MGET", "key:4950", "line:7", "last"),
                             b"v" * 50 + b"\na b 7\nx\n")
            self.assert_says(self.kvctl(peer, "DBSIZE"), b"%d\n" % (2 * MANY + 1))

    def test_errors_of_a_bulk_load_are_counted(self):
        answer = self.kvctl(self.keywayd, "--pipe", stdin=b"SET k x\nINCR k\nNOTHING\nGET k\n")
        self.assertEqual((answer.out, answer.code), (b"errors: 2, replies: 4\n", 1))
        self.assertIn(b"ERR value is not an integer", answer.err)

    def test_a_mistake_in_a_bulk_load_is_told_by_its_place(self):
        for wrong, why in ((b"SET k \"x\n", b"unbalanced quotes"),
                           (b"*2\r\n$3\r\nGET\r\n$1\r\nk", b"cut off"),
                           (b"*1\r\n:5\r\n", b"expected '$'")):
            with self.subTest(wrong=wrong):
                answer = self.kvctl(self.keywayd, "--pipe", stdin=b"SET a 1\nSET b 2\n" + wrong)
                self.assertEqual((answer.out, answer.code), (b"errors: 0, replies: 2\n", 2))
                self.assertIn(b"request 3 of stdin", answer.err)
                self.assertIn(why, answer.err)

    def test_replies_that_are_much_longer_than_requests(self):
        """The server waits for its replies to be read: a load that only wrote would wait for ever."""
        load = encode((b"SET", b"big", b"x" * 1_000_000)) + b"GET big\n" * 200
        self.assert_says(self.kvctl(self.keywayd, "--pipe", stdin=load),
                         b"errors: 0, replies: 201\n")

    def test_a_scan_shows_each_key(self):
        wanted = sorted(b"key:%d" % i for i in range(MANY))
        for peer in self.servers:
            self.fill(peer)
            answer = self.kvctl(peer, "--scan", "--count", "100")
            self.assertEqual(sorted(answer.out.splitlines()), wanted)
            answer = self.kvctl(peer, "--scan", "--pattern", "key:49?9")
            self.assertEqual(len(answer.out.splitlines()), 10)
            answer = self.kvctl(peer, "--scan", "--pattern", "key:1", "--no-raw")
            self.assert_says(answer, b'"key:1"\n')
            self.assert_says(self.kvctl(peer, "--scan", "--pattern", "key:1", "--json"), b'"key:1"\n')

    def test_the_longest_values(self):
        for peer in self.servers:
            self.fill(peer, 300)
            self.kvctl(peer, "-x", "SET", "longest one", stdin=b"z" * 100_000)
            answer = self.kvctl(peer, "--bigkeys")
            self.assertEqual(answer.code, 0, answer)
            self.assertIn(b"301 keys\n", answer.out)
            self.assertIn(b'301 string: %d bytes' % (100_000 + 3 * sum(range(100))), answer.out)
            self.assertRegex(answer.out, rb'The largest:\n +100000 bytes    string  "longest one"\n')
        self.kvctl(self.redis, "RPUSH", "list", *range(7))
        self.assertRegex(self.kvctl(self.redis, "--bigkeys").out, rb"1 list: 7 items")

    def test_the_keys_that_take_most_memory(self):
        self.fill(self.redis, 50)
        self.kvctl(self.redis, "-x", "SET", "largest", stdin=b"z" * 100_000)
        answer = self.kvctl(self.redis, "--memkeys")
        self.assertRegex(answer.out, rb'The largest:\n +1\d{5} bytes    string  "largest"\n')

    def test_lines_about_the_server(self):
        self.fill(self.redis, 12)
        answer = self.kvctl(self.redis, "--stat", "-r", "2", "-i", "0.01")
        lines = answer.out.splitlines()
        self.assertEqual(len(lines), 4, answer)
        self.assertTrue(lines[1].startswith(b"keys       mem"))
        self.assertRegex(lines[2], rb"\A12 +\d+\.\d\dM +1 +0 +\d+ \(\+0\) +\d+\Z")
        self.assertRegex(lines[3], rb"\A12 .* \(\+1\) +\d+\Z")

    def test_latency(self):
        number = rb"(\d+\.\d{3})"
        for peer in self.servers:
            answer = self.kvctl(peer, "--latency", "-i", "0.1")
            match = re.fullmatch(rb"%b %b %b (\d+)\n" % (number, number, number), answer.out)
            least, most, average = (float(match[i]) for i in (1, 2, 3))
            self.assertTrue(0 < least <= average <= most and int(match[4]) > 0, answer)
        told = json.loads(self.kvctl(peer, "--latency", "--json", "-i", "0.1").out)
        self.assertEqual(list(told), ["min", "max", "avg", "samples"])
        answer = self.kvctl(peer, "--latency-history", "-r", "2", "-i", "0.05", "--no-raw")
        self.assertRegex(answer.out, rb"\A(min: .* avg: .* ms \(\d+ samples\)\n){2}\Z")
        answer = self.kvctl(peer, "--latency-dist", "-r", "1", "-i", "0.1", "--no-raw")
        shares = re.findall(rb" (\d+\.\d)% #*\n", answer.out)
        self.assertAlmostEqual(sum(map(float, shares)), 100, delta=1)

    def test_what_a_server_does_not_have_is_said(self):
        self.assert_refuses(self.kvctl(self.redis, "--hotkeys"), 1, b"unknown command")
        self.assert_refuses(self.kvctl(self.redis, "locks"), 1, b"unknown command")

    def test_the_locks_of_stripes(self):
        self.assertIn(b"No stripe has been seen", self.kvctl(self.keywayd, "locks").out)
        peer = self.start(Program.keywayd, "--lock-policy", "auto")
        self.fill(peer)
        self.kvctl(peer, "--pipe", stdin=b"GET key:1\n" * MANY)
        lines = self.kvctl(peer, "locks", "3").out.splitlines()
        self.assertEqual(lines[0].split()[:5], [b"rank", b"stripe", b"kind", b"samples", b"reads"])
        self.assertEqual(len(lines), 4)
        rows = json.loads(self.kvctl(peer, "--json", "locks").out)
        self.assertEqual(len(rows), 20)
        self.assertEqual(rows, sorted(rows, key=lambda row: (-row["others"], -row["samples"])))
        self.assertEqual(set(rows[0]), {"rank", "stripe", "kind", "samples", "reads", "local",
                                        "others", "switches", "why"})

    def test_the_ranks_of_a_server_that_is_alone(self):
        self.fill(self.redis, 3)
        lines = self.kvctl(self.redis, "cluster").out.splitlines()
        self.assertEqual(lines[0].split()[:4], [b"rank", b"address", b"slots", b"keys"])
        self.assertRegex(lines[1], rb"\A0 +127.0.0.1:\d+ +all +3 +\d+\.\d\dM .*online\Z")
        row, = json.loads(self.kvctl(self.redis, "--json", "cluster").out)
        self.assertEqual((row["rank"], row["keys"], row["state"]), (0, 3, "online"))


if __name__ == "__main__":
    main()

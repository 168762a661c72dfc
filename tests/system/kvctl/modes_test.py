"""Functions of kvctl other than sending commands: bulk loads, scans, sizes, latency, views."""

import json
import re
import unittest

from case import Case, Program, main
from peer import free_port
from stand_in import StandIn
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

    def stand_in(self, answers):
        server = StandIn(answers)
        self.addCleanup(server.close)
        return server

    def test_the_hottest_keys(self):
        keys = [{"key": "user:\n1", "length": 7, "access": "read", "share": "0.25", "samples": 500,
                 "error": 0},
                {"key": "long", "length": 900, "access": "write", "share": "0.125", "samples": 250,
                 "error": 1}]
        server = self.stand_in({"KW.HOTKEYS COUNT": keys})
        answer = self.kvctl(server, "--hotkeys")
        self.assertEqual(answer.out.splitlines(), [
            b"  share   samples access key", b' 25.00%       500 read   "user:\\n1"',
            b' 12.50%       250 write  "long"... (900 bytes)'])
        self.assert_says(self.kvctl(self.stand_in({"KW.HOTKEYS COUNT": []}), "--hotkeys"),
                         b"No key has been sampled yet.\n")

    def test_the_ranks_of_a_cluster(self):
        info = ("# Stats\r\nused_memory:2048\r\ninstantaneous_ops_per_sec:7\r\n"
                "connected_clients:2\r\ntotal_commands_processed:4\r\nremote_messages:6\r\n"
                "remote_round_trips:3\r\nremote_edits_by_owners:2\r\ndb0:keys=5,expires=0\r\n")
        second = self.stand_in({"INFO": info + "fabric_silent_ranks:2\r\n"})
        shards = []
        first = self.stand_in({"INFO": info + "fabric_silent_ranks:\r\n", "CLUSTER SHARDS": shards})
        gone = free_port()
        for slots, port in (([8192, 12287], second.port), ([0, 8191], first.port),
                            ([12288, 16383], gone)):
            node = {"id": "x", "port": port, "ip": "127.0.0.1", "endpoint": "127.0.0.1",
                    "role": "master", "health": "online"}
            shards.append({"slots": slots, "nodes": [node, {**node, "role": "replica"}]})
        lines = [line.split() for line in self.kvctl(first, "cluster").out.decode().splitlines()]
        self.assertEqual(lines[1:], [
            ["0", f"127.0.0.1:{first.port}", "0-8191", "5", "2.00K", "7", "2", "1.50", "0.75",
             "online"],
            ["1", f"127.0.0.1:{second.port}", "8192-12287", "5", "2.00K", "7", "2", "1.50", "0.75",
             "online,", "waits", "for", "rank", "2"],
            ["2", f"127.0.0.1:{gone}", "12288-16383", "0", "0B", "0", "0", "0.00", "0.00", "cannot",
             "be", "reached"],
            ["all", "10", "4.00K", "14", "4", "1.50", "0.75"]])
        rows = json.loads(self.kvctl(first, "--json", "-2", "cluster").out)
        self.assertEqual([row["state"] for row in rows],
                         ["online", "online, waits for rank 2", "cannot be reached"])
        self.assertEqual([(row["requests"], row["remote_messages"], row["remote_edits_by_owners"])
                          for row in rows], [(4, 6, 2), (4, 6, 2), (0, 0, 0)])

    def test_the_locks_of_a_cluster(self):
        def row(rank, others):
            return {"rank": rank, "stripe": rank + 3, "kind": "gbh", "samples": 9, "switches": 1,
                    "reads": "0.5", "local": "1", "others": others, "why": "x"}
        second = self.stand_in({"KW.STRIPES COUNT": [row(1, "0.75")]})
        shards = []
        first = self.stand_in({"KW.STRIPES COUNT": [row(0, "2"), row(0, "0.5")],
                               "CLUSTER SHARDS": shards})
        for slots, server in (([0, 8191], first), ([8192, 16383], second)):
            shards.append({"slots": slots, "nodes": [{"port": server.port, "ip": "127.0.0.1",
                                                      "endpoint": "127.0.0.1", "role": "master",
                                                      "health": "online"}]})
        lines = [line.split() for line in self.kvctl(first, "locks").out.decode().splitlines()]
        self.assertEqual(lines[1:], [["0", "3", "gbh", "9", "50%", "100%", "2.00", "1", "x"],
                                     ["1", "4", "gbh", "9", "50%", "100%", "0.75", "1", "x"],
                                     ["0", "3", "gbh", "9", "50%", "100%", "0.50", "1", "x"]])

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

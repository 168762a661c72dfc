"""Requests of one pipeline for keys of several ranks, which a rank executes at the same time: each
client sees what it would see if they were executed one after the other, as Redis does."""

import random
import re

from case import Case, Program, main, redis_plays_both
from wire import encode

PIPELINES = 30
REQUESTS = 150


class Pipelines(Case):
    # Several ranks, too, say what one server says.
    OWN = ("--cluster", "off", "--client-output-memory", "1MiB")

    def request(self, draw):
        # Some keys have one slot: "{3}" of key3 and of the two with tags.
        number = draw.randrange(24)
        key = draw.choice((f"key{number}", f"{{{number % 4}}}a", f"{{{number % 4}}}b"))
        text = str(draw.randrange(1000)) * draw.choice((1, 1, 1, 30, 800))
        return draw.choice((
            ["GET", key], ["GET", key], ["GET", key], ["SET", key, text], ["SET", key, text],
            ["SET", key, text, "NX"], ["SET", key, "7"], ["SET", key, text, "GET"], ["INCR", key],
            ["DECRBY", key, "3"], ["APPEND", key, "x"], ["STRLEN", key], ["GETRANGE", key, "1", "3"],
            ["SETRANGE", key, "4", "range"], ["DEL", key], ["GETDEL", key], ["GETSET", key, text],
            ["EXISTS", key], ["TTL", key], ["EXPIRE", key, "1000"], ["PERSIST", key], ["GET"],
            ["INCRBYFLOAT", key, "1.5"], ["SETBIT", key, "9", "1"], ["GETBIT", key, "9"],
            ["MGET", key, "key1", "{2}a"], ["MSET", key, text, "key2", text], ["PING"], ["NOTHING"],
            ["TYPE", key], ["MULTI"], ["EXEC"], ["RENAME", key, "key3"]))

    def test_replies_are_those_of_requests_one_by_one(self):
        for seed in range(PIPELINES):
            draw = random.Random(seed)
            requests = [self.request(draw) for _ in range(REQUESTS)]
            self.flush_both()
            wires = self.connect_both()
            for wire in wires:
                wire.send_aside([b"".join(encode(request) for request in requests)])
            for number, request in enumerate(requests):
                ours, theirs = (wire.reply() for wire in wires)
                self.assertEqual(ours[:300], theirs[:300],
                                 f"seed {seed}, request {number}: {request}")

    def test_replies_that_are_long(self):
        """Of a run together more than one execution makes at once, and than all clients may keep."""
        for length in (100, 9_000, 30_000, 100_000):
            self.flush_both()
            wires = self.connect_both()
            keys = [f"key{i}" for i in range(20)]
            requests = [["SET", key, str(i) * length] for i, key in enumerate(keys)]
            requests += [request for i, key in enumerate(keys + keys)
                         for request in (["GET", key], ["APPEND", f"other{i}", key])]
            for wire in wires:
                wire.send_aside([b"".join(encode(request) for request in requests)])
            for request in requests:
                ours, theirs = (wire.reply() for wire in wires)
                self.assertTrue(ours == theirs, f"{length}: {request[:2]}: {ours[:50]}")

    def round_trips(self, wire):
        info = wire.request("INFO", "fabric").decode()
        return int(re.search(r"remote_round_trips:(\d+)", info)[1])

    def test_reads_of_other_nodes_wait_together(self):
        if Program.ranks == 0 or redis_plays_both():
            return  # there are no other nodes
        self.flush_both()
        wire = self.ours.connect()
        self.addCleanup(wire.close)
        keys = [f"key{i}" for i in range(160)]
        for key in keys:
            wire.request("SET", key, "v" * 50)
        waits = []
        for _ in range(4):  # from the second time on their places are known
            before = self.round_trips(wire)
            for at in range(0, len(keys), 32):
                part = keys[at:at + 32]
                wire.send(b"".join(encode(["GET", key]) for key in part))
                for _ in part:
                    self.assertEqual(wire.reply(), b"$50\r\n" + b"v" * 50 + b"\r\n")
            waits.append(self.round_trips(wire) - before)
        # 80 keys are on the two ranks of the other node: each answers once for each pipeline. More,
        # if a pipeline comes in two parts, or the server stands still and its permits end.
        self.assertGreater(min(waits), 0)
        self.assertLessEqual(min(waits), 30)

    def test_a_watched_key_is_read_after_it_is_watched(self):
        self.flush_both()
        wires = self.connect_both()
        requests = [["SET", "key1", "1"], ["WATCH", "key2"], ["GET", "key1"], ["SET", "key2", "2"],
                    ["GET", "key3"], ["MULTI"], ["GET", "key2"], ["EXEC"], ["GET", "key2"]]
        for wire in wires:
            wire.send(b"".join(encode(request) for request in requests * 20))
        for request in requests * 20:
            ours, theirs = (wire.reply() for wire in wires)
            self.assertEqual(ours, theirs, request)

    def test_replies_that_are_off(self):
        wires = self.connect_both()
        requests = [["CLIENT", "REPLY", "SKIP"], ["SET", "key1", "1"], ["SET", "key2", "1"],
                    ["CLIENT", "REPLY", "OFF"], *(["INCR", f"key{i}"] for i in range(30)),
                    ["CLIENT", "REPLY", "ON"], *(["GETDEL", f"key{i}"] for i in range(30))]
        self.flush_both()
        for wire in wires:
            wire.send(b"".join(encode(request) for request in requests))
        for _ in range(32):
            ours, theirs = (wire.reply() for wire in wires)
            self.assertEqual(ours, theirs)


if __name__ == "__main__":
    main()

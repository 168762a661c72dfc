"""Bytes that are not well-formed requests, or come in odd pieces: the same bytes back as from
Redis, and a closed connection exactly where Redis closes it."""

import random

from case import Case, main, redis_plays_both
from wire import CLOSED, encode

SENTINEL = b"*2\r\n$4\r\nECHO\r\n$12\r\nthe sentinel\r\n"
SENTINEL_REPLY = b"$12\r\nthe sentinel\r\n"
LINE_LIMIT = 64 << 10  # Redis: PROTO_INLINE_MAX_SIZE
PING = b"*1\r\n$4\r\nPING\r\n"

INLINE = (
    b"PING\r\n", b"PING\n", b"ping\r\n", b"  PING  \r\n", b"\tPING\t\r\n",
    b"\r\n\r\nPING\r\n", b"\n\n",
    b" \r\n", b"PING\r\r\n", b"PING hello\r\n", b"PING \"hello world\"\r\n",
    b"PING 'hello world'\r\n",
    b'PING "\\x41\\x42\\n\\r\\t\\a\\b\\\\\\"\\q\\x4"\r\n',
    b"PING 'it\\'s \\n'\r\n", b'PING ""\r\n', b"PING ''\r\n",
    b"SET k v\r\nGET k\r\n", b'SET k "a b"\r\nGET k\r\n',
    b"GET\r\n", b"NOSUCH a b\r\n", b"\xff\xfe\r\n",
    b"PING " + b"x" * 60000 + b"\r\n", b"a\"b\r\n", b"a'b'\r\n",
    b"'a'b\r\n", b'"a"b\r\n', b'"a" b\r\n',
    b'PING "abc\r\n', b"PING 'abc\r\n", b'PING "abc\\"\r\n', b'PING "abc\\\r\n', b'"\r\n', b"'\r\n",
    b"PING *1\r\n", b"$4\r\nPING\r\n", b":1\r\n", b"+OK\r\n", b"-ERR\r\n", b" *1\r\n", b"(1\r\n",
)

COUNTS = tuple(b"*%b\r\n" % count for count in (
    b"", b"0", b"-1", b"-5", b"-2147483649", b"-9223372036854775808", b"-9223372036854775809",
    b"2147483648", b"9223372036854775807", b"9223372036854775808", b"99999999999999999999", b"abc",
    b"1a", b"+1", b" 1", b"1 ", b"01", b"1.0", b"0x1", b"-", b"--1", b"-0", b"1\n", b"\xff"))

SIZES = tuple(b"*1\r\n$%b\r\nPING\r\n" % size for size in (
    b"4", b"", b"-1", b"-5", b"abc", b"4a", b"+4", b" 4", b"4 ", b"04",
    b"4.0", b"0x4", b"-", b"-0", b"4\n",
    b"536870913", b"2147483648", b"9223372036854775807", b"9223372036854775808",
    b"99999999999999999999", b"-9223372036854775808", b"\xff"))

WORDS = (
    b"*1\r\nPING\r\n", b"*1\r\n:4\r\nPING\r\n", b"*1\r\n\r\nPING\r\n",
    b"*1\r\n*1\r\n$4\r\nPING\r\n",
    b"*1\r\n+PING\r\n", b"*1\r\n$4\r\nPINGxx", b"*1\r\n$4\r\nPING\n\r",
    b"*1\n$4\nPING\n", b"*1\rX$4\rXPINGXX",
    b"*1\r\n$0\r\n\r\n", b"*2\r\n$0\r\n\r\n$0\r\n\r\n", b"*2\r\n$4\r\nPING\r\nhello\r\n",
    b"*2\r\n$4\r\nECHO\r\n$-1\r\n", b"*1\r\n $4\r\nPING\r\n",
    b"*1\r\n\xff4\r\nPING\r\n", b"*1\r\n\x014\r\n",
    b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$2\r\n\r\n\r\n*2\r\n$3\r\nGET\r\n$1\r\nk\r\n",
)

TOO_LONG = (
    b"x" * (LINE_LIMIT + 1), b"*" + b"1" * LINE_LIMIT, b"*1\r\n$" + b"1" * LINE_LIMIT,
    b"*2\r\n$4\r\nPING\r\n$" + b"1" * LINE_LIMIT,
)

# Intended differences: the bytes, our answer before we close, and why.
DIFFERENT = (
    (b"*1\0\r\n", b"-ERR Protocol error: invalid multibulk length\r\n",
     "Redis looks for the end of a count with strchr, sees none past a byte 0, and waits"),
    (b"*1\r\n$4\0\r\nPING\r\n", b"-ERR Protocol error: invalid bulk length\r\n", "the same"),
)


def pipeline(count, seed):
    """Well-formed requests with all bytes in them, from a fixed seed."""
    draw = random.Random(seed)
    found = []
    for _ in range(count):
        key = f"key:{draw.randrange(50)}"
        value = draw.randbytes(draw.choice((0, 1, 3, 20, 200)))
        found.append(draw.choice((
            ("GET", key), ("SET", key, value), ("SET", key, value, "GET"), ("APPEND", key, value),
            ("INCR", f"n{draw.randrange(5)}"), ("DEL", key), ("STRLEN", key), ("PING", value),
            ("MGET", key, "key:1", "key:2"), ("MSET", key, value, "key:3", "x"), ("GET",),
            ("NOSUCH", value), ("SET", key, value, "EX", "x"), ("GETRANGE", key, "1", "-2"))))
    return [encode(request) for request in found]


def pieces_of(data, size):
    return [data[at:at + size] for at in range(0, len(data), size)]


class Protocol(Case):
    def setUp(self):
        self.flush_both()

    def answers(self, wire, pieces):
        """Replies up to the sentinel's, or to the end of the connection."""
        for piece in pieces:
            wire.send(piece)
        found = [wire.reply()]
        while found[-1] not in (SENTINEL_REPLY, CLOSED):
            found.append(wire.reply())
        return found

    def compare_answers(self, cases):
        for data in cases:
            for size in (len(data) + len(SENTINEL), 1):
                if size == 1 and len(data) > 1000:
                    continue
                with self.subTest(data=data[:80], piece=size):
                    self.flush_both()
                    ours, theirs = (self.answers(wire, pieces_of(data + SENTINEL, size))
                                    for wire in self.connect_both())
                    self.assertEqual(ours, theirs)

    def compare_to_the_end(self, data):
        """The client sends no more; all its requests are answered, then both close."""
        ours, theirs = self.connect_both()
        for wire in (ours, theirs):
            wire.send(data)
            wire.finish()
        self.assertEqual(ours.rest(), theirs.rest(), data[:200])

    def test_inline(self):
        self.compare_answers(INLINE)

    def test_counts(self):
        self.compare_answers(COUNTS)

    def test_sizes(self):
        self.compare_answers(SIZES)

    def test_words(self):
        self.compare_answers(WORDS)

    def test_too_long(self):
        for data in TOO_LONG:
            with self.subTest(data=data[:20]):
                ours, theirs = self.connect_both()
                for wire in (ours, theirs):
                    wire.send(data)
                self.assertEqual(ours.rest(), theirs.rest())

    def test_malformed_after_good_ones(self):
        for bad in (b"*1\r\nX", b"*x\r\n", b"*1\r\n$x\r\n", b'PING "\r\n'):
            self.compare_answers((PING + b"*2\r\n$4\r\nPING\r\n$1\r\na\r\n" + bad + PING,))

    def test_knowingly_different(self):
        if redis_plays_both():
            self.skipTest("Redis plays both parts")
        for data, answer, why in DIFFERENT:
            with self.subTest(why=why):
                with self.ours.connect() as wire:
                    wire.send(data)
                    self.assertEqual(wire.rest(), answer)

    def test_web_pages_cannot_send_requests(self):
        # A browser can be made to send these: Redis closes at the first such line.
        for data in (b"POST / HTTP/1.1\r\n", b"post / HTTP/1.1\r\n", b"Host: localhost\r\n",
                     encode(["POST", "/"]), encode(["HOST:", "a"])):
            with self.subTest(data=data):
                ours, theirs = (self.answers(wire, [data + SENTINEL])
                                for wire in self.connect_both())
                self.assertEqual(ours, theirs)

    def test_every_prefix_of_requests(self):
        data = b"".join(pipeline(6, seed=3)) + b'SET k "v w"\r\nGET k\r\n'
        for size in range(len(data)):
            self.compare_to_the_end(data[:size])
            self.flush_both()

    def test_the_largest_counts_are_awaited(self):
        for data in (b"*2147483647\r\n", b"*1\r\n$536870912\r\n"):
            self.compare_to_the_end(PING + data + b"$4\r\nPING\r\n")

    def test_pipelines_in_pieces(self):
        requests = pipeline(2000, seed=1)
        data = b"".join(requests)
        for size in (len(data), 16384, 4096, 1000, 37):
            self.compare_pipeline(requests, pieces_of(data, size))

    def test_pipeline_byte_by_byte(self):
        requests = pipeline(150, seed=2)
        self.compare_pipeline(requests, pieces_of(b"".join(requests), 1))

    def test_pipeline_of_many_commands(self):
        requests = pipeline(100, seed=4) * 1000
        self.compare_pipeline(requests, [b"".join(requests)])

    def test_inline_and_arrays_mixed(self):
        requests = [b"SET k v\r\n", PING, b"GET k\n", encode(["GET", "k"]),
                    b"APPEND k 'x y'\r\n"] * 200
        self.compare_pipeline(requests, [b"".join(requests)])

    def compare_pipeline(self, requests, pieces):
        self.flush_both()
        wires = self.connect_both()
        for wire in wires:
            wire.send_aside(pieces)
        for number, request in enumerate(requests):
            ours, theirs = (wire.reply() for wire in wires)
            self.assertEqual(ours, theirs, f"request {number}: {request[:200]}")

    def test_large_requests(self):
        draw = random.Random(5)
        value = draw.randbytes(1 << 20)
        requests = [encode(words) for words in (
            ["SET", "large", value], ["GET", "large"], ["ECHO", value], ["STRLEN", "large"],
            ["EXISTS", *["large"] * 100000], ["DEL", *(f"k{i}" for i in range(50000)), "large"],
            ["MSET", *(word for i in range(20000) for word in (f"k{i}", str(i)))],
            ["MGET", *(f"k{i}" for i in range(20001))], ["PING"])]
        self.compare_pipeline(requests, pieces_of(b"".join(requests), 100000))

    def test_announced_is_not_allocated(self):
        before = self.ours.resident_bytes()
        for announced in (b"*2147483647\r\n$4\r\nPING\r\n", b"*1\r\n$536870912\r\nPING",
                          b"*2\r\n$3\r\nGET\r\n$500000000\r\nk"):
            wires = [self.ours.connect() for _ in range(20)]
            for wire in wires:
                self.addCleanup(wire.close)
                wire.send(announced)
            with self.ours.connect() as other:
                self.assertEqual(other.request("PING"), b"+PONG\r\n")
        self.assertLess(self.ours.resident_bytes() - before, 64 << 20)

    def test_noise(self):
        draw = random.Random(6)
        good = b"".join(pipeline(20, seed=7))
        for number in range(300):
            if number % 3 == 0:
                data = draw.randbytes(2000)
            elif number % 3 == 1:
                data = b"*" + draw.randbytes(500)
            else:
                data = bytearray(good)
                for _ in range(draw.choice((1, 2, 10))):
                    data[draw.randrange(len(data))] = draw.randrange(256)
            with self.ours.connect() as wire:
                wire.send(bytes(data))
                wire.finish()
                wire.rest()  # it ends
        with self.ours.connect() as wire:
            self.assertEqual(wire.request("PING"), b"+PONG\r\n")


class Strangers(Case):
    """A client without the password may send little."""

    OPTIONS = ("--requirepass", "word")

    def test_limits(self):
        login = encode(["AUTH", "word"])
        many = encode(["EXISTS", *("k" for _ in range(10))])
        for data in (encode(["PING", *("a" for _ in range(9))]), many, login + many,
                     encode(["PING", "x" * 16384]), encode(["PING", "x" * 16385]),
                     login + encode(["PING", "x" * 16385]), b"*11\r\n", b"*2147483647\r\n",
                     b"*1\r\n$536870913\r\n", login + login + b"*11\r\n" + b"$1\r\na\r\n" * 11):
            with self.subTest(data=data[:60]):
                ours, theirs = self.connect_both()
                for wire in (ours, theirs):
                    wire.send(data)
                    wire.finish()
                self.assertEqual(ours.rest(), theirs.rest())


if __name__ == "__main__":
    main()

"""500 clients of every sort for a while: those that behave get every reply as it should be, and the
server ends as it was after a warm-up: as much memory, as many open files and threads."""

import asyncio
import contextlib
import random
import struct
import socket
import time
import unittest

from case import Program, main, start_ours
from wire import encode

MIB = 1 << 20
SEED = 20
CLIENTS = 500
# Clients of each type; the others behave.
GARBAGE, LEAVERS, SLOW_READERS, SLOW_WRITERS = 40, 80, 40, 40
WARM_UP = 0.3  # share of the time, after which all clients go once and memory is measured
GROWTH = 8 * MIB  # independent of time: see load_test.py
DEADLINE_S = 60  # for one reply
LARGE = "x" * 200_000


class Link:
    """One connection of asyncio."""

    async def open(self, port):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port)
        return self

    async def expect(self, bytes_sent, replies):
        self.writer.write(bytes_sent)
        await asyncio.wait_for(self.writer.drain(), DEADLINE_S)
        expected = b"".join(replies)
        found = await asyncio.wait_for(self.reader.readexactly(len(expected)), DEADLINE_S)
        if found != expected:
            raise AssertionError(f"{found[:300]!r} instead of {expected[:300]!r}")

    def break_off(self):
        raw = self.writer.get_extra_info("socket")
        with contextlib.suppress(OSError):  # the server was faster
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    async def close(self):
        self.writer.close()
        try:
            await self.writer.wait_closed()
        except OSError:
            pass


def bulk(value):
    return b"$-1\r\n" if value is None else b"$%d\r\n%b\r\n" % (len(value), value)


class Model:
    """The values of one client's keys."""

    def __init__(self, number, draw):
        self.prefix, self.draw, self.values = f"c{number}:", draw, {}

    def request(self):
        key = self.prefix + str(self.draw.randrange(8))
        held = self.values.get(key)
        value = self.draw.randbytes(self.draw.choice((0, 5, 40, 1000)))
        kind = self.draw.randrange(7)
        if kind == 0:
            self.values[key] = value
            return ("SET", key, value), b"+OK\r\n"
        if kind == 1:
            return ("GET", key), bulk(held)
        if kind == 2:
            if len(held or b"") > 5000:
                return ("STRLEN", key), b":%d\r\n" % len(held)
            self.values[key] = (held or b"") + value
            return ("APPEND", key, value), b":%d\r\n" % len(self.values[key])
        if kind == 3:
            self.values.pop(key, None)
            return ("DEL", key), b":%d\r\n" % (held is not None)
        if kind == 4:
            other = self.prefix + "0"
            return ("MGET", key, other), b"*2\r\n" + bulk(held) + bulk(self.values.get(other))
        if kind == 5:
            self.values[key], self.values[self.prefix + "1"] = value, b"both"
            if key == self.prefix + "1":
                return ("MSET", key, "x", key, b"both"), b"+OK\r\n"
            return ("MSET", key, value, self.prefix + "1", b"both"), b"+OK\r\n"
        return ("PING", value), bulk(value)


class Soak:
    def __init__(self, port, seconds):
        self.port, self.until = port, time.monotonic() + seconds
        self.rounds = dict.fromkeys(("behave", "garbage", "leave", "slow_reader", "slow_writer"), 0)

    def goes_on(self):
        return time.monotonic() < self.until

    async def behave(self, number):
        """Any error of these fails the test."""
        draw = random.Random(SEED * 1000 + number)
        model = Model(number, draw)
        link = await Link().open(self.port)
        await link.expect(encode(["DEL", *(f"{model.prefix}{i}" for i in range(8))]), [])
        await asyncio.wait_for(link.reader.readline(), DEADLINE_S)
        while self.goes_on():
            pairs = [model.request() for _ in range(draw.choice((1, 1, 5, 30)))]
            await link.expect(b"".join(encode(words) for words, _ in pairs),
                              [reply for _, reply in pairs])
            self.rounds["behave"] += 1
            if draw.randrange(50) == 0:
                await link.close()
                link = await Link().open(self.port)
        await link.close()

    async def garbage(self, draw, link):
        link.writer.write(draw.choice((b"", b"*", b"$", b"*3\r\n$")) +
                          draw.randbytes(draw.randrange(2000)))
        with contextlib.suppress(OSError):  # the server may have closed at once
            link.writer.write_eof()
        await asyncio.wait_for(link.reader.read(), DEADLINE_S)

    async def leave(self, draw, link):
        whole = encode(["SET", f"left:{draw.randrange(20)}", "v" * draw.randrange(3000)])
        link.writer.write((whole * draw.randrange(50)) + whole[:draw.randrange(len(whole))])
        if draw.randrange(2):
            await link.writer.drain()

    async def slow_reader(self, draw, link):
        link.writer.write(encode(["GET", "large"]) * 20)
        for _ in range(draw.randrange(20)):
            await asyncio.wait_for(link.reader.read(1000), DEADLINE_S)
            await asyncio.sleep(0.02)  # its purpose
            if not self.goes_on():
                return

    async def slow_writer(self, draw, link):
        for byte in encode(["ECHO", "slow" * draw.randrange(10)]):
            link.writer.write(bytes([byte]))
            await asyncio.sleep(0.01)
            if not self.goes_on():
                return
        await asyncio.wait_for(link.reader.readline(), DEADLINE_S)

    async def misbehave(self, kind, number):
        """Connects, does its sort of harm, goes in some way, and comes again."""
        draw = random.Random(SEED * 2000 + number)
        while self.goes_on():
            try:
                link = await Link().open(self.port)
                await getattr(self, kind)(draw, link)
                self.rounds[kind] += 1
                if draw.randrange(2):
                    link.break_off()
                else:
                    await link.close()
            except (ConnectionError, asyncio.IncompleteReadError):
                pass  # the server may end it first

    async def run(self):
        sorts = (["garbage"] * GARBAGE + ["leave"] * LEAVERS + ["slow_reader"] * SLOW_READERS +
                 ["slow_writer"] * SLOW_WRITERS)
        tasks = [self.misbehave(kind, number) for number, kind in enumerate(sorts)]
        tasks += [self.behave(number) for number in range(len(sorts), CLIENTS)]
        await asyncio.gather(*tasks)


class SoakTest(unittest.TestCase):
    def setUp(self):
        self.peer = start_ours("--workers", "2")
        self.addCleanup(self.peer.end)
        self.peer.touch_store()
        self.wire = self.peer.connect()
        self.addCleanup(self.wire.close)
        self.assertEqual(self.wire.request("SET", "large", LARGE), b"+OK\r\n")

    def at_rest(self, files):
        until = time.monotonic() + DEADLINE_S
        while self.peer.open_files() > files:
            self.assertLess(time.monotonic(), until, "connections that have gone are still open")
            self.assertEqual(self.wire.request("PING"), b"+PONG\r\n")
        return self.peer.resident_bytes(), self.peer.threads()

    def test_soak(self):
        seconds = Program.options.seconds
        files = self.peer.open_files()
        asyncio.run(Soak(self.peer.port, seconds * WARM_UP).run())
        before = self.at_rest(files)
        soak = Soak(self.peer.port, seconds * (1 - WARM_UP))
        asyncio.run(soak.run())
        after = self.at_rest(files)
        print(f"{seconds} s, seed {SEED}: {soak.rounds}; resident {before[0] >> 10} KiB after the "
              f"warm-up, {after[0] >> 10} KiB at the end")
        for kind, rounds in soak.rounds.items():
            self.assertGreater(rounds, 0, kind)
        self.assertEqual(after[1], before[1])
        self.assertLess(after[0] - before[0], GROWTH)
        self.assertTrue(self.peer.alive(), self.peer.said())


if __name__ == "__main__":
    main(seconds={"type": float, "default": 6.0, "help": "how long, the warm-up included"})

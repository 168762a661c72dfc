"""Hot keys and stripes: KW.HOTKEYS and KW.HOTSTRIPES by samples of the requests, KW.STRIPES by the
locks."""

import unittest

from case import main, redis_plays_both, start_ours
from wire import decode, encode


def setUpModule():
    if redis_plays_both():
        raise unittest.SkipTest("of keywayd only")


def start(test, *options):
    peer = start_ours(*options)
    test.addCleanup(peer.end)
    return peer


class HotKeys(unittest.TestCase):
    def test_the_hottest_are_found(self):
        wire = self.enterContext(start(self).connect())
        requests = [b"GET hot\r\nGET hot\r\nGET warm\r\nSET written 1\r\n", b"GET cold%d\r\n"]
        for i in range(4000):
            wire.send(requests[0] + requests[1] % i)
            for _ in range(5):
                wire.reply()
        reads = decode(wire.request("KW.HOTKEYS", "COUNT", "2", "READS"))[1]
        self.assertEqual([entry[1] for _, entry in reads], [("$", b"hot"), ("$", b"warm")])
        names = [name.decode() for _, name in reads[0][1][::2]]
        self.assertEqual(names, ["key", "length", "access", "share", "samples", "error"])
        writes = decode(wire.request("KW.HOTKEYS", "WRITES"))[1]
        self.assertEqual([entry[1] for _, entry in writes], [("$", b"written")])
        stripes = decode(wire.request("KW.HOTSTRIPES", "WRITES"))[1]
        self.assertEqual(len(stripes), 1)


class Stripes(unittest.TestCase):
    def test_their_locks_and_why(self):
        peer = start(self, "--lock-policy", "auto", "--store-options", "stripes=4")
        with peer.connect() as wire:
            self.assertEqual(wire.request("KW.STRIPES"), b"*0\r\n")  # none has been seen in use
            for i in range(20000):
                wire.send(encode(["SET", f"k{i}", "v"]))  # gets take no lock
            for i in range(20000):
                wire.reply()
            stripes = [dict(zip(*[iter(texts)] * 2)) for texts in (
                [part for _, part in stripe] for _, stripe in decode(wire.request("KW.STRIPES"))[1])]
            self.assertGreater(len(stripes), 2)
            self.assertEqual(len({stripe[b"stripe"] for stripe in stripes}), len(stripes))
            for stripe in stripes:
                self.assertEqual(stripe[b"rank"], b"0")
                self.assertEqual(float(stripe[b"reads"]), 0)
                self.assertGreater(int(stripe[b"samples"]), 0)
                self.assertTrue(stripe[b"kind"] and stripe[b"why"], stripe)
            self.assertEqual(len(decode(wire.request("KW.STRIPES", "COUNT", 2))[1]), 2)
            for words in (("2",), ("COUNT",), ("COUNT", 0), ("COUNT", "x"), ("COUNT", 1, 2)):
                self.assertTrue(wire.request("KW.STRIPES", *words).startswith(b"-ERR "), words)


if __name__ == "__main__":
    main()

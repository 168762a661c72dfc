"""Clients that choose their keys cannot choose the bucket, and SCAN keeps to COUNT in a long chain."""

import unittest

from case import Program, main
from peer import Peer
from wire import decode

_WORD = (1 << 64) - 1


def _rotated(word, by):
    return (word << by | word >> (64 - by)) & _WORD


def _undo_xorshift(word, by):
    found = word
    for _ in range(64 // by):
        found = word ^ found >> by
    return found


def key_of_xxh3(digest):
    """The 8 bytes with this XXH3-64 `digest` without a seed: each of its steps can be undone."""
    inverse = pow(0x9FB21C651E98DF25, -1, 1 << 64)
    word = _undo_xorshift(digest, 28) * inverse & _WORD
    word = (word ^ (word >> 35) + 8) * inverse & _WORD
    for _ in range(63):  # a step of order 64
        word ^= _rotated(word, 49) ^ _rotated(word, 24)
    return _rotated(word ^ 0x1CAD21F72C81017C ^ 0xDB979083E96DD4DE, 32).to_bytes(8, "little")


class Flood(unittest.TestCase):
    def start(self, *options):
        self.peer = Peer(Program.keywayd, *options)
        self.addCleanup(self.peer.end)
        self.wire = self.peer.connect()
        self.addCleanup(self.wire.close)

    def put(self, keys):
        for begin in range(0, len(keys), 500):
            words = [word for key in keys[begin:begin + 500] for word in (key, b"v")]
            self.assertEqual(self.wire.request("MSET", *words), b"+OK\r\n")

    def longest_chain(self):
        """In lines, as INFO has it."""
        _, text = decode(self.wire.request("INFO", "volumes"))
        for line in text.split(b"\r\n"):
            if line.startswith(b"volume0:"):
                fields = dict(field.split(b"=") for field in line.split(b":")[1].split(b","))
                return int(fields[b"longest_chain_lines"])
        return self.fail("INFO tells of no volume")

    def test_keys_made_for_one_bucket_of_xxh3_spread(self):
        self.start()
        # The high bits of a hash choose the bucket.
        self.put([key_of_xxh3(digest) for digest in range(4000)])
        self.assertLess(self.longest_chain(), 10)
        self.assertEqual(self.wire.request("DBSIZE"), b":4000\r\n")

    def test_scan_keeps_to_count_in_a_chain_of_hundreds(self):
        # With this secret, some of the keys have the same 14 bits behind those of the bucket, which
        # a step returns together; never more than 4 of these keys.
        self.start("--store-options", f"buckets=1&hash_secret={1:032}")
        keys = [b"key:%d" % i for i in range(1000)]
        self.put(keys)
        self.assertGreater(self.longest_chain(), 1000 // 7)
        for count in (1, 10, 300):
            seen, cursor = [], b"0"
            while True:
                reply = self.wire.request("SCAN", cursor, "COUNT", str(count))
                _, ((_, cursor), (_, some)) = decode(reply)
                self.assertLess(len(some), count + 4)
                seen += [key for _, key in some]
                if cursor == b"0":
                    break
                self.assertGreaterEqual(len(some), count)
            self.assertEqual(sorted(seen), sorted(keys))


if __name__ == "__main__":
    main()

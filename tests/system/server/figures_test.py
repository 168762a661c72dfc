"""Figures of INFO that count what requests have met: the same as Redis counts, request by request."""

import unittest

from case import Case, main, redis_plays_both
from lock_case import token_of
from wire import decode

# Each line is asked of both, and must add the same to keyspace_hits and keyspace_misses.
REQUESTS = """
SET k v; GET k; GET none; GETSET k w; GETSET fresh w; GETDEL fresh; GETDEL none; GETEX k; GETEX none
GETEX k EX 100; GETEX none EX 100; GETEX k PERSIST; GETEX k EX 0; GETEX none EX 0
SET k v GET; SET other v GET; SET k v XX; SET k v NX; SET none v XX; SET none v XX GET
STRLEN k; STRLEN none; GETRANGE k 0 1; GETRANGE k -2 -1; GETRANGE none 0 1; GETRANGE none -2 -1
SUBSTR k 0 1; SETRANGE k 1 x; SETRANGE k 1 ""; APPEND k x; MGET k none k; MGET none
MSET a 1 b 2; MSETNX a 1 c 2; INCR a; INCR n; DECRBY a 2; INCRBYFLOAT a 1.5; LCS k b; LCS k none
EXISTS k none k; TOUCH k none; TYPE k; TYPE none; TTL k; TTL none; PTTL k; EXPIRETIME k
PEXPIRETIME none; EXPIRE k 100; EXPIRE none 100; PERSIST k; PERSIST none
OBJECT ENCODING k; OBJECT ENCODING none; OBJECT REFCOUNT k; OBJECT IDLETIME none; MEMORY USAGE k
SETBIT bits 7 1; GETBIT bits 7; GETBIT none 7; BITCOUNT bits; BITCOUNT none; BITPOS bits 1
BITPOS none 1; BITOP AND d bits k; BITOP OR d none bits; BITOP NOT d none
COPY k copied; COPY none copied; COPY k copied; RENAME copied moved; RENAMENX moved k; DEL moved none
UNLINK none; KEYS *; SCAN 0; DBSIZE; RANDOMKEY; WATCH k; UNWATCH; INCR b; GET ""
"""


class Figures(Case):
    def setUp(self):
        self.flush_both()
        self.wires = self.connect_both()
        for wire in self.wires:
            self.assertEqual(wire.request("CONFIG", "RESETSTAT"), b"+OK\r\n")

    def figures(self, wire, *names, section="stats"):
        text = decode(wire.request("INFO", section))[1].decode()
        found = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
        return {name: int(found[name]) for name in names}

    def looked_up(self, wire):
        return self.figures(wire, "keyspace_hits", "keyspace_misses")

    def test_keys_that_were_there_and_not(self):
        for line in REQUESTS.replace("\n", ";").split(";"):
            words = [word.strip('"') for word in line.split()]
            if not words:
                continue
            with self.subTest(request=line):
                for wire in self.wires:
                    wire.request(*words)
                ours, theirs = map(self.looked_up, self.wires)
                for wire in self.wires:
                    wire.request("CONFIG", "RESETSTAT")
                self.assertEqual(ours, theirs)

    def test_transactions_count_once(self):
        for wire in self.wires:
            for words in (["SET", "k", "v"], ["MULTI"], ["GET", "k"], ["GET", "none"], ["INCR", "k"],
                          ["EXEC"]):
                wire.request(*words)
        ours, theirs = [self.figures(wire, "keyspace_hits", "keyspace_misses", "total_error_replies")
                        for wire in self.wires]
        self.assertEqual(ours, theirs)

    def test_errors_by_their_kind(self):
        said = []
        for wire in self.wires:
            for words in (["NOSUCH"], ["GET"], ["SET", "k", "v"], ["INCR", "k"], ["AUTH", "u", "p"],
                          ["HELLO", "9"], ["EXEC"], ["MULTI"], ["NOSUCH"], ["EXEC"],
                          ["CONFIG", "SET", "nosuch", "1"]):
                wire.request(*words)
            said.append(decode(wire.request("INFO", "errorstats"))[1])
        self.assertEqual(*said)

    def test_what_expires_by_itself(self):
        for wire in self.wires:
            wire.request("SET", "stays", "v")
            for i in range(20):
                wire.request("SET", f"k{i}", "v", "PX", "1")
            while self.figures(wire, "expired_keys")["expired_keys"] != 20:
                pass  # the test's time limit ends it
            self.assertEqual(wire.request("CONFIG", "RESETSTAT"), b"+OK\r\n")
            self.assertEqual(self.figures(wire, "expired_keys"), {"expired_keys": 0})

    def test_a_reset_leaves_what_is_no_count(self):
        """RESETSTAT resets the same figures as in Redis."""
        names = ("total_connections_received", "total_commands_processed", "rejected_connections",
                 "keyspace_hits", "keyspace_misses", "total_error_replies")
        for wire in self.wires:
            for words in (["GET", "none"], ["NOSUCH"], ["SET", "big", "v" * 1_000_000], ["DEL", "big"]):
                wire.request(*words)
        peaks = [self.figures(wire, "used_memory_peak", "used_memory", section="memory")
                 for wire in self.wires]
        for wire in self.wires:
            wire.request("CONFIG", "RESETSTAT")
        ours, theirs = [self.figures(wire, *names) for wire in self.wires]
        self.assertEqual(ours, theirs)
        for wire, before in zip(self.wires, peaks):
            after = self.figures(wire, "used_memory_peak", section="memory")["used_memory_peak"]
            self.assertGreaterEqual(after, before["used_memory_peak"])
            self.assertGreaterEqual(before["used_memory_peak"], before["used_memory"])
            self.assertGreaterEqual(after, 1_000_000)

    def test_reads_and_writes_of_sockets(self):
        for wire in self.wires:
            before = self.figures(wire, "total_reads_processed", "total_writes_processed")
            for _ in range(10):
                wire.request("PING")
            after = self.figures(wire, "total_reads_processed", "total_writes_processed")
            for name, figure in after.items():
                self.assertGreaterEqual(figure - before[name], 11)

    def test_who_waits_is_blocked(self):
        if redis_plays_both():
            return
        me = self.wires[0]
        with self.ours.connect() as holder, self.ours.connect() as waiter:
            token = token_of(holder.request("KW.LOCK", "l", "WRITE"))
            waiter.send(b"KW.LOCK l WRITE\r\n")
            while self.figures(me, "blocked_clients", section="clients")["blocked_clients"] != 1:
                pass  # the test's time limit ends it
            holder.request("KW.UNLOCK", "l", token)
            token_of(waiter.reply())
            self.assertEqual(self.figures(me, "blocked_clients", section="clients"),
                             {"blocked_clients": 0})


if __name__ == "__main__":
    main()

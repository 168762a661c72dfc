"""Observability: INFO, SLOWLOG, LATENCY, MEMORY, SHUTDOWN, hot keys."""

import re
import pathlib
import subprocess
import threading
import time
import unittest

from case import Case, Program, main, python_with_redis, redis_plays_both, start_ours
from wire import CLOSED, DEADLINE_S, decode, encode

# The fields of Redis 7.0 that have a meaning here, and our additional fields of INFO.
FIELDS = {
    "Server": """redis_version redis_mode os arch_bits monotonic_clock multiplexing_api gcc_version
        process_id run_id tcp_port server_time_usec uptime_in_seconds uptime_in_days executable
        config_file""",
    "Clients": "connected_clients blocked_clients maxclients",
    "Memory": """used_memory used_memory_human used_memory_rss used_memory_rss_human
        used_memory_peak used_memory_peak_human used_memory_peak_perc
        used_memory_overhead used_memory_startup used_memory_dataset used_memory_dataset_perc
        total_system_memory total_system_memory_human maxmemory maxmemory_human maxmemory_policy
        mem_fragmentation_ratio mem_fragmentation_bytes mem_allocator""",
    "Persistence": """loading async_loading rdb_bgsave_in_progress aof_enabled
        aof_rewrite_in_progress""",
    "Stats": """total_connections_received total_commands_processed instantaneous_ops_per_sec
        total_net_input_bytes total_net_output_bytes instantaneous_input_kbps
        instantaneous_output_kbps rejected_connections expired_keys evicted_keys keyspace_hits
        keyspace_misses pubsub_channels pubsub_patterns total_error_replies total_reads_processed
        total_writes_processed""",
    "Replication": "role connected_slaves master_failover_state",
    "CPU": """used_cpu_sys used_cpu_user used_cpu_sys_children used_cpu_user_children""",
    "Modules": "",
    "Errorstats": "",
    "Cluster": "cluster_enabled",
    "Keyspace": "db0",
}
OURS = {
    "Server": "keyway_version keyway_revision workers fibers_per_worker",
    "Locks": """lock_policy lock_shared_grants lock_exclusive_grants lock_contended
        lock_handed_over lock_timeouts lock_not_needed lock_rank0_gbh""",
    "Fabric": """fabric fabric_ranks fabric_processes fabric_process fabric_topology
        remote_reads_warm remote_reads_cold remote_reads_locked remote_reads_by_owners
        remote_reads_repeated remote_edits_by_owners remote_messages remote_round_trips
        fabric_loopbacks fabric_flushes fabric_silent_ranks""",
    "Volumes": "volume0",
}


def parse(text):
    """{section: {field: value}}; the lines must be those of INFO."""
    sections = {}
    for part in text.split("\r\n\r\n"):
        title, *lines = part.removesuffix("\r\n").split("\r\n")
        assert title.startswith("# "), title
        sections[title[2:]] = dict(line.split(":", 1) for line in lines)
    return sections


class Server(Case):
    """Each test begins with an empty store and figures at 0."""

    def setUp(self):
        self.flush_both()
        self.ours_wire, self.theirs_wire = self.connect_both()
        for wire in (self.ours_wire, self.theirs_wire):
            self.assertEqual(wire.request("CONFIG", "RESETSTAT"), b"+OK\r\n")

    def ask(self, *words):
        return self.ours_wire.request(*words)

    def info(self, wire, *sections):
        kind, text = decode(wire.request("INFO", *sections))
        self.assertEqual(kind, "$")
        return parse(text.decode())


class Info(Server):
    def test_fields_are_those_of_redis_and_ours(self):
        for wire in (self.ours_wire, self.theirs_wire):
            wire.request("SET", "k", "v")
            wire.request("NOSUCH")
        ours, theirs = self.info(self.ours_wire), self.info(self.theirs_wire)
        if redis_plays_both():
            return
        for section, fields in FIELDS.items():
            for field in fields.split():
                self.assertIn(field, theirs[section], section)
        for section in [*FIELDS, *OURS]:
            if section == "Errorstats":
                self.assertEqual(ours[section], {"errorstat_ERR": "count=1"})
                continue
            expected = (FIELDS.get(section, "") + " " + OURS.get(section, "")).split()
            self.assertEqual(sorted(ours[section]), sorted(expected), section)
        self.assertEqual(list(ours)[:len(FIELDS)], list(theirs))
        self.assertEqual(ours["Keyspace"], theirs["Keyspace"])
        self.assertEqual(ours["Errorstats"], theirs["Errorstats"])

    def test_reads_without_locks_are_counted(self):
        if redis_plays_both():
            return
        self.ask("SET", "k", "v" * 32)
        before = int(self.info(self.ours_wire, "locks")["Locks"]["lock_not_needed"])
        for _ in range(20):
            self.ask("GET", "k")
        after = int(self.info(self.ours_wire, "locks")["Locks"]["lock_not_needed"])
        self.assertEqual(after - before, 20)

    def test_every_field_is_documented(self):
        if redis_plays_both():
            return
        readme = (Program.options.source / "server" / "README.md").read_text()
        for section, fields in self.info(self.ours_wire, "everything").items():
            for field in fields:
                field = re.sub(r"^(cmdstat|latency_percentiles_usec|errorstat)_.*", r"\1_", field)
                field = re.sub(r"^(lock_rank|volume)\d.*", r"\1", field)
                self.assertIn(f"`{field}", readme, section)

    def test_sections_may_be_chosen(self):
        for asked in (["server"], ["SERVER", "clients"], ["clients", "server"], ["keyspace"],
                      ["commandstats"], ["default"], ["all"], ["everything"], []):
            with self.subTest(asked=asked):
                ours = list(self.info(self.ours_wire, *asked))
                theirs = list(self.info(self.theirs_wire, *asked))
                # modules are ours also in "all": there are none
                common = [section for section in ours if section in theirs]
                self.assertEqual(common, theirs)
                self.assertTrue(set(ours) - set(theirs) <= {*OURS, "Modules"})

    def test_figures_are_what_happened(self):
        for i in range(10):
            self.ask("SET", f"k{i}", "v")
        self.ask("SETEX", "e", "10000", "v")
        self.ask("GET", "k1")
        self.ask("GET")
        self.ask("INCR", "k1")
        stats = self.info(self.ours_wire, "commandstats", "latencystats", "errorstats", "stats",
                          "keyspace")
        calls = stats["Commandstats"]
        shape = r"calls=(\d+),usec=(\d+),usec_per_call=(\d+\.\d\d),rejected_calls=(\d+),failed_calls=(\d+)"
        self.assertEqual(re.fullmatch(shape, calls["cmdstat_set"])[1], "10")
        self.assertEqual(re.fullmatch(shape, calls["cmdstat_get"]).group(1, 4, 5), ("1", "1", "0"))
        self.assertEqual(re.fullmatch(shape, calls["cmdstat_incr"]).group(1, 4, 5), ("1", "0", "1"))
        for value in stats["Latencystats"].values():
            p50, p99, p999 = map(float, re.fullmatch(
                r"p50=(\d+\.\d{3}),p99=(\d+\.\d{3}),p99\.9=(\d+\.\d{3})", value).groups())
            self.assertTrue(0 < p50 <= p99 <= p999)
        self.assertEqual(stats["Errorstats"], {"errorstat_ERR": "count=2"})
        self.assertEqual(stats["Stats"]["total_error_replies"], "2")
        self.assertEqual(stats["Keyspace"]["db0"], "keys=11,expires=1,avg_ttl=0")
        self.ask("CONFIG", "RESETSTAT")
        stats = self.info(self.ours_wire, "commandstats", "errorstats")
        self.assertNotIn("cmdstat_get", stats["Commandstats"])
        self.assertEqual(stats["Errorstats"], {})

    def test_memory_follows_the_store(self):
        if redis_plays_both():
            return
        before = int(self.info(self.ours_wire, "memory")["Memory"]["used_memory"])
        self.ask("SET", "big", "v" * 1_000_000)
        memory = self.info(self.ours_wire, "memory")["Memory"]
        while int(memory["used_memory"]) - before < 10**6:  # the server checks once a second
            memory = self.info(self.ours_wire, "memory")["Memory"]  # the time limit ends it
        self.assertLess(int(memory["used_memory"]) - before, 3 * 10**6)
        self.assertEqual(int(memory["maxmemory"]), 64 << 20)
        _, usage = decode(self.ask("MEMORY", "USAGE", "big"))
        self.assertTrue(10**6 <= int(usage) < 1_100_000)
        stats = decode(self.ask("MEMORY", "STATS"))[1]
        names = [name.decode() for _, name in stats[::2]]
        theirs = [name.decode() for _, name in decode(self.theirs_wire.request("MEMORY", "STATS"))[1][::2]]
        self.assertTrue(set(names) <= set(theirs), names)

    def test_a_client_of_python_reads_all_of_it(self):
        python = python_with_redis()
        self.assertIsNotNone(python, "install the package python3-redis")
        script = ("import redis, sys; r = redis.Redis(port=int(sys.argv[1])); r.set('a', 1); "
                  "i = r.info('everything'); assert i['db0']['keys'] == 1, i['db0']; "
                  "assert i['cmdstat_set']['calls'] == 1, i; "
                  "assert isinstance(r.info()['used_memory'], int); "
                  "assert r.config_get('save') == {'save': ''}; r.config_set('slowlog-max-len', 128); "
                  "r.slowlog_get(); r.slowlog_len(); r.memory_stats(); r.memory_usage('a'); "
                  "r.latency_latest() if hasattr(r, 'latency_latest') else None; print('fine')")
        done = subprocess.run([python, "-c", script, str(self.ours.port)],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout, "fine\n", done.stderr)


class Slow(Server):
    def setUp(self):
        super().setUp()
        for wire in (self.ours_wire, self.theirs_wire):
            wire.request("SLOWLOG", "RESET")
            wire.request("CLIENT", "SETNAME", "me")
            wire.request("CONFIG", "SET", "slowlog-log-slower-than", "0")

    def tearDown(self):
        for wire in (self.ours_wire, self.theirs_wire):
            wire.request("CONFIG", "SET", "slowlog-log-slower-than", "10000")
        super().tearDown()

    def test_entries_are_those_of_redis(self):
        requests = [("SET", "k", "v" * 200), ("MGET", *"abcdefghijklmnopqrstuvwxyz" * 2), ("get", "k"),
                    ("AUTH", "secret"), ("HELLO", "2", "AUTH", "default", "secret"), ("SLOWLOG", "LEN")]
        entries = []
        for wire in (self.ours_wire, self.theirs_wire):
            for request in requests:
                wire.request(*request)
            kind, found = decode(wire.request("SLOWLOG", "GET", "-1"))
            entries.append(found)
        ours, theirs = entries
        self.assertEqual(len(ours), len(theirs))
        for (kind, our), (their_kind, their) in zip(ours, theirs):
            self.assertEqual([part[0] for part in our], [part[0] for part in their])
            self.assertEqual(our[3], their[3])
            self.assertEqual(our[5], their[5])
            self.assertTrue(our[4][1].startswith(b"127.0.0.1:"))
        ids = [int(entry[1][0][1]) for entry in ours]
        self.assertEqual(ids, list(range(ids[0], ids[0] - len(ids), -1)))

    def test_where_the_time_went(self):
        if redis_plays_both():
            return
        self.ask("SET", "k", "v")
        entry = decode(self.ask("KW.SLOWLOG", "1"))[1][0][1]
        names = [name.decode() for _, name in entry[::2]]
        self.assertEqual(names, ["id", "time", "microseconds", "queue_us", "lock_us", "network_us",
                                 "execution_us", "words", "client", "name"])
        figures = {name: value for name, (_, value) in zip(names, entry[1::2])}
        self.assertEqual(figures["words"], [("$", b"SET"), ("$", b"k"), ("$", b"v")])
        self.assertEqual(figures["network_us"], b"0")
        for wrong in (("KW.SLOWLOG", "-2"), ("KW.SLOWLOG", "abc")):
            self.assertEqual(self.ask(*wrong), b"-ERR count should be greater than or equal to -1\r\n")

    def test_the_wait_for_others_is_queue(self):
        """The last of a pipeline waits for those before it."""
        if redis_plays_both():
            return
        self.ours_wire.send(b"SET k v\r\n" * 200 + b"GET last\r\n")
        for _ in range(201):
            self.ours_wire.reply()
        entries = decode(self.ask("KW.SLOWLOG", "-1"))[1]
        queued = {repr(e[15]): int(e[7][1]) for _, e in entries}
        last = next(e for _, e in entries if e[15] == ("*", [("$", b"GET"), ("$", b"last")]))
        sets = sum(int(e[5][1]) for _, e in entries if e[15][1][0] == ("$", b"SET"))
        self.assertGreaterEqual(int(last[7][1]) + 200, sets, queued)  # each is cut to whole us


class Latency(Server):
    def test_events_are_kept_beyond_the_threshold(self):
        self.ask("CONFIG", "SET", "latency-monitor-threshold", "1")
        self.addCleanup(self.ask, "CONFIG", "SET", "latency-monitor-threshold", "0")
        self.ask("SET", "a", "x" * 10_000)
        self.ask("SET", "b", "y" * 5_000)
        self.ask("LCS", "a", "b")  # 50 million steps
        kind, events = decode(self.ask("LATENCY", "LATEST"))
        command = next(event for _, event in events if event[0] == ("$", b"command"))
        self.assertEqual([part[0] for part in command], ["$", ":", ":", ":"])
        self.assertGreaterEqual(int(command[3][1]), 1)
        history = decode(self.ask("LATENCY", "HISTORY", "command"))[1]
        self.assertEqual(history[-1][1][0], command[1])
        self.assertNotEqual(self.ask("LATENCY", "RESET"), b":0\r\n")
        self.assertEqual(self.ask("LATENCY", "LATEST"), b"*0\r\n")

    def test_histograms_add_up(self):
        for wire in (self.ours_wire, self.theirs_wire):
            for i in range(20):
                wire.request("SET", "k", i)
            kind, found = decode(wire.request("LATENCY", "HISTOGRAM", "set"))
            self.assertEqual(found[0], ("$", b"set"))
            (_, calls), (_, count), (_, name), (_, steps) = found[1][1]
            self.assertEqual((calls, count, name), (b"calls", b"20", b"histogram_usec"))
            bounds = [int(bound) for _, bound in steps[::2]]
            counts = [int(count) for _, count in steps[1::2]]
            self.assertEqual(bounds, sorted(set(bounds)))
            self.assertEqual(counts, sorted(set(counts)))
            self.assertEqual(counts[-1], 20)


class WaitsForLocks(unittest.TestCase):
    """Transactions on the whole store hold all locks while they read many keys."""

    KEYS = 20000

    def hold(self, wire):
        while not self.seen.is_set():
            for words in (("MULTI",), ("KEYS", "nothing*"), ("EXEC",)):
                wire.request(*words)

    def test_the_slow_log_tells_them_from_execution(self):
        if redis_plays_both():
            return
        peer = start_ours("--workers", "2", "--slowlog-log-slower-than", "0")
        self.addCleanup(peer.end)
        writer, holder = self.enterContext(peer.connect()), self.enterContext(peer.connect())
        writer.send(b"".join(encode(["SET", f"k{i}", ""]) for i in range(self.KEYS)))
        for _ in range(self.KEYS):
            self.assertEqual(writer.reply(), b"+OK\r\n")
        self.seen = threading.Event()
        others = threading.Thread(target=self.hold, args=(holder,))
        others.start()
        try:
            waited = self.first_that_waited(writer)
        finally:
            self.seen.set()
            others.join()
        parts = [int(waited[name]) for name in (b"lock_us", b"network_us", b"execution_us")]
        self.assertEqual(parts[1], 0)
        # Each is cut to whole us.
        self.assertLessEqual(abs(sum(parts) - int(waited[b"microseconds"])), len(parts))

    def first_that_waited(self, wire):
        until = time.monotonic() + DEADLINE_S
        while time.monotonic() < until:
            wire.request("SET", "k0", "v")
            for _, entry in decode(wire.request("KW.SLOWLOG", 5))[1]:
                fields = dict(zip(*[iter(part for _, part in entry)] * 2))
                if int(fields[b"lock_us"]) > 0:
                    return fields
        self.fail("no request has waited for a lock")


class Shutdown(unittest.TestCase):
    def test_ends_as_by_a_signal(self):
        for words in ((), ("NOSAVE",), ("now", "force"), ("SAVE", "FORCE")):
            with self.subTest(words=words):
                peer = start_ours()
                self.addCleanup(peer.end)
                with peer.connect() as other, peer.connect() as wire:
                    self.assertEqual(other.request("PING"), b"+PONG\r\n")
                    self.assertEqual(wire.request("SHUTDOWN", *words), CLOSED)
                    self.assertEqual(other.reply(), CLOSED)
                self.assertEqual(peer.exit_code(), 0, peer.said())

    def test_what_cannot_be_saved_is_not_thrown_away(self):
        if redis_plays_both():
            return
        peer = start_ours()
        self.addCleanup(peer.end)
        with peer.connect() as wire:
            self.assertEqual(wire.request("SHUTDOWN", "SAVE"),
                             b"-ERR Errors trying to SHUTDOWN. Check logs.\r\n")
            self.assertEqual(wire.request("PING"), b"+PONG\r\n")


class Clients(Case):
    def test_all_are_listed_and_may_be_ended(self):
        for peer in self.pair:
            with peer.connect() as one, peer.connect() as two, peer.connect() as me:
                ids = []
                for number, wire in enumerate((one, two, me)):
                    wire.request("CLIENT", "SETNAME", f"c{number}")
                    ids.append(decode(wire.request("CLIENT", "ID"))[1].decode())
                listed = decode(me.request("CLIENT", "LIST"))[1].decode()
                found = re.findall(r"^id=(\d+) .* name=(c\d) .* cmd=(\S+) ", listed, re.M)
                self.assertEqual(found, [(ids[0], "c0", "client|id"), (ids[1], "c1", "client|id"),
                                         (ids[2], "c2", "client|list")])
                listed = decode(me.request("CLIENT", "LIST", "ID", ids[1]))[1].decode()
                address = re.search(r"^id=\d+ addr=(\S+) ", listed)[1]
                self.assertEqual(me.request("CLIENT", "KILL", "ID", ids[0]), b":1\r\n")
                self.assertEqual(one.reply(), CLOSED)
                self.assertEqual(me.request("CLIENT", "KILL", address), b"+OK\r\n")
                self.assertEqual(two.reply(), CLOSED)
                while decode(me.request("CLIENT", "LIST"))[1].count(b"\n") > 1:
                    pass  # they are on their way out; the test's time limit ends it
                self.assertEqual(me.request("CLIENT", "KILL", "ID", ids[2]), b":0\r\n")
                self.assertEqual(me.request("CLIENT", "KILL", "ID", ids[2], "SKIPME", "no"), b":1\r\n")
                self.assertEqual(me.reply(), CLOSED)

    def test_replies_may_be_left_out(self):
        requests = [("SET", "k", "1"), ("CLIENT", "REPLY", "SKIP"), ("INCR", "k"), ("GET", "k"),
                    ("CLIENT", "REPLY", "OFF"), ("INCR", "k"), ("CLIENT", "REPLY", "SKIP"), ("NOSUCH",),
                    ("INCR",), ("CLIENT", "REPLY", "ON"), ("GET", "k"), ("CLIENT", "REPLY", "SKIP"),
                    ("CLIENT", "REPLY", "SKIP"), ("GET", "k"), ("PING",), ("CLIENT", "REPLY", "SKIP"),
                    ("GET",), ("PING",), ("QUIT",)]
        said = []
        for peer in self.pair:
            with peer.connect() as wire:
                wire.send(b"".join(map(encode, requests)))
                said.append(wire.rest())
        self.assertEqual(*said)


if __name__ == "__main__":
    main(source={"type": pathlib.Path, "required": True, "help": "the top of the tree"})

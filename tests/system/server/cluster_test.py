"""CLUSTER answers as a Redis in cluster mode does, and leads its clients to the ranks; others need
not know of it: any rank serves any key."""

import re
import time
import unittest

from case import Case, Program, main, redis_plays_both, start_ours, start_theirs
from peer import CLUSTER_PORT
from wire import DEADLINE_S, decode

SLOTS = 16384


def plain(value):
    """A decoded reply as text, without the types of its parts."""
    kind, content = value
    if isinstance(content, list):
        return [plain(part) for part in content]
    return content.decode("latin1") if content is not None else None


def shape(value, names):
    """A decoded reply with what is each server's own replaced: ids, ports, times."""
    kind, content = value
    if isinstance(content, list):
        return kind, [shape(part, names) for part in content]
    text = (content or b"").decode("latin1")
    for pattern, name in names:
        text = re.sub(pattern, name, text)
    return kind, text


def names_of(peer):
    return ((r"\b[0-9a-f]{40}\b", "ID"), (rf"\b{peer.port}\b", "PORT"), (r"@\d+", "@BUS"),
            (r"(master -) \d+ \d+ \d+", r"\1 PING PONG EPOCH"))


def set_up_node(peer):
    """Gives all slots to a Redis, and waits until it serves them."""
    with peer.connect() as wire:
        assert wire.request("CLUSTER", "ADDSLOTSRANGE", "0", SLOTS - 1) == b"+OK\r\n"
        until = time.monotonic() + DEADLINE_S
        while b"cluster_state:ok" not in wire.request("CLUSTER", "INFO"):
            assert time.monotonic() < until, "the node does not come up"


class OneNode(Case):
    """Beside a Redis that has all the slots."""

    @classmethod
    def setUpClass(cls):
        if redis_plays_both() or Program.ranks > 0:
            raise unittest.SkipTest("of one keywayd")
        cls.ours = start_ours("--cluster", "on")
        cls.addClassCleanup(cls.ours.end)
        cls.theirs = start_theirs("--cluster-enabled", "yes", "--cluster-port", CLUSTER_PORT,
                                  "--cluster-announce-ip", "127.0.0.1")
        cls.addClassCleanup(cls.theirs.end)
        cls.pair = (cls.ours, cls.theirs)
        set_up_node(cls.theirs)

    def compare(self, wires, *request):
        ours, theirs = (shape(decode(wire.request(*request)), names_of(peer))
                        for wire, peer in zip(wires, self.pair))
        self.assertEqual(ours, theirs, request)

    def each_version(self, ask):
        for version in ("2", "3"):
            self.flush_both()
            wires = self.connect_both()
            for wire in wires:
                wire.request("HELLO", version)
            with self.subTest(version=version):
                ask(wires)

    def test_what_it_tells(self):
        def ask(wires):
            for words in ("SLOTS", "SHARDS", "NODES", "INFO", "MYID", "LINKS", "slots",
                          "SLOTS x", "NODES x", "MYID x", "", "NOSUCH", "nosuch a",
                          "COUNTKEYSINSLOT", "GETKEYSINSLOT 1", "REPLICAS", "REPLICAS nobody",
                          "SLAVES nobody",
                          "COUNT-FAILURE-REPORTS nobody", "MEET", "SETSLOT 1", "FORGET"):
                self.compare(wires, "CLUSTER", *words.split())
            for command in ("READONLY", "READWRITE", "ASKING", "READONLY x", "PING"):
                self.compare(wires, *command.split())
            ids = [plain(decode(wire.request("CLUSTER", "MYID"))) for wire in wires]
            for word in ("REPLICAS", "SLAVES", "COUNT-FAILURE-REPORTS"):
                ours, theirs = (wire.request("CLUSTER", word, i) for wire, i in zip(wires, ids))
                self.assertEqual(ours, theirs, word)
        self.each_version(ask)

    def test_keyslot(self):
        def ask(wires):
            for key in ("foo", "", "a{b}c", "{b}", "{}x", "x{}{b}", "{{b}}", "}{b", "{b", b"\0\xff",
                        "123456789", "k" * 1000):
                self.compare(wires, "CLUSTER", "KEYSLOT", key)
        self.each_version(ask)

    def test_keys_of_a_slot(self):
        def ask(wires):
            for i in range(50):
                for wire in wires:
                    self.assertEqual(wire.request("SET", f"{{foo}}{i}", "v"), b"+OK\r\n")
            for words in ("COUNTKEYSINSLOT 12182", "COUNTKEYSINSLOT 0", "COUNTKEYSINSLOT 16383",
                          "COUNTKEYSINSLOT 16384", "COUNTKEYSINSLOT -1", "COUNTKEYSINSLOT x",
                          "COUNTKEYSINSLOT 1.0", "GETKEYSINSLOT 0 10", "GETKEYSINSLOT 12182 0",
                          "GETKEYSINSLOT 12182 -1", "GETKEYSINSLOT 16384 1", "GETKEYSINSLOT -1 -1",
                          "GETKEYSINSLOT x y", "GETKEYSINSLOT 1 y", "GETKEYSINSLOT 1 2 3"):
                self.compare(wires, "CLUSTER", *words.split())
            ours, theirs = (plain(decode(wire.request("CLUSTER", "GETKEYSINSLOT", "12182", "100")))
                            for wire in wires)
            self.assertEqual(sorted(ours), sorted(theirs))
            self.assertEqual(len(plain(decode(
                wires[0].request("CLUSTER", "GETKEYSINSLOT", "12182", "7")))), 7)
        self.each_version(ask)

    def test_what_the_table_says(self):
        wires = self.connect_both()
        rows = [f"cluster|{name}" for name in """addslots addslotsrange bumpepoch
            count-failure-reports countkeysinslot delslots delslotsrange failover flushslots forget
            getkeysinslot help info keyslot links meet myid nodes replicas replicate reset
            saveconfig set-config-epoch setslot shards slaves slots""".split()]
        for row in (*rows, "readonly", "readwrite", "asking"):
            self.compare(wires, "COMMAND", "INFO", row)

    def test_ranks_are_not_moved(self):
        with self.ours.connect() as wire:
            for words in ("ADDSLOTS 1", "ADDSLOTSRANGE 1 2", "BUMPEPOCH", "DELSLOTS 1",
                          "DELSLOTSRANGE 1 2", "FAILOVER", "FLUSHSLOTS", "FORGET x",
                          "MEET ::1 7400",
                          "REPLICATE x", "RESET", "RESET HARD", "SAVECONFIG", "SET-CONFIG-EPOCH 1",
                          "SETSLOT 1 STABLE"):
                reply = wire.request("CLUSTER", *words.split())
                self.assertRegex(reply, rb"^-ERR Slots belong to the ranks of this job", words)
            self.assertIn(b"cluster_slots_ok:16384", wire.request("CLUSTER", "INFO"))


class Alone(unittest.TestCase):
    """One process is not a cluster unless an option says so, and answers as Redis does."""

    def test_refused(self):
        ours, theirs = start_ours("--cluster", "off"), start_theirs()
        self.addCleanup(ours.end)
        self.addCleanup(theirs.end)
        with ours.connect() as here, theirs.connect() as there:
            for words in ("SLOTS", "INFO", "HELP", "KEYSLOT a", "RESET", "MEET 1 2", "SLOTS x", "",
                          "NOSUCH"):
                self.assertEqual(here.request("CLUSTER", *words.split()),
                                 there.request("CLUSTER", *words.split()), words)
            for word in ("READONLY", "READWRITE", "ASKING"):
                self.assertEqual(here.request(word), there.request(word), word)


class Ranks(unittest.TestCase):
    """The answers of several ranks about each other."""

    @classmethod
    def setUpClass(cls):
        if Program.ranks < 2:
            raise unittest.SkipTest("of several ranks")
        cls.job = start_ours()
        cls.addClassCleanup(cls.job.end)

    def ask(self, rank, *request):
        with self.job.connect(rank) as wire:
            return wire.request(*request)

    def test_all_agree_on_who_has_what(self):
        told = [plain(decode(self.ask(rank, "CLUSTER", "SLOTS"))) for rank in range(Program.ranks)]
        self.assertEqual(told, [told[0]] * Program.ranks)
        first = 0
        for rank, (start, end, node) in enumerate(told[0]):
            self.assertEqual(int(start), first)
            first = int(end) + 1
            self.assertEqual(node[0], self.job.host(rank))
            self.assertNotIn(int(node[1]), range(self.job.port, self.job.port + Program.ranks))
            with self.job.connect_to(node[0], int(node[1])) as there:
                self.assertEqual(plain(decode(there.request("CLUSTER", "MYID"))), node[2])
            self.assertEqual(plain(decode(self.ask(rank, "CLUSTER", "MYID"))), node[2])
            self.assertRegex(node[2], r"\A[0-9a-f]{40}\Z")
        self.assertEqual(first, SLOTS)
        self.assertEqual(len({node[2] for _, _, node in told[0]}), Program.ranks)

    def test_shards_and_nodes_say_the_same(self):
        slots = plain(decode(self.ask(0, "CLUSTER", "SLOTS")))
        for rank in range(Program.ranks):
            shards = plain(decode(self.ask(rank, "CLUSTER", "SHARDS")))
            self.assertEqual([(shard[1][0], shard[1][1], shard[3][0][1]) for shard in shards],
                             [(start, end, node[2]) for start, end, node in slots])
            lines = plain(decode(self.ask(rank, "CLUSTER", "NODES"))).splitlines()
            for number, (line, (start, end, node)) in enumerate(zip(lines, slots, strict=True)):
                me = "myself," if number == rank else ""
                self.assertRegex(line, rf"^{node[2]} {self.job.host(number)}:{node[1]}@\d+ {me}"
                                       rf"master - 0 0 \d+ connected {start}-{end}$")
            info = self.ask(rank, "CLUSTER", "INFO").decode()
            self.assertIn(f"cluster_known_nodes:{Program.ranks}\r\n", info)
            self.assertIn(b"cluster", self.ask(rank, "HELLO"))

    def test_any_rank_knows_the_keys_of_any_slot(self):
        keys = [f"{{{i}}}:{j}" for i in range(6) for j in range(5)]
        self.assertEqual(self.ask(0, "MSET", *(word for key in keys for word in (key, "v"))),
                         b"+OK\r\n")
        for i in range(6):
            slot = plain(decode(self.ask(0, "CLUSTER", "KEYSLOT", f"{{{i}}}:0")))
            for rank in range(Program.ranks):
                self.assertEqual(self.ask(rank, "CLUSTER", "COUNTKEYSINSLOT", slot), b":5\r\n")
                found = plain(decode(self.ask(rank, "CLUSTER", "GETKEYSINSLOT", slot, "10")))
                self.assertEqual(sorted(found), [f"{{{i}}}:{j}" for j in range(5)])

    def test_a_client_of_the_cluster_sees_each_key_once(self):
        """At the ports that CLUSTER tells, without a word of it, and on a connection that has sent
        CLUSTER NODES. To any other client each rank tells the whole store."""
        keys = {f"key:{i}" for i in range(200)}
        self.assertEqual(self.ask(0, "FLUSHALL"), b"+OK\r\n")
        self.assertEqual(self.ask(0, "MSET", *(word for key in keys for word in (key, "v"))),
                         b"+OK\r\n")
        ports = [int(node[1]) for _, _, node in plain(decode(self.ask(0, "CLUSTER", "SLOTS")))]

        def at_its_port(rank):
            return self.job.connect_to(self.job.host(rank), ports[rank])

        def has_asked(rank):
            wire = self.job.connect(rank)
            wire.request("CLUSTER", "NODES")
            return wire
        for connect in (at_its_port, has_asked):
            sizes, named, scanned = 0, [], []
            for rank in range(Program.ranks):
                with connect(rank) as wire:
                    sizes += int(wire.request("DBSIZE")[1:-2])
                    named += plain(decode(wire.request("KEYS", "*")))
                    cursor = "0"
                    while True:
                        cursor, some = plain(decode(wire.request("SCAN", cursor, "COUNT", "7")))
                        scanned += some
                        if cursor == "0":
                            break
            self.assertEqual((sizes, len(named), len(scanned)), (200, 200, 200), connect)
            self.assertEqual((set(named), set(scanned)), (keys, keys), connect)
        for rank in range(Program.ranks):
            self.assertEqual(self.ask(rank, "DBSIZE"), b":200\r\n")
            self.assertEqual(len(plain(decode(self.ask(rank, "KEYS", "*")))), 200)
        with at_its_port(0) as wire:
            theirs = int(wire.request("DBSIZE")[1:-2])
            self.assertEqual(wire.request("FLUSHALL"), b"+OK\r\n")
            self.assertEqual(wire.request("DBSIZE"), b":0\r\n")
        self.assertEqual(self.ask(0, "DBSIZE"), b":%d\r\n" % (200 - theirs))

    def test_any_rank_serves_any_key(self):
        keys = [f"key:{i}" for i in range(200)]
        for i, key in enumerate(keys):
            self.assertEqual(self.ask(i % Program.ranks, "SET", key, i), b"+OK\r\n")
        for rank in range(Program.ranks):
            self.assertEqual(plain(decode(self.ask(rank, "MGET", *keys))),
                             [str(i) for i in range(200)])
            self.assertEqual(self.ask(rank, "EXISTS", *keys), b":200\r\n")


if __name__ == "__main__":
    main()

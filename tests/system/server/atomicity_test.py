"""Transactions and commands of several keys are one step for all clients; single keys are
linearizable; watched keys have not changed when EXEC runs.

Redis is not asked: it executes one command at a time."""

import random
import threading
import time

from case import Case, main, start_ours
from history import Operation, is_linearizable
from wire import CLOSED, decode, encode

SEED = 7
ACCOUNTS = [f"acc{i}" if i % 2 else f"the account of customer number {i}" for i in range(12)]
START = 1000
SLOTS = [f"slot:{i}" for i in range(6)]
QUEUED, OK, NOTHING = b"+QUEUED\r\n", b"+OK\r\n", (b"*-1\r\n", b"_\r\n")


def values(reply):
    kind, parts = decode(reply)
    assert kind == "*", reply
    return [value for _, value in parts]


class Crowd(Case):
    """Clients that act at the same time."""

    OPTIONS = ("--workers", "2")

    @classmethod
    def setUpClass(cls):
        cls.ours = start_ours(own=cls.OPTIONS)
        cls.addClassCleanup(cls.ours.end)
        cls.pair = (cls.ours,)

    def connect(self):
        wire = self.ours.connect()
        self.addCleanup(wire.close)
        return wire

    def setUp(self):
        with self.ours.connect() as wire:
            self.assertEqual(wire.request("FLUSHALL"), OK)

    def run_all(self, writers, readers=()):
        """Each thread has its own connection and random numbers: the writers run to their end, the
        readers repeat until then, at least once. Reports the first failure."""
        failures, done = [], threading.Event()

        def guarded(body, number):
            try:
                body(self.connect(), random.Random(SEED * 1000 + number))
            except Exception as error:  # pylint: disable=broad-except
                failures.append(error)
                done.set()

        def again(body):
            def loop(wire, rng):
                body(wire, rng)
                while not done.is_set():
                    body(wire, rng)
            return loop

        threads = [threading.Thread(target=guarded, args=(body, number), daemon=True)
                   for number, body in enumerate([*writers, *map(again, readers)])]
        for thread in threads:
            thread.start()
        for thread in threads[:len(writers)]:
            thread.join()
        done.set()
        for thread in threads[len(writers):]:
            thread.join()
        if failures:
            raise failures[0]

    def execute(self, wire, *requests):
        """MULTI, these and EXEC, in one piece. The replies, or None where EXEC answers nothing."""
        whole = [("MULTI",), *requests, ("EXEC",)]
        wire.send(b"".join(encode(request) for request in whole))
        replies = [wire.reply() for _ in whole]
        self.assertEqual(replies[:-1], [OK, *[QUEUED] * len(requests)])
        return None if replies[-1] in NOTHING else values(replies[-1])


class Transfers(Crowd):
    """Money moves between accounts, and no client ever counts another sum."""

    def setUp(self):
        super().setUp()
        with self.ours.connect() as wire:
            pairs = [word for account in ACCOUNTS for word in (account, START)]
            self.assertEqual(wire.request("MSET", *pairs), OK)

    def check_sum(self, balances):
        self.assertEqual(sum(map(int, balances)), START * len(ACCOUNTS), balances)

    def move_by_multi(self, wire, rng):
        for _ in range(400):
            source, target = rng.sample(ACCOUNTS, 2)
            amount = rng.randrange(100)
            replies = self.execute(wire, ("DECRBY", source, amount), ("INCRBY", target, amount))
            self.assertEqual(len(replies), 2)

    def move_by_watch(self, wire, rng):
        moved = 0
        while moved < 150:
            source, target = rng.sample(ACCOUNTS, 2)
            self.assertEqual(wire.request("WATCH", source, target), OK)
            left, right = map(int, values(wire.request("MGET", source, target)))
            amount = rng.randrange(100)
            if self.execute(wire, ("SET", source, left - amount),
                            ("SET", target, right + amount)) is not None:
                moved += 1

    def empty_and_fill(self, wire, rng):
        """An account is closed and opened again within one transaction, its money elsewhere."""
        for _ in range(150):
            source, target = rng.sample(ACCOUNTS, 2)
            self.execute(wire, ("SET", "aside", 0), ("APPEND", "aside", ""), ("INCRBY", "aside", 5),
                         ("DEL", "aside"), ("DECRBY", source, 5), ("RENAME", target, "aside"),
                         ("INCRBY", "aside", 5), ("RENAME", "aside", target))

    def count_by_mget(self, wire, _):
        self.check_sum(values(wire.request("MGET", *ACCOUNTS)))

    def count_by_exec(self, wire, _):
        self.check_sum(self.execute(wire, *[("GET", account) for account in ACCOUNTS]))

    def count_everything(self, wire, _):
        """A transaction that reads the whole store."""
        size, *balances = self.execute(wire, ("DBSIZE",), *[("GET", each) for each in ACCOUNTS])
        self.assertEqual(int(size), len(ACCOUNTS))
        self.check_sum(balances)

    def test_sum_is_constant(self):
        self.run_all([self.move_by_multi] * 2 + [self.move_by_watch] * 2 + [self.empty_and_fill],
                     [self.count_by_mget, self.count_by_exec, self.count_everything])
        with self.ours.connect() as wire:
            self.count_by_mget(wire, None)


class Watching(Crowd):
    def test_no_update_is_lost(self):
        """Counters, each raised by what was read under WATCH."""
        rounds, counters = 150, ["n", "a counter that is kept in the heap"]
        keys = [(counter, f"{counter}'s text") for counter in counters]

        def raise_them(wire, rng):
            for _ in range(rounds):
                counter, text = rng.choice(keys)
                while True:
                    self.assertEqual(wire.request("WATCH", counter, text), OK)
                    seen, _ = values(wire.request("MGET", counter, text))
                    after = int(seen or 0) + 1
                    if self.execute(wire, ("SET", counter, after),
                                    ("SET", text, "x" * after)) is not None:
                        break

        self.run_all([raise_them] * 4)
        with self.ours.connect() as wire:
            total = [int(value or 0) for value in values(wire.request("MGET", *counters))]
            self.assertEqual(sum(total), 4 * rounds)
            for (_, text), count in zip(keys, total):
                self.assertEqual(wire.request("STRLEN", text), b":%d\r\n" % count)

    def test_what_comes_back_has_changed(self):
        """A key is removed and returns with the same value, while other clients watch it: a client
        that saw it once and then executes has seen it unchanged in between."""
        rounds = 400
        keys = ["coming and going", "c"]

        def come_and_go(wire, rng):
            for _ in range(rounds):
                key = rng.choice(keys)
                replies = self.execute(wire, ("DEL", key), ("INCR", "turns"), ("SET", key, "v"))
                self.assertEqual(len(replies), 3)

        def look(wire, _):
            self.assertEqual(wire.request("WATCH", *keys), OK)
            before = wire.request("GET", "turns")
            replies = self.execute(wire, ("GET", "turns"))
            if replies is not None:
                self.assertEqual(decode(before)[1], replies[0])

        self.run_all([come_and_go] * 2, [look] * 2)


class SeveralKeys(Crowd):
    def test_one_token_is_in_one_slot(self):
        with self.ours.connect() as wire:
            wire.request("SET", SLOTS[0], "the token")

        def move(wire, rng):
            for _ in range(500):
                source, target = rng.sample(SLOTS, 2)
                command = rng.choice(("RENAME", "RENAMENX"))
                reply = wire.request(command, source, target)
                self.assertIn(reply, (OK, b":1\r\n", b":0\r\n", b"-ERR no such key\r\n"))

        def look(wire, _):
            there = [value for value in values(wire.request("MGET", *SLOTS)) if value is not None]
            self.assertEqual(there, [b"the token"])

        self.run_all([move] * 4, [look] * 2)

    def test_mset_and_del_are_seen_whole(self):
        keys = ["x", "y with a longer name than fits", "z"]

        def write(wire, rng):
            for number in range(400):
                if number % 3 == 2:
                    self.assertEqual(wire.request("DEL", *keys)[:1], b":")
                    continue
                value = f"{rng.randrange(10 ** 6)}" * (1 + number % 7)
                self.assertEqual(wire.request("MSET", *[w for key in keys for w in (key, value)]), OK)

        def look(wire, _):
            self.assertEqual(len(set(values(wire.request("MGET", *keys)))), 1)

        self.run_all([write] * 3, [look] * 2)


def _put(value):
    return lambda state: (value, OK)


def _get(state):
    return state, b"$-1\r\n" if state is None else b"$%d\r\n%b\r\n" % (len(state), state)


def _getset(value):
    return lambda state: (value, _get(state)[1])


def _delete(state):
    return None, b":0\r\n" if state is None else b":1\r\n"


def _insert(value):
    return lambda state: (value, b":1\r\n") if state is None else (state, b":0\r\n")


def _append(suffix):
    return lambda state: ((state or b"") + suffix, b":%d\r\n" % len((state or b"") + suffix))


class Histories(Crowd):
    """Checks each key alone: the results of all clients fit one order of its operations, in which
    no operation comes before one that had ended when it began."""

    def act(self, wire, rng, key, number):
        value = b"%d" % number + b"." * rng.choice((0, 40))
        words, apply = rng.choice([
            (("GET", key), _get), (("GET", key), _get), (("SET", key, value), _put(value)),
            (("GETSET", key, value), _getset(value)), (("DEL", key), _delete),
            (("SETNX", key, value), _insert(value)), (("APPEND", key, "+"), _append(b"+"))])
        begin = time.monotonic()
        if rng.random() < 0.3:  # as the one command of a transaction
            wire.request("MULTI")
            wire.request(*words)
            reply = wire.request("EXEC")
            self.assertEqual(reply[:4], b"*1\r\n")
            reply = reply[4:]
        else:
            reply = wire.request(*words)
        self.assertNotEqual(reply, CLOSED)
        return Operation(begin, time.monotonic(), apply, reply, words)

    def test_histories_are_linearizable(self):
        keys = ["k", "a key with a longer name than fits a line", "another", "4"]
        seen, lock = {key: [] for key in keys}, threading.Lock()

        def client(number):
            def body(wire, rng):
                for step in range(150):
                    key = rng.choice(keys)
                    operation = self.act(wire, rng, key, number * 1000 + step)
                    with lock:
                        seen[key].append(operation)
            return body

        self.run_all([client(number) for number in range(6)])
        for key, operations in seen.items():
            with self.subTest(key=key):
                self.assertGreater(len(operations), 50)
                self.assertTrue(is_linearizable(operations),
                                "\n".join(map(repr, sorted(operations, key=lambda o: o.begin))))

    def test_the_check_itself(self):
        def history(*steps):
            return [Operation(begin, end, apply, answer, "") for begin, end, apply, answer in steps]
        get_a, get_b = b"$1\r\na\r\n", b"$1\r\nb\r\n"
        a, b = (0, 1, _put(b"a"), OK), (2, 3, _put(b"b"), OK)
        self.assertTrue(is_linearizable(history(a, b, (4, 5, _get, get_b))))
        self.assertFalse(is_linearizable(history(a, b, (4, 5, _get, get_a))))  # stale
        self.assertTrue(is_linearizable(history(a, b, (2.5, 5, _get, get_a))))
        self.assertFalse(is_linearizable(history(
            a, (2, 9, _put(b"b"), OK), (3, 4, _get, get_b), (5, 6, _get, get_a))))  # goes back
        self.assertFalse(is_linearizable(history((0, 1, _get, get_a))))


if __name__ == "__main__":
    main()

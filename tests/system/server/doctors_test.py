"""Reports for people: LATENCY GRAPH and DOCTOR, MEMORY DOCTOR, PURGE and MALLOC-STATS."""

from case import Case, main, redis_plays_both
from wire import decode


class Doctors(Case):
    def setUp(self):
        self.flush_both()
        self.ours_wire, self.theirs_wire = self.connect_both()

    def ask(self, *words):
        return self.ours_wire.request(*words)

    def test_graph_and_doctor(self):
        for wire in (self.ours_wire, self.theirs_wire):
            wire.request("LATENCY", "RESET")
        for words in (("GRAPH",), ("GRAPH", "command"), ("GRAPH", "nosuch"), ("GRAPH", "a", "b"),
                      ("DOCTOR", "x"), ("HELP",)):
            self.assertEqual(self.ask("LATENCY", *words),
                             self.theirs_wire.request("LATENCY", *words), words)
        if redis_plays_both():
            return

        def doctor():
            kind, text = decode(self.ask("LATENCY", "DOCTOR"))
            self.assertEqual(kind, "$")
            return text.decode()
        self.assertIn("latency-monitor-threshold", doctor())
        self.ask("CONFIG", "SET", "latency-monitor-threshold", "600000")
        self.addCleanup(self.ask, "CONFIG", "SET", "latency-monitor-threshold", "0")
        self.assertIn("No command took 600000 ms", doctor())
        self.ask("CONFIG", "SET", "latency-monitor-threshold", "1")
        self.ask("SET", "a", "x" * 10_000)
        self.ask("SET", "b", "y" * 5_000)
        self.ask("LCS", "a", "b")  # 50 million steps
        # The machine determines how many more take a millisecond.
        self.assertRegex(doctor(), r"\* command: in [1-9]\d* of [1-9]\d* seconds; ")
        lines = decode(self.ask("LATENCY", "GRAPH", "command"))[1].decode().split("\n")
        self.assertRegex(lines[0], r"^command - high (\d+) ms, low \d+ ms \(all time high \1 ms\)$")
        self.assertEqual(lines[1], "-" * 80)
        self.assertRegex(lines[5], "^[_o#|]+$")  # tests/unit/server has whole graphs

    def test_memory_for_people(self):
        for words in (("DOCTOR", "x"), ("PURGE", "x"), ("PURGE",), ("HELP",), ("NOSUCH",)):
            self.assertEqual(self.ask("MEMORY", *words),
                             self.theirs_wire.request("MEMORY", *words), words)
        for name in ("DOCTOR", "MALLOC-STATS"):
            for wire in (self.ours_wire, self.theirs_wire):
                kind, text = decode(wire.request("MEMORY", name))
                self.assertEqual(kind, "$")
                self.assertGreater(len(text), 20)
        if redis_plays_both():
            return
        self.assertNotIn(b"taken", decode(self.ask("MEMORY", "DOCTOR"))[1])
        while self.ask("APPEND", "big", "v" * (4 << 20)) != b"-OOM command not allowed when used " \
                                                            b"memory > 'maxmemory'.\r\n":
            pass
        for i in range(1000):
            if self.ask("SET", f"k{i}", "v" * 50_000).startswith(b"-OOM"):
                break
        while b"The heap is" not in decode(self.ask("MEMORY", "DOCTOR"))[1]:
            pass  # the server checks once a second; the test's time limit ends it


if __name__ == "__main__":
    main()

"""kvload runs YCSB's workloads on every store of one process."""

from case import Case, Program, kvload, main
from report import operations, phases

STORES = ("local:", "local:?ranks=3", "tbb:", "rocksdb:")


def store_uri(store, test):
    """A separate database folder for each test."""
    return f"rocksdb:db-{test.id().split('.')[-1]}" if store == "rocksdb:" else store


class Workloads(Case):
    OPERATIONS = 20000
    MIX = {
        "a": {"READ": 0.5, "UPDATE": 0.5},
        "b": {"READ": 0.95, "UPDATE": 0.05},
        "c": {"READ": 1},
        "d": {"READ": 0.95, "INSERT": 0.05},
        "e": {"SCAN": 0.95, "INSERT": 0.05},
        "f": {"READ": 1, "UPDATE": 0.5, "READ-MODIFY-WRITE": 0.5},
    }

    def run_workload(self, letter, store, *more):
        return kvload("run", "-P", f"{Program.workloads}/workload{letter}", "-threads", 3, "--store",
                      store_uri(store, self), "-p", f"operationcount={self.OPERATIONS}", *more)

    def check(self, letter, store, *more):
        done = self.run_workload(letter, store, *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        (load_title, load), (run_title, run) = phases(done.stdout)
        self.assertEqual((load_title, run_title), ("load", "run"))
        self.assertEqual(operations(load), {"INSERT": 1000})
        counts = operations(run)
        counts.pop("VERIFY", None)
        self.assertEqual(set(counts), set(self.MIX[letter]))
        for metric, share in self.MIX[letter].items():
            self.near(counts[metric], self.OPERATIONS, share)
            self.assertEqual(run[metric]["Return=OK"], counts[metric])
            for value in ("AverageLatency(us)", "MinLatency(us)", "MaxLatency(us)",
                          "50thPercentileLatency(us)", "95thPercentileLatency(us)",
                          "99thPercentileLatency(us)"):
                self.assertIn(value, run[metric])
        # Exactly the requested number of operations: a read-modify-write is also a read and an
        # update.
        total = sum(counts.values()) - 2 * counts.get("READ-MODIFY-WRITE", 0)
        self.assertEqual(total, self.OPERATIONS)
        return run, done

    def test_all_workloads_on_all_stores(self):
        for store in STORES:
            for letter in self.MIX:
                if (store, letter) == ("tbb:", "e"):
                    continue
                with self.subTest(store=store, workload=letter):
                    self.check(letter, store)

    def test_integrity_on_all_stores(self):
        for store in STORES:
            for letter in "abdf":
                with self.subTest(store=store, workload=letter):
                    run, _ = self.check(letter, store, "-p", "dataintegrity=true")
                    self.assertEqual(run["VERIFY"]["Return=OK"], run["READ"]["Return=OK"])

    def test_single_fields(self):
        for store in STORES:
            with self.subTest(store=store):
                run, _ = self.check("f", store, "-p", "readallfields=false", "-p",
                                    "dataintegrity=true")
                self.assertEqual(run["VERIFY"]["Return=OK"], run["READ"]["Return=OK"])

    def test_whole_writes(self):
        for store in STORES:
            with self.subTest(store=store):
                self.check("a", store, "-p", "writeallfields=true", "-p", "dataintegrity=true")

    def test_varying_field_lengths(self):
        for distribution in ("uniform", "zipfian"):
            with self.subTest(distribution=distribution):
                self.check("a", "local:", "-p", f"fieldlengthdistribution={distribution}")

    def test_batched_gets(self):
        for store in STORES:
            with self.subTest(store=store):
                run, done = self.check("b", store, "--batch", 16, "-p", "dataintegrity=true")
                self.assertEqual(run["VERIFY"]["Return=OK"], run["READ"]["Return=OK"])
                self.assertIn("batches of 16", done.stderr)

    def test_all_distributions(self):
        for distribution in ("uniform", "zipfian", "rankedzipfian", "latest", "hotspot",
                             "sequential", "exponential"):
            with self.subTest(distribution=distribution):
                self.check("d", "local:", "-p", f"requestdistribution={distribution}")

    def test_scans_say_their_order(self):
        _, done = self.check("e", "local:")
        self.assertIn("hash order", done.stderr)
        _, done = self.check("e", "rocksdb:")
        self.assertNotIn("hash order", done.stderr)

    def test_scans_are_refused_where_they_are_not_safe(self):
        done = self.run_workload("e", "tbb:")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\Akvload: tbb: cannot scan, [^\n]*\n\Z")

    def test_keys_are_ycsbs(self):
        # Records that one process loads, another finds under YCSB's names; a later insertstart
        # continues.
        database = store_uri("rocksdb:", self)
        self.good("load", "--workload", "a", "--store", database, "-p", "insertcount=400")
        self.good("load", "--workload", "a", "--store", database, "-p", "insertstart=400")
        self.good("run", "--workload", "c", "--store", database, "-p", "dataintegrity=false")

    def test_built_in_workloads_are_the_files(self):
        for letter in "abcdef":
            by_file = self.good("run", "-P", f"{Program.workloads}/workload{letter}", "--seed", 7)
            built_in = self.good("run", "--workload", letter, "--seed", 7)
            self.assertEqual([operations(report) for _, report in phases(by_file.stdout)],
                             [operations(report) for _, report in phases(built_in.stdout)])


if __name__ == "__main__":
    main()

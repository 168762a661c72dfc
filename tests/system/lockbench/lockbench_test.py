"""lockbench in one process: every bench on every fabric, reruns, sweeps, files."""

import csv
import io
import json
import re

from case import BENCHES, LOCKS, Case, busy, lockbench, main, without_times

SIM = ("--fabric", "sim", "--ranks", 32)


class Calibrate(Case):
    def test_this_host_becomes_a_machine_on_which_locks_run(self):
        self.good("--calibrate", "host.toml")
        report = self.report("--lock", "d-mcs", "--fabric", "sim", "--machine", "host.toml",
                             "--ranks", 2, "--acquires", 20)
        self.assertTrue(report["check"]["passed"])
        self.assertGreater(report["throughput_per_s"], 0)

    def test_a_file_that_cannot_be_written_is_told(self):
        done = lockbench("--calibrate", "no/such/folder/host.toml")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no/such/folder/host.toml", done.stderr)


class Coherent(Case):
    def test_locks_exclude_on_a_multicore_node(self):
        for machine in ("skylake", "haswell"):
            for lock in LOCKS:
                with self.subTest(machine=machine, lock=lock):
                    report = self.report("--lock", lock, "--fabric", "sim", "--machine", machine,
                                         "--ranks", 24, "--acquires", 20, "--check", "every")
                    self.assertTrue(report["check"]["passed"])


class Benches(Case):
    def check(self, report, agents, acquires):
        self.assertTrue(report["check"]["passed"])
        self.assertEqual(report["acquires"], agents * acquires)
        self.assertEqual(report["exclusive"] + report["shared"], report["acquires"])
        self.assertGreater(report["throughput_per_s"], 0)
        both = report["latency"]["both"]
        self.assertLessEqual(both["min_ns"], both["percentiles_ns"]["50"])
        self.assertLessEqual(both["percentiles_ns"]["50"], both["percentiles_ns"]["99.9"])
        self.assertGreater(report["fairness"]["jain_index"], 0)
        self.assertLessEqual(report["fairness"]["jain_index"], 1)
        self.assertGreaterEqual(report["fairness"]["longest_bypass"], 0)
        for key in ("revision", "compiler", "host", "rerun", "warnings", "configuration"):
            self.assertIn(key, report)

    def test_every_bench_and_lock_in_simulation(self):
        for bench in BENCHES:
            for lock in LOCKS:
                with self.subTest(bench=bench, lock=lock):
                    report = self.report("--lock", lock, "--bench", bench, *SIM, "--acquires", 20,
                                         "--fw", 0.5)
                    self.check(report, busy(bench, 32, 32), 18)

    def test_every_bench_and_lock_on_shared_memory(self):
        for bench in BENCHES:
            for lock in LOCKS:
                with self.subTest(bench=bench, lock=lock):
                    report = self.report("--lock", lock, "--bench", bench, "--ranks", 2,
                                         "--acquires", 200, "--fw", 0.5, "--check", "every")
                    self.check(report, busy(bench, 2, 2), 180)

    def test_work_takes_its_time(self):
        # One agent, in virtual time: an acquire and release, and 2 us of work in either place.
        def seconds(bench):
            return self.report("--lock", "d-mcs", "--bench", bench, "--fabric", "sim", "--ranks", 1,
                               "--acquires", 10, "--work-min-ns", 2000, "--work-max-ns", 2000
                               )["seconds"]
        self.assertAlmostEqual(seconds("warb") - seconds("ecsb"), 9 * 2e-6, delta=1e-9)
        self.assertGreaterEqual(seconds("wcsb") - seconds("ecsb"), 9 * 2e-6)

    def test_a_fifo_lock_is_fair_and_nobody_is_passed_over_twice(self):
        fairness = self.report("--lock", "d-mcs", *SIM, "--acquires", 40)["fairness"]
        self.assertGreater(fairness["jain_index"], 0.999)
        self.assertLessEqual(fairness["longest_bypass"], 31)

    def test_time_limit_in_virtual_seconds(self):
        report = self.report("--lock", "d-mcs", *SIM, "--seconds", 0.001)
        self.assertGreaterEqual(report["seconds"], 0.001)
        self.assertLess(report["seconds"], 0.0015)

    def test_shares_of_writers(self):
        draws = self.report("--lock", "gbh", *SIM, "--acquires", 101, "--fw", 0.25)
        share = draws["exclusive"] / draws["acquires"]
        self.assertTrue(0.2 < share < 0.3, share)
        roles = self.report("--lock", "gbh", *SIM, "--acquires", 100, "--fw", 0.25, "--roles",
                            "process")
        self.assertEqual(roles["exclusive"], 8 * 90)

    def test_operations_by_class_and_level(self):
        counts = self.report("--lock", "fompi-spin", *SIM, "--acquires", 10, "--counts")["operations"]
        # 32 agents on two nodes of 16, the lock at rank 0: one stores it free at its own rank, 15
        # on its node, 16 over the machine, 9 times each. The word names the holder: nothing else is
        # written, and nothing read.
        self.assertEqual(counts["rma"]["store"], {"machine": 144, "node": 135, "self": 9})
        self.assertEqual(counts["cpu"], {})

    def test_locality_decides_where_the_locks_are(self):
        def share(locality):
            swaps = self.report("--lock", "d-mcs", "--bench", "table", "--locks", 64, *SIM, "--counts",
                                "--acquires", 50, "--locality", locality
                                )["operations"]["rma"]["swap"]  # one of the tail for each acquire
            self.assertEqual(sum(swaps.values()), 32 * 45)
            return (swaps["self"] + swaps["node"]) / (32 * 45)
        self.assertEqual(share(1), 1)
        self.assertTrue(0.4 < share(0.5) < 0.6)


class Dht(Case):
    """Inserts and reads of one rank's volume, with a lock and by atomics alone."""

    def check(self, report, agents, warm_up, measured, inserts):
        check = report["check"]
        self.assertTrue(check["passed"])
        self.assertEqual(check["found"], check["inserted"])
        self.assertEqual(check["missed_reads"], 0)
        self.assertEqual(report["acquires"], agents * measured)
        self.assertEqual(check["inserted"], agents * warm_up + report["exclusive"])
        low, high = inserts
        self.assertTrue(low <= report["exclusive"] <= high, report["exclusive"])
        self.assertGreater(report["seconds"], 0)

    def test_shares_of_inserts(self):
        for lock in ("fompi-a", "fompi-rw", "mcs-wp"):
            for fw, inserts in ((0, (0, 0)), (0.3, (150, 420)), (1, (930, 930))):
                with self.subTest(lock=lock, fw=fw):
                    report = self.report("--lock", lock, "--bench", "dht", *SIM, "--fw", fw,
                                         "--acquires", 40, "--warmup", 0.25)
                    self.check(report, 31, 10, 30, inserts)

    def test_threads_on_shared_memory_and_a_volume_elsewhere(self):
        for lock in ("fompi-a", "gbh"):
            with self.subTest(lock=lock):
                report = self.report("--lock", lock, "--bench", "dht", "--ranks", 3, "--threads", 2,
                                     "--home", 1, "--fw", 0.5, "--acquires", 400)
                self.check(report, 4, 40, 360, (400, 1000))

    def test_atomics_alone_acquire_nothing_and_rerun_alike(self):
        words = ("--lock", "fompi-a", "--bench", "dht", *SIM, "--fw", 0.2, "--counts")
        report = self.report(*words)
        self.assertNotIn("latency", report)
        self.assertEqual(report["check"]["exclusive_grants"], 0)
        # An insert is a compare-and-swap, and one more and an addition if the slot was taken.
        rma = {name: sum(row.values()) for name, row in report["operations"]["rma"].items()}
        self.assertNotIn("swap", rma)
        self.assertGreaterEqual(rma["compare_swap"], report["exclusive"])
        self.assertLessEqual(rma["fetch_add"], report["exclusive"])
        self.assertEqual(without_times(report), without_times(self.report(*report["rerun"])))


class Reruns(Case):
    def test_a_simulated_run_is_the_same_again(self):
        words = ("--lock", "gbh", "--bench", "warb", *SIM, "--fw", 0.3, "--seed", 7, "--counts")
        once = self.report(*words)
        self.assertEqual(without_times(dict(once)), without_times(self.report(*words)))
        # And so is the run by its own report's command line.
        again = without_times(self.report(*once["rerun"]))
        self.assertEqual(without_times(dict(once)), again)
        other = self.report(*words, "--seed", 8)
        self.assertNotEqual(once["seconds"], other["seconds"])

    def test_the_machine_of_a_report_can_be_run_again(self):
        once = self.report("--lock", "d-mcs", *SIM, "--set", "card.atomic_ns=77")
        self.assertEqual(once["simulation"]["parameters"]["card.atomic_ns"], 77)
        with open("again.toml", "w", encoding="utf8") as file:
            file.write(once["machine_files"]["piz-daint"])
        again = self.report("--lock", "d-mcs", *SIM, "--machine", "again.toml", "--set",
                            "card.atomic_ns=77")
        self.assertEqual(again["seconds"], once["seconds"])

    def test_spec_file_and_command_line_say_the_same(self):
        with open("spec.toml", "w", encoding="utf8") as file:
            file.write('lock = "d-mcs"\nfabric = "sim"\nranks = 32\nbench = "sob"\nseed = 3\n')
        words = ("--lock", "d-mcs", *SIM, "--bench", "wcsb", "--seed", 3)
        self.assertEqual(without_times(self.report("--spec", "spec.toml", "--bench", "wcsb")),
                         without_times(self.report(*words)))


class Sweeps(Case):
    def test_a_grid_in_order_the_same_with_any_jobs(self):
        words = ("--fabric", "sim", "--acquires", 10, "--sweep", "lock=fompi-spin,d-mcs", "--sweep",
                 "P=4,8,16", "--sweep", "card.atomic_ns=50,200")
        one = without_times(self.report(*words, "--jobs", 1))
        two = without_times(self.report(*words, "--jobs", 3))
        self.assertEqual(one["points"], two["points"])
        names = [tuple(point["sweep"].values()) for point in one["points"]]
        self.assertEqual(len(names), 12)
        self.assertEqual(names[0], ("fompi-spin", "4", "50"))
        self.assertEqual(names[-1], ("d-mcs", "16", "200"))
        self.assertEqual(one["points"][-1]["configuration"]["ranks"], 16)

    def test_lines_and_csv(self):
        words = ("--lock", "d-mcs", "--fabric", "sim", "--acquires", 10, "--sweep", "P=2,4,8")
        lines = self.good(*words).stdout.splitlines()
        self.assertEqual(len(lines), 3)
        for line in lines:
            self.assertRegex(line, r"^P=\d+: [\d.]+/s, .* check passed$")
        rows = list(csv.DictReader(io.StringIO(self.good(*words, "--csv", "-").stdout)))
        self.assertEqual([row["sweep.P"] for row in rows], ["2", "4", "8"])
        self.assertEqual([row["ranks"] for row in rows], ["2", "4", "8"])
        points = json.loads(self.good(*words, "--json", "-").stdout)["points"]
        for row, point in zip(rows, points):
            self.assertAlmostEqual(float(row["throughput_per_s"]), point["throughput_per_s"], 3)
            self.assertEqual(row["check"], "passed")

    def test_levers_of_a_lock(self):
        points = self.report("--lock", "gbh", "--fabric", "sim", "--ranks", 16, "--acquires", 10,
                             "--sweep", "lock.backoff_max_ns=1000,100000")["points"]
        self.assertEqual(points[1]["configuration"]["lock"], "gbh:backoff_max_ns=100000")
        self.assertNotEqual(points[0]["seconds"], points[1]["seconds"])


class Help(Case):
    def test_help_and_version(self):
        text = self.good("--help").stdout
        for word in (*BENCHES, *LOCKS, "piz-daint", "Examples:", "Exit codes"):
            self.assertIn(word, text)
        self.assertRegex(self.good("--version").stdout, r"\Alockbench \d+\.\d+\.\d+ \(\w+.*\)\n\Z")

    def test_a_run_says_what_it_simulated_and_checked(self):
        text = self.good("--lock", "d-mcs", *SIM).stdout
        self.assertRegex(text, r"\d+ events/s, \d+ operations/s")
        self.assertRegex(text, r"check +passed: \d+ exclusive grants; (\d+) checked increments, counter \1")
        self.assertRegex(text, r"(?m)^throughput_per_s +[\d.]+$")

    def test_more_agents_than_cores_is_a_note(self):
        done = lockbench("--lock", "gbh", "--ranks", 64, "--acquires", 10)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(re.search(r"lockbench: note: 64 agents share \d+ cores", done.stderr))


if __name__ == "__main__":
    main()

"""The effects of kvload's options and YCSB's properties on a run and its report."""

import csv
import json
import os
import pty
import re
import subprocess
import tempfile

from case import Case, Program, main
from report import call, operations, phases


class Options(Case):
    SMALL = ("run", "--workload", "b", "--store", "tbb:")

    def test_load_alone_reports_only_the_load(self):
        done = self.good("load", "--workload", "a", "--store", "tbb:")
        ((title, report),) = phases(done.stdout)
        self.assertEqual(title, "")
        self.assertEqual(operations(report), {"INSERT": 1000})

    def test_sweep_over_writes(self):
        done = self.good("run", "--fw", "0,5,50,100", "--key-bytes", 16, "--value-bytes", 100,
                         "-p", "recordcount=5000", "-p", "operationcount=20000", "--store", "tbb:")
        reports = phases(done.stdout)
        self.assertEqual([title for title, _ in reports],
                         ["load", "run with 0% writes", "run with 5% writes",
                          "run with 50% writes", "run with 100% writes"])
        for (_, report), writes in zip(reports[1:], (0, 0.05, 0.5, 1)):
            counts = operations(report)
            self.assertEqual(sum(counts.values()), 20000)
            self.near(counts.get("UPDATE", 0), 20000, writes)

    def test_a_warm_up_reads_every_record_before_the_runs(self):
        words = ("run", "--fw", "0,50", "--store", "tbb:", "-p", "recordcount=1000", "-p",
                 "operationcount=3000", "-p", "insertstart=50", "-p", "insertcount=900", "-p",
                 "dataintegrity=true", "-p", "readallfields=false", "--threads", 2)
        plain = phases(self.good(*words).stdout)
        for more in ((), ("-target", 100000)):
            warm = phases(self.good(*words, "--warm-up", *more).stdout)
            self.assertEqual([title for title, _ in warm],
                             ["load", "warm-up", "run with 0% writes", "run with 50% writes"])
            self.assertEqual(warm[1][1]["READ"]["Return=OK"], 900)
            # The other phases make the same operations as without it.
            for (_, one), (_, other) in zip(plain, warm[:1] + warm[2:]):
                for kind, count in operations(one).items():
                    self.assertEqual(operations(other)[kind], count)

    def test_one_thread_loads_a_store_that_nothing_guards(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "report.json")
            self.good("run", "--workload", "c", "--store", "local:?lock=none&benchmark=on",
                      "--threads", 3, "--load-threads", 1, "-p", "recordcount=20000",
                      "-p", "operationcount=60000", "--json", file)
            with open(file, encoding="utf-8") as report:
                load, run = json.load(report)["phases"]
        self.assertEqual((load["threads"], run["threads"]), (1, 3))
        self.assertEqual(run["metrics"]["READ"]["returns"], {"OK": 60000})

    def test_the_same_seed_gives_the_same_run(self):
        def counts(seed):
            done = self.good(*self.SMALL, "--seed", seed)
            return operations(phases(done.stdout)[1][1])
        self.assertEqual(counts(3), counts(3))
        self.assertNotEqual([counts(seed) for seed in (3, 4, 5)], [counts(3)] * 3)

    AUTO = ("run", "--workload", "b", "--store", "local:?ranks=2&stripes=4&lock_costs=",
            "--lock-policy", "auto", "-p", "recordcount=500", "-p", "operationcount=40000")

    def test_lock_policy_auto_says_of_each_stripe_what_guards_it_and_why(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "report.json")
            words = [w + "measured" if w.endswith("lock_costs=") else w for w in self.AUTO]
            done = self.good(*words, "--json", file)
            with open(file, encoding="utf-8") as report:
                stripes = json.load(report)["stripes"]
        self.assertEqual({s["rank"] for s in stripes}, {0, 1})
        self.assertRegex(done.stdout, r"\[LOCKS\], stripe \d+ of rank 1, [a-z-]+ after \d+ switches: ")
        for stripe in stripes:
            self.assertGreater(stripe["samples"] + stripe["switches"], 0)
            self.assertIn(stripe["kind"], stripe["why"])
            self.assertRegex(stripe["why"], r"costs in ns: cpu \d+, .*order \d+; 1 node")
            self.assertEqual(stripe["local"], 1)  # all of local: is one node
            self.assertTrue(0.5 < stripe["reads"] <= 1, stripe)
            self.assertGreaterEqual(stripe["others"], 0)

    def test_lock_costs_that_are_given_are_not_measured(self):
        words = [w + "cpu:111,rma:2222" if w.endswith("lock_costs=") else w for w in self.AUTO]
        self.assertIn("costs in ns: cpu 111, loopback 20, rma 2222,", self.good(*words).stdout)

    def test_pregeneration_changes_nothing_but_time(self):
        def counts(mib):
            done = self.good(*self.SMALL, "-p", "operationcount=50000", "--pregenerate", mib)
            return operations(phases(done.stdout)[1][1])
        self.assertEqual(counts(0), counts(512))

    def test_target_rate_and_intended_latency(self):
        done = self.good(*self.SMALL, "-target", 5000, "-p", "operationcount=5000", "-threads", 2)
        _, run = phases(done.stdout)[1]
        # The schedule ends 1 s after it began; a slow machine may only be later.
        self.assertLess(run["OVERALL"]["Throughput(ops/sec)"], 5010)
        self.assertGreaterEqual(run["OVERALL"]["RunTime(ms)"], 998)
        for metric in ("READ", "UPDATE"):
            intended = run["Intended-" + metric]
            self.assertEqual(intended["Operations"], run[metric]["Operations"])
            self.assertGreaterEqual(intended["AverageLatency(us)"],
                                    run[metric]["AverageLatency(us)"])

    def test_intended_latency_counts_what_a_late_start_delays(self):
        # No machine keeps to this rate: the last operation is due 10 us after the start, so nearly
        # all of the run's time is delay, which only the intended latency shows.
        done = self.good(*self.SMALL, "-target", 1e9, "-p", "operationcount=10000")
        _, run = phases(done.stdout)[1]
        self.assertGreater(run["Intended-READ"]["AverageLatency(us)"],
                           10 * run["READ"]["AverageLatency(us)"])

    def test_measurement_interval(self):
        done = self.good(*self.SMALL, "-target", 1e6, "-p", "measurement.interval=op")
        self.assertNotIn("Intended", done.stdout)
        done = self.good(*self.SMALL, "-p", "measurement.interval=both")
        self.assertIn("[Intended-READ]", done.stdout)
        done = self.good(*self.SMALL, "-p", "measurement.interval=intended")
        self.assertNotIn("Intended", done.stdout)
        self.assertIn("[READ], AverageLatency(us)", done.stdout)

    def test_time_limit_ends_a_run_without_a_count(self):
        done = self.good(*self.SMALL, "-p", "operationcount=0", "-p", "maxexecutiontime=1")
        _, run = phases(done.stdout)[1]
        self.assertGreaterEqual(run["OVERALL"]["RunTime(ms)"], 1000)
        self.assertGreater(sum(operations(run).values()), 0)

    def test_time_limit_interrupts_a_slow_schedule(self):
        # One operation each 1000 s: the second never comes.
        done = self.good(*self.SMALL, "-target", 0.001, "-p", "maxexecutiontime=1")
        self.assertEqual(sum(n for metric, n in operations(phases(done.stdout)[1][1]).items()
                             if not metric.startswith("Intended")), 1)

    def test_latency_sampling_keeps_counts_exact(self):
        for mode in ("off", "sample=7", "all"):
            with self.subTest(mode=mode):
                done = self.good(*self.SMALL, "--latency", mode)
                _, run = phases(done.stdout)[1]
                self.assertEqual(sum(operations(run).values()), 1000)
                self.assertEqual("AverageLatency(us)" in run["READ"], mode != "off")

    def test_percentiles(self):
        done = self.good(*self.SMALL, "-p", "hdrhistogram.percentiles=1,50,99.9,100")
        _, run = phases(done.stdout)[1]
        found = [name for name in run["READ"] if "Percentile" in name]
        self.assertEqual(found, ["1stPercentileLatency(us)", "50thPercentileLatency(us)",
                                 "99.9PercentileLatency(us)", "100thPercentileLatency(us)"])
        self.assertEqual(run["READ"]["100thPercentileLatency(us)"], run["READ"]["MaxLatency(us)"])

    def test_json(self):
        self.good("run", "--fw", "0,50", "-p", "recordcount=100", "-p", "operationcount=1000",
                  "--store", "tbb:", "--json", "out.json", "--seed", 9)
        with open("out.json", encoding="utf8") as file:
            result = json.load(file)
        for name in ("revision", "compiler", "machine", "configuration", "warnings", "version"):
            self.assertIn(name, result)
        self.assertEqual(result["seed"], 9)
        self.assertEqual(result["configuration"]["properties"]["recordcount"], "100")
        self.assertEqual([phase["phase"] for phase in result["phases"]], ["load", "run", "run"])
        last = result["phases"][2]
        self.assertEqual(last["write_percent"], 50)
        self.assertEqual(last["operations"], 1000)
        self.assertEqual(last["failures"], 0)
        self.assertGreater(last["throughput_per_s"], 0)
        counts = [last["metrics"][metric]["operations"] for metric in ("READ", "UPDATE")]
        self.assertEqual(sum(counts), 1000)
        latency = last["metrics"]["READ"]["latency"]
        self.assertLessEqual(latency["min_ns"], latency["percentiles_ns"]["50"])
        self.assertLessEqual(latency["percentiles_ns"]["99"], latency["max_ns"])

    def test_csv(self):
        self.good(*self.SMALL, "--csv", "out.csv")
        with open("out.csv", encoding="utf8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([(row["phase"], row["metric"]) for row in rows],
                         [("load", "INSERT"), ("run", "READ"), ("run", "UPDATE")])
        self.assertEqual(sum(int(row["operations"]) for row in rows[1:]), 1000)
        self.assertTrue(all(float(row["average_ns"]) > 0 for row in rows))

    def test_summary_is_a_table_that_runs_append_to(self):
        if os.path.exists("summary.txt"):
            os.remove("summary.txt")
        self.good("load", "--workload", "a", "--store", "tbb:", "--summary", "summary.txt")
        done = self.good(*self.SMALL, "--summary", "summary.txt", "--json", "out.json")
        with open("summary.txt", encoding="utf8") as file:
            head, *rows = [re.split(r"  +", line.rstrip()) for line in file]
        self.assertEqual(head, ["phase", "way", "throughput", "operation", "p50", "p99"])
        self.assertEqual([row[0] for row in rows], ["load", "load", "run", ""])
        self.assertEqual([row[-3] for row in rows], ["INSERT", "INSERT", "READ", "UPDATE"])
        with open("out.json", encoding="utf8") as file:
            run = json.load(file)["phases"][1]
        self.assertEqual(rows[2][2], f"{run['throughput_per_s']:,.0f} ops/s")
        median_us = run["metrics"]["READ"]["latency"]["p50_ns"] / 1000
        self.assertAlmostEqual(float(rows[2][-2].removesuffix(" us")), median_us,
                               delta=0.006 if median_us < 10 else 0.6)
        self.assertEqual(len(phases(done.stdout)), 2)

    def test_exportfile_takes_the_report(self):
        done = self.good(*self.SMALL, "-p", "exportfile=report.txt")
        self.assertEqual(done.stdout, "")
        with open("report.txt", encoding="utf8") as file:
            self.assertEqual(len(phases(file.read())), 2)

    def test_status_lines(self):
        done = self.good(*self.SMALL, "-s", "-p", "status.interval=1", "-p", "label=mine ",
                         "-target", 1000, "-p", "operationcount=1500")
        shape = (r"mine\d{4}-\d\d-\d\d \d\d:\d\d:\d\d:\d{3} 1 sec: \d+ operations; [\d.]+ current "
                 r"ops/sec; est completion in \d+ seconds? \[READ: Count=\d+, Max=\d+, Min=\d+, "
                 r"Avg=[\d.]+, 90=\d+, 99=\d+, 99\.9=\d+, 99\.99=\d+\] \[UPDATE: .*\]")
        lines = done.stderr.splitlines()
        self.assertTrue(any(re.fullmatch(shape, line) for line in lines), done.stderr)
        self.assertIn("1500 operations; ", lines[-1])

    def test_progress_line_only_on_a_terminal(self):
        words = [Program.kvload, *self.SMALL, "-target", "1000", "-p", "operationcount=1500"]
        self.assertEqual(call(words).stderr, "")
        outer, inner = pty.openpty()
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=inner) as process:
            os.close(inner)
            text = b""
            while True:
                try:
                    piece = os.read(outer, 4096)
                except OSError:  # Linux's way to say that the other end is closed
                    break
                if not piece:
                    break
                text += piece
            os.close(outer)
            self.assertEqual(process.wait(timeout=60), 0)
        self.assertRegex(text.decode(), r"\rrun: \d+%, [\d.]+[kM]? operations, [\d.]+[kM]?/s")
        self.assertTrue(text.endswith(b"\r\x1b[K"), text)

    def test_locality_on_volumes_of_one_process(self):
        done = self.good("run", "--workload", "b", "--store", "local:?ranks=4", "--locality", "0.9")
        self.assertNotIn("--locality", done.stderr)
        done = self.good("run", "--workload", "b", "--store", "local:", "--locality", "0.9")
        self.assertIn("--locality makes no difference", done.stderr)

    def test_help_version_and_properties(self):
        done = self.good("--help")
        for word in ("--store", "Example", "Exit codes", "rocksdb:PATH", "--latency"):
            self.assertIn(word, done.stdout)
        self.assertRegex(self.good("--version").stdout, r"\Akvload \d+\.\d+\.\d+ \(\S+\)\n\Z")
        self.assertIn("recordcount=0\n", self.good("--properties").stdout)


if __name__ == "__main__":
    main()

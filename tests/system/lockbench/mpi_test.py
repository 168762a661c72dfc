"""lockbench on two ranks of MPI: every bench, one report for the job, one voice."""

import json
import os

from case import BENCHES, Case, Program, busy, call, main


def job(*words, **more):
    return call([*Program.mpirun, "-n", 2, Program.lockbench, "--fabric", "mpi", *words], **more)


class Job(Case):
    def report_of(self, *words):
        path = os.path.abspath("report.json")
        done = job("--json", path, *words)
        self.assertEqual(done.returncode, 0, f"{words}: {done.stderr}{done.stdout}")
        with open(path, encoding="utf8") as file:
            return json.load(file), done

    def test_every_bench_makes_one_report(self):
        report, done = self.report_of("--sweep", "lock=gbh,d-mcs", "--sweep",
                                      "bench=" + ",".join(BENCHES), "--acquires", 50, "--fw", 0.5,
                                      "--check", "every", "--counts")
        self.assertEqual(len(report["points"]), 2 * len(BENCHES))
        self.assertEqual(done.stdout.count("check passed"), 2 * len(BENCHES))
        for point in report["points"]:
            with self.subTest(point["sweep"]):
                self.assertTrue(point["check"]["passed"])
                self.assertEqual(point["acquires"], busy(point["sweep"]["bench"], 2, 2) * 45)
                self.assertGreater(point["throughput_per_s"], 0)
                self.assertLessEqual(point["fairness"]["jain_index"], 1)
                self.assertGreater(sum(point["operations"]["rma"]["fetch_add" if point["sweep"][
                    "lock"] == "gbh" else "swap"].values()), 0)

    def test_over_the_fabric_on_pretended_nodes_with_threads(self):
        report, _ = self.report_of("--lock", "d-mcs", "--acquires", 20, "--threads", 2,
                                   "--ranks-per-node", 1, "--check", "every", "--locks", 3)
        self.assertEqual(report["configuration"]["ranks"], 2)
        self.assertEqual(report["check"]["exclusive_grants"], 4 * 20)
        self.assertEqual(report["check"]["counter"], 4 * 20)

    def test_a_volume_by_atomics_over_the_fabric(self):
        report, _ = self.report_of("--lock", "fompi-a", "--bench", "dht", "--fw", 0.5, "--acquires",
                                   60, "--threads", 2, "--ranks-per-node", 1)
        self.assertEqual(report["acquires"], 2 * 54)
        self.assertEqual(report["check"]["found"], 2 * 6 + report["exclusive"])

    def refused(self, parts, *words):
        done = job(*words, timeout_s=60)
        self.assertNotEqual(done.returncode, 0, words)
        ours = [line for line in done.stderr.splitlines() if line.startswith("lockbench: ")]
        self.assertEqual(len(ours), 1, done.stderr)  # rank 0 alone speaks
        for part in parts:
            self.assertIn(part, ours[0])

    def test_bad_input_is_told_once(self):
        self.refused(["padlock"], "--lock", "padlock")
        self.refused(["--ranks 7"], "--lock", "gbh", "--ranks", 7, "--acquires", 10)


if __name__ == "__main__":
    main()

"""./keyway run as a newcomer calls it: a report without failed operations, exit 0, and no process
left behind, both when it ends by itself and when it is stopped in the middle."""

import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import unittest

KEYWAY = pathlib.Path(sys.argv.pop()).resolve()
PATIENCE_S = 120


def descendants_by_mark(mark):
    """Processes with this test's mark in their environment."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
            except OSError:
                continue  # it has ended, or we may not read it
    return found


def still_there(mark):
    """Names of the marked processes that do not end; each is given PATIENCE_S to do so."""
    left = []
    for pid in descendants_by_mark(mark):
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        if not select.select([handle], [], [], PATIENCE_S)[0]:
            left.append(pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" "))
        os.close(handle)
    return left


class Run(unittest.TestCase):
    def start(self, *arguments):
        self.mark = f"KEYWAY_RUN_TEST={os.getpid()}-{self.id()}".encode()
        name, value = self.mark.decode().split("=", 1)
        return subprocess.Popen([KEYWAY, "run", *arguments], env=dict(os.environ, **{name: value}),
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def check_report(self, *arguments):
        process = self.start("--records", "2000", "--operations", "5000", *arguments)
        report, said = process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, 0, said)
        self.assertEqual(still_there(self.mark), [])
        self.assertRegex(report, r"(?m)^\[OVERALL\], Throughput\(ops/sec\), \d")
        operations = sum(int(n) for n in re.findall(
            r"(?m)^\[(?:READ|UPDATE|INSERT|SCAN|READ-MODIFY-WRITE)\], Operations, (\d+)", report))
        self.assertGreaterEqual(operations, 5000)
        returns = set(re.findall(r"(?m)^\[[A-Z-]+\], Return=(\w+), \d+", report))
        self.assertEqual(returns, {"OK"}, report)
        self.assertIn("Keep going: ./keyway run", report)
        return report

    def check_summary(self, report, phases):
        """A table of all phases at the end, with units, and figures of the reports above."""
        table = report[report.index("## summary:"):]
        rows = re.findall(r"(?m)^(load|run) +(\S+) +([\d,]+) ops/s +\S+ +([\d,.]+) us +([\d,.]+) us$",
                          table)
        self.assertEqual([row[:2] for row in rows], phases, table)
        throughputs = re.findall(r"\[OVERALL\], Throughput\(ops/sec\), (\S+)", report)
        self.assertEqual([row[2].replace(",", "") for row in rows],
                         [f"{float(value):.0f}" for value in throughputs])
        for *_, p50, p99 in rows:
            self.assertTrue(0 < float(p50.replace(",", "")) <= float(p99.replace(",", "")), table)

    def test_two_ranks_are_the_default(self):
        """Through the sockets of a cluster, and then one-sided: each reports a load and a run."""
        report = self.check_report()
        self.assertEqual(report.count("[OVERALL], Throughput(ops/sec)"), 4, report)
        # Each block has its heading in the same stream.
        heads = [line for line in report.splitlines() if line.startswith("#")]
        self.assertEqual([re.sub(r" (on \d|workload ).*", "", head) for head in heads],
                         ["## through sockets: load", "## through sockets: run", "## one-sided: run",
                          "# load", "# run", "## summary:"])
        self.check_summary(report, [("load", "sockets"), ("run", "sockets"), ("load", "one-sided"),
                                    ("run", "one-sided")])

    def test_scans_are_for_ranks_alone(self):
        report = self.check_report("--workload", "e", "--", "-p", "maxscanlength=5")
        self.assertEqual(report.count("[OVERALL], Throughput(ops/sec)"), 2, report)
        self.check_summary(report, [("load", "one-sided"), ("run", "one-sided")])

    def test_four_ranks_with_threads(self):
        self.check_report("--ranks", "4", "--threads", "2", "--workload", "b")

    def test_one_process(self):
        self.check_report("--store", "local:", "--threads", "2", "--workload", "c")

    def test_a_kvload_that_refuses_is_a_failure(self):
        process = self.start("--", "-p", "fieldcout=3")
        _, said = process.communicate(timeout=PATIENCE_S)
        self.assertNotEqual(process.returncode, 0)
        self.assertIn("fieldcout", said)
        self.assertEqual(still_there(self.mark), [])

    def test_stopped_in_the_middle_it_leaves_no_process(self):
        process = self.start("--records", "1000", "--operations", "999999999", "--", "-s")
        for line in process.stderr:  # the the first status line of the run: all are at work
            if "[READ" in line:
                break
        self.assertGreater(len(descendants_by_mark(self.mark)), 2)
        process.send_signal(signal.SIGTERM)
        report, said = process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, 130, said)
        self.assertIn("run: interrupted after", said)
        self.assertEqual(report.count("[OVERALL], Throughput(ops/sec)"), 2, report)
        self.assertEqual(still_there(self.mark), [])


if __name__ == "__main__":
    unittest.main()

"""How kvload ends early: by a signal, or when its server is gone. Each time it reports its
measurements so far."""

import argparse
import collections
import contextlib
import csv
import json
import os
import pathlib
import pty
import signal
import subprocess
import sys
import unittest

from case import Program, kvload
from report import operations, phases

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "server"))
from peer import Peer  # noqa: E402

HANG_S = 120
EXIT_FAILED, EXIT_GAVE_UP, EXIT_INTERRUPTED = 1, 4, 130
ENDLESS = ("-p", "operationcount=0", "-p", "maxexecutiontime=600", "-s", "-p", "status.interval=1")


class Running:
    """A running kvload. Its status lines show its progress."""

    def __init__(self, *words, **more):
        self.said = ""
        self.process = subprocess.Popen([Program.kvload, *map(str, words)],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, **more)

    def wait_for(self, part):
        for line in self.process.stderr:
            self.said += line
            if part in line:
                return
        raise AssertionError(f"kvload ended without {part!r}: {self.said}")

    def end(self):
        """The report, after everything was said."""
        report, said = self.process.communicate(timeout=HANG_S)
        self.said += said
        return phases(report)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        with contextlib.suppress(ValueError):  # read to its end before
            self.process.communicate()


class Ending(unittest.TestCase):
    def start(self, *words, **more):
        running = Running(*words, **more)
        self.addCleanup(running.kill)
        return running

    def on_a_server(self, parameters, *more):
        """A loaded server, and the words of a run on it."""
        peer = Peer(Program.keywayd)
        self.addCleanup(peer.end)
        uri = f"redis://127.0.0.1:{peer.port}"
        loaded = kvload("load", "--workload", "a", "--store", uri)
        self.assertEqual(loaded.returncode, 0, loaded.stderr)
        return peer, ["run", "--workload", "a", "--store", f"{uri}?{parameters}", *ENDLESS, *more]


class Interrupted(Ending):
    LOCAL = ("run", "--workload", "a", "--store", "local:", "--threads", 2, *ENDLESS)

    def test_a_signal_ends_the_run_with_a_report_of_what_was_done(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                run = self.start(*self.LOCAL, "--json", "out.json", "--csv", "out.csv")
                run.wait_for("[READ")
                run.process.send_signal(number)
                (_, load), (_, report) = run.end()
                self.assertEqual(run.process.returncode, EXIT_INTERRUPTED, run.said)
                self.assertRegex(run.said, r"(?m)^kvload: run: interrupted after [\d.]+ s; the report")
                self.assertEqual(operations(load), {"INSERT": 1000})
                self.check_files(report)

    def check_files(self, report):
        done = sum(operations(report).values())
        self.assertGreater(done, 0)
        result = json.loads(pathlib.Path("out.json").read_text(encoding="utf8"))
        self.assertEqual([phase["end"] for phase in result["phases"]], ["completed", "interrupted"])
        self.assertEqual(result["phases"][1]["operations"], done)
        self.assertTrue(any("interrupted" in warning for warning in result["warnings"]))
        with open("out.csv", encoding="utf8") as file:
            rows = [row for row in csv.DictReader(file) if row["phase"] == "run"]
        self.assertEqual(sum(int(row["operations"]) for row in rows), done)

    def test_a_load_reports_what_it_has_loaded(self):
        run = self.start("load", "--workload", "a", "--store", "tbb:", "-p", "recordcount=1000000",
                         "-target", 1000, "-s", "-p", "status.interval=1")
        run.wait_for("[INSERT")
        run.process.send_signal(signal.SIGINT)
        ((_, report),) = run.end()
        self.assertEqual(run.process.returncode, EXIT_INTERRUPTED, run.said)
        self.assertTrue(0 < operations(report)["INSERT"] < 1000000, report)
        self.assertIn("load: interrupted after", run.said)

    def test_a_sweep_ends_as_a_whole(self):
        run = self.start(*self.LOCAL, "--fw", "0,50,100")
        run.wait_for("[READ")
        run.process.send_signal(signal.SIGINT)
        self.assertEqual([title for title, _ in run.end()], ["load", "run with 0% writes"])
        self.assertEqual(run.process.returncode, EXIT_INTERRUPTED, run.said)

    def test_the_second_signal_ends_it_at_once(self):
        # A server that does not answer: the operations in flight cannot end.
        peer, words = self.on_a_server("timeout=600s")
        run = self.start(*words)
        run.wait_for("[READ")
        os.kill(peer.pid, signal.SIGSTOP)
        run.process.send_signal(signal.SIGINT)
        run.wait_for("a second signal ends")
        run.process.send_signal(signal.SIGINT)
        run.end()
        self.assertEqual(run.process.returncode, -signal.SIGINT, run.said)

    def test_a_signal_that_is_ignored_stays_ignored(self):
        """As under nohup, and in the background of a script."""
        run = self.start(*self.LOCAL,
                         preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        run.wait_for("[READ")
        status = pathlib.Path(f"/proc/{run.process.pid}/status").read_text(encoding="utf8")
        fields = dict(line.split(":\t", 1) for line in status.splitlines())
        self.assertEqual(int(fields["SigIgn"], 16) >> (signal.SIGINT - 1) & 1, 1, fields)
        run.process.send_signal(signal.SIGTERM)
        run.end()
        self.assertEqual(run.process.returncode, EXIT_INTERRUPTED, run.said)

    def test_a_terminal_gets_its_next_line(self):
        outer, inner = pty.openpty()
        words = [Program.kvload, "run", "--workload", "a", "--store", "tbb:", "-p",
                 "operationcount=0", "-p", "maxexecutiontime=600"]
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=inner) as process:
            os.close(inner)
            text = b""
            while True:
                try:
                    piece = os.read(outer, 4096)
                except OSError:  # the other end is closed
                    break
                if b"run: " in piece and b"run: " not in text:
                    process.send_signal(signal.SIGINT)
                text += piece
            os.close(outer)
            self.assertEqual(process.wait(timeout=HANG_S), EXIT_INTERRUPTED, text)
        # The progress line ends where it is, and is not followed on its own line.
        self.assertRegex(text.decode(), r"run: [^\r\n]*/s[^\r\n]*\r\nkvload: run: interrupted after")


class ServerGone(Ending):
    def gone_while(self, *more):
        """A run with a server that is killed in the middle, and its report."""
        peer, words = self.on_a_server("timeout=1s", "--give-up-after", 1, "--threads", 2, *more)
        run = self.start(*words)
        run.wait_for("[READ")
        os.kill(peer.pid, signal.SIGKILL)
        report = run.end()
        self.assertEqual(run.process.returncode, EXIT_GAVE_UP, run.said)
        self.assertIn("gave up, because every operation failed for 1 s (--give-up-after)", run.said)
        return run, report

    def test_kvload_stops_and_says_so(self):
        run, ((_, report),) = self.gone_while("--json", "out.json")
        self.assertRegex(run.said, r"(?m)^\S+ \S+ \d+ sec: \d+ operations; [1-9]\d* failed; ")
        (phase,) = json.loads(pathlib.Path("out.json").read_text(encoding="utf8"))["phases"]
        self.assertEqual(phase["end"], "gave up")
        ends = collections.Counter()
        for name in ("READ", "UPDATE"):
            ends.update(phase["metrics"][name]["returns"])
        self.assertEqual(phase["operations"], sum(ends.values()))
        self.assertEqual(phase["failed_operations"], sum(ends.values()) - ends["OK"])
        self.assertEqual(report["OVERALL"]["FailedOperations"], phase["failed_operations"])
        # The throughput is that of operations that succeeded.
        self.assertGreater(ends["OK"], 0)
        self.assertAlmostEqual(phase["throughput_per_s"] * phase["runtime_ms"] / 1000, ends["OK"],
                               delta=1)

    def test_batches_of_reads(self):
        run, ((_, report),) = self.gone_while("--batch", 16)
        self.assertGreater(report["OVERALL"]["FailedOperations"], 0, run.said)

    def test_a_sweep_ends_as_a_whole(self):
        run, reports = self.gone_while("--fw", "0,50")
        self.assertEqual([title for title, _ in reports], ["run with 0% writes"], run.said)

    def test_records_that_are_missing_are_answers(self):
        """They fail for three times as long as kvload waits for a store that fails."""
        peer = Peer(Program.keywayd)
        self.addCleanup(peer.end)
        done = kvload("run", "--workload", "c", "--store", f"redis://127.0.0.1:{peer.port}",
                      "-target", 10, "-p", "operationcount=30", "--give-up-after", 1)
        self.assertEqual(done.returncode, EXIT_FAILED, done.stderr)
        ((_, report),) = phases(done.stdout)
        self.assertEqual(report["OVERALL"]["FailedOperations"], 30)
        self.assertEqual(report["OVERALL"]["Throughput(ops/sec)"], 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kvload", required=True)
    parser.add_argument("--workloads", required=True)
    parser.add_argument("--keywayd", required=True)
    known, rest = parser.parse_known_args()
    Program.kvload, Program.workloads, Program.keywayd = known.kvload, known.workloads, known.keywayd
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()

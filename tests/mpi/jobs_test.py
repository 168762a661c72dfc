"""A failing MPI job prints a sentence, ends, and does not hang.

usage: jobs_test.py LAUNCH PROGRAM OTHER_MPIRUN [unittest arguments]
LAUNCH is the command before `-n RANKS PROGRAM`, as one string.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import unittest

LAUNCH, PROGRAM, OTHER_MPIRUN = sys.argv[1].split(), sys.argv[2], sys.argv[3].split()
PATIENCE_S = 60  # a job that is still there after this long has hung
KILLS = int(os.environ.get("KEYWAY_KILLS", "6"))


class Job:
    """A running job: the process ids of its ranks are known."""

    def __init__(self, ranks, *arguments):
        self.process = subprocess.Popen(
            [*LAUNCH, "-n", str(ranks), PROGRAM, *arguments], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.pids = {}
        while len(self.pids) < ranks:
            line = self.process.stdout.readline()
            if not line:
                raise AssertionError("the job ended early: " + self.process.stderr.read())
            if match := re.fullmatch(r"ready (\d+) (\d+)\s*", line):
                self.pids[int(match[1])] = int(match[2])

    def end(self):
        """Ends the standard input and waits: exit code, stdout, stderr."""
        return self._patiently(self.process.communicate)

    def end_by_itself(self):
        """Waits for the job to end while its input stays open: exit code, stdout, stderr."""
        self._patiently(self.process.wait)
        return self.end()

    def _patiently(self, wait):
        try:
            ended = wait(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            for pid in self.pids.values():
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            self.process.kill()
            raise
        return (self.process.returncode, *ended) if isinstance(ended, tuple) else None


def run(command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=PATIENCE_S, check=False)


class Jobs(unittest.TestCase):
    def test_a_rank_that_is_killed_is_named_and_the_job_ends(self):
        for turn in range(KILLS):
            ranks = 2 + turn % 3
            victim = turn % ranks
            with self.subTest(ranks=ranks, victim=victim):
                job = Job(ranks, "run", *(["--force-rma"] if turn % 2 else []))
                pid = job.pids[victim]
                os.kill(pid, signal.SIGKILL)
                code, _, error = job.end_by_itself()
                self.assertNotEqual(code, 0)
                named = re.findall(r"keyway: rank (\d+) \(pid (\d+) on \S+\) died", error)
                self.assertEqual(named, [(str(victim), str(pid))], error)

    def test_a_rank_that_leaves_without_closing_is_named(self):
        result = run([*LAUNCH, "-n", "3", PROGRAM, "exit"])
        self.assertNotEqual(result.returncode, 0)
        self.assertRegex(result.stderr, r"keyway: rank 2 \(pid \d+ on \S+\) died")

    def test_a_job_that_closes_reports_nobody(self):
        for ranks, mode in ((1, "run"), (2, "run"), (3, "run"), (4, "run"), (1, "global"), (2, "global")):
            with self.subTest(ranks=ranks, mode=mode):
                code, out, error = Job(ranks, mode).end()
                self.assertEqual(code, 0, error)
                self.assertIn("closed", out)
                self.assertNotIn("keyway:", error)

    def test_an_operation_that_fails_names_peer_operation_and_address(self):
        # Open MPI's window of shared memory is for one-node jobs and cannot be made by hand.
        if "openmpi" in LAUNCH[0]:
            return
        result = run([*LAUNCH, "-n", "2", PROGRAM, "bad-rank"])
        self.assertNotEqual(result.returncode, 0)
        self.assertRegex(result.stderr,
                         r"keyway: MPI_Fetch_and_op on rank 7 at offset 40 failed: .*; stopping")
        self.assertNotIn("died", result.stderr)

    def test_the_wrong_mpirun_is_told_from_the_right_one(self):
        result = run([*OTHER_MPIRUN, "-n", "2", PROGRAM, "run"])
        self.assertNotEqual(result.returncode, 0)
        self.assertRegex(result.stderr, r"this program is built with .* but was started on 2 ranks "
                                        r"by another MPI's mpirun; start it with mpirun\.")

    def test_more_memory_than_the_host_has_is_one_sentence(self):
        result = run([*LAUNCH, "-n", "2", PROGRAM, "run", "--segment", str(1 << 46)])
        self.assertNotEqual(result.returncode, 0)
        self.assertRegex(result.stderr, r"need \d+ bytes but only \d+ are free; ask for less memory")

    def test_too_little_shared_memory_is_a_sentence_and_no_sigbus(self):
        # A /dev/shm of 64 MiB, enough for MPI itself, in a separate mount namespace.
        inner = "mount -t tmpfs -o size=64m none /dev/shm && exec \"$@\""
        isolated = ["unshare", "--mount", "--propagation", "private"]
        if os.geteuid() != 0:
            isolated += ["--user", "--map-root-user"]
        if run([*isolated, "true"]).returncode != 0:
            self.skipTest("this machine lets nobody mount a file system")
        result = run([*isolated, "sh", "-c", inner, "-", *LAUNCH, "-n", "2", PROGRAM, "run",
                      "--segment", str(256 << 20)])
        self.assertNotEqual(result.returncode, 0)
        self.assertRegex(result.stderr, "/dev/shm")
        self.assertRegex(result.stderr, "ask for less memory or enlarge")
        self.assertNotIn("Bus error", result.stderr)


if __name__ == "__main__":
    if shutil.which(LAUNCH[0]) is None:
        sys.exit(f"{LAUNCH[0]} is not installed")
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])

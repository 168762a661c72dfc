"""Tests that start a job of keywayd each, and what they do with its processes."""

import os
import pathlib
import signal
import time
import unittest

from case import Program
from job import Job
from wire import DEADLINE_S


def stop(pid):
    """And waits until each of its threads is stopped."""
    os.kill(pid, signal.SIGSTOP)
    until = time.monotonic() + DEADLINE_S
    while any(task.joinpath("stat").read_text().rpartition(")")[2].split()[0] != "T"
              for task in pathlib.Path(f"/proc/{pid}/task").iterdir()):
        assert time.monotonic() < until, f"{pid} goes on"


class Started(unittest.TestCase):
    """Each test starts its own job."""

    def start(self, *options):
        job = Job(Program.keywayd, Program.mpirun, Program.ranks, *options)
        self.addCleanup(job.end)
        return job

    def connect(self, job, rank):
        wire = job.connect(rank)
        self.addCleanup(wire.close)
        return wire

    def ends_well(self, job):
        self.assertEqual(job.exit_code(), 0, job.said())
        self.assertTrue(job.all_have_ended())

"""The common part of lockbench's tests: the program under test, and how it is called."""

import argparse
import json
import os
import subprocess
import sys
import unittest

BENCHES = ("lb", "ecsb", "sob", "wcsb", "warb", "table", "dht")
LOCKS = ("fompi-rw", "gbh", "fompi-spin", "d-mcs", "mcs-wp", "rw-ticket")


def busy(bench, agents, ranks):
    """The number of active agents: in dht, those of all ranks but the volume's."""
    return agents - agents // ranks if bench == "dht" else agents


class Program:
    """Set once by main()."""
    lockbench = None
    mpirun = []


def call(words, timeout_s=120, **more):
    """Runs a command; a hang fails the test by its exception."""
    return subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          timeout=timeout_s, stdin=subprocess.DEVNULL, **more)


def lockbench(*words, **more):
    return call([Program.lockbench, *words], **more)


def without_times(report):
    """A report of a simulated run without what this host's clock has put into it."""
    for run in (report, *report.get("points", [])):
        run.pop("host_time", None)
    return {key: value for key, value in report.items()
            if key not in ("time_ms", "command_line", "host")}


class Case(unittest.TestCase):
    def good(self, *words):
        done = lockbench(*words)
        self.assertEqual(done.returncode, 0, f"{words}: {done.stderr}{done.stdout}")
        return done

    def report(self, *words):
        """The JSON of a run that must go well."""
        path = os.path.abspath("report.json")
        self.good(*words, "--json", path)
        with open(path, encoding="utf8") as file:
            return json.load(file)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lockbench", required=True)
    parser.add_argument("--mpirun", nargs=argparse.REMAINDER, default=[])
    known = parser.parse_args()
    Program.lockbench, Program.mpirun = known.lockbench, known.mpirun
    unittest.main(argv=[sys.argv[0]])

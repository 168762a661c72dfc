"""The common part of kvload's tests on one process: the program under test, and how it is
called."""

import argparse
import math
import sys
import unittest

from report import call


class Program:
    """Set once by main()."""
    kvload = workloads = keywayd = None


def kvload(*words, **more):
    return call([Program.kvload, *words], **more)


class Case(unittest.TestCase):
    def good(self, *words):
        done = kvload(*words)
        self.assertEqual(done.returncode, 0, f"{words}: {done.stderr}{done.stdout}")
        return done

    def near(self, count, total, share):
        """Within 6 standard deviations of `share` of `total`; seeds are fixed."""
        spread = 6 * math.sqrt(total * share * (1 - share)) + 1
        self.assertLess(abs(count - total * share), spread)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kvload", required=True)
    parser.add_argument("--workloads", required=True)
    known, rest = parser.parse_known_args()
    Program.kvload, Program.workloads = known.kvload, known.workloads
    unittest.main(argv=[sys.argv[0], *rest])

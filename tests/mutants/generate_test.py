"""generate.py itself: its output, and its failure with one sentence if the source has changed."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent
GENERATE = HERE / "generate.py"
ROOT = HERE.parents[1]

HEADER = """#pragma once
#include "keyway/locks/fabric/endpoint.h"
namespace keyway::locks {
void look(int at) {}
class Lock {
  void release() {
    flush();
    store();  // released
    store();
    look(1);
  }
};
}  // namespace keyway::locks
"""
FILE = "kind lock\nclass Lock\nsources lock.h\n"
MUTANT = "mutant lock/late\ndefect late\nbreaks L3\nshape {.writers = 2}\nin lock.h\n"


class GenerateTest(unittest.TestCase):
    def run_on(self, description, header=HEADER):
        with tempfile.TemporaryDirectory() as work:
            root = pathlib.Path(work)
            (root / "locks/distributed").mkdir(parents=True)
            (root / "locks/distributed/lock.h").write_text(header)
            (root / "few.mutants").write_text(description)
            ran = subprocess.run(
                [sys.executable, "-B", GENERATE, "--root", root, "--out", root / "out", root / "few.mutants"],
                capture_output=True, text=True, check=False)
            made = {path.name: path.read_text() for path in (root / "out").glob("*")}
        return ran, made

    def refused(self, description, *words):
        ran, _ = self.run_on(description)
        self.assertNotEqual(ran.returncode, 0)
        self.assertEqual(ran.stderr.count("\n"), 1, ran.stderr)
        for word in words:
            self.assertIn(word, ran.stderr)

    def test_a_line_is_replaced_in_a_namespace_of_its_own(self):
        ran, made = self.run_on(FILE + MUTANT + "- flush();\n- store();  // released\n+ store();\n+ flush();\n")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        text = made["few_mutants.h"]
        self.assertIn("namespace keyway::locks::mutant_lock_late {", text)
        self.assertIn("using LockLate = locks::mutant_lock_late::Lock;", text)
        self.assertLess(text.index("store();"), text.index("flush();"))
        self.assertIn('#include "keyway/locks/fabric/endpoint.h"', text)
        # The real function would be found by its arguments as well.
        self.assertIn("look_copy(1)", text)
        self.assertIn('.name = "lock/late"', made["few_mutants.cc"])
        self.assertIn("add_few_mutants(made);", made["all_mutants.cc"])

    def test_an_anchor_says_which_of_two_lines(self):
        ran, made = self.run_on(FILE + MUTANT + "after // released\n- store();\n+ wait();\n")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        text = made["few_mutants.h"]
        self.assertLess(text.index("// released"), text.index("wait();"))

    def test_a_line_that_the_source_does_not_have(self):
        self.refused(FILE + MUTANT + "- fence();\n", "lock/late", "'fence();'",
                     "locks/distributed/lock.h", "change the mutant together with the source")

    def test_a_line_that_the_source_has_twice(self):
        self.refused(FILE + MUTANT + "- store();\n", "lock/late", "2 times")

    def test_an_anchor_that_the_source_does_not_have(self):
        self.refused(FILE + MUTANT + "after // gone\n- store();\n", "lock/late", "'// gone'")

    def test_a_mutant_without_a_defect(self):
        self.refused(FILE + MUTANT, "lock/late", "changes nothing")
        self.refused(FILE + MUTANT + "- flush();\n+ flush();\n", "lock/late", "changes nothing")

    def test_a_name_that_is_there_twice(self):
        self.refused(FILE + 2 * (MUTANT + "- flush();\n"), "lock/late", "twice")

    def test_a_mutant_without_a_real_kind(self):
        self.refused((FILE + MUTANT).replace("kind lock\n", "") + "- flush();\n", "lock/late", "real kind")

    def test_a_source_that_is_not_copied(self):
        self.refused(FILE + MUTANT.replace("in lock.h", "in other.h") + "- flush();\n", "other.h")

    def test_edits_before_the_first_mutant_are_of_each(self):
        shared = "in lock.h\n- look(1);\n+ look(2);\n"
        ran, made = self.run_on(FILE + shared + MUTANT + "- flush();\n")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("look_copy(2)", made["few_mutants.h"])
        self.assertNotIn("flush();", made["few_mutants.h"])
        self.refused(FILE + shared + MUTANT, "lock/late", "changes nothing")
        ran, made = self.run_on(FILE + shared + "mutant lock/none\ndefect none\n")  # these alone
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("using LockNone = ", made["few_mutants.h"])
        self.refused(FILE + "mutant lock/none\ndefect none\n", "lock/none", "changes nothing")

    def test_a_program_that_is_not_known(self):
        self.refused(FILE + MUTANT + "program race\n- flush();\n", "'race'", "lock, switch")

    def test_a_class_that_needs_a_header_of_ours(self):
        _, made = self.run_on(FILE + "needs tests/mutants/erased_lock.h\n" + MUTANT + "- flush();\n")
        self.assertIn('#include "tests/mutants/erased_lock.h"', made["few_mutants.h"])

    def test_a_field_that_is_not_known(self):
        self.refused(FILE + MUTANT + "replace flush();\n", "few.mutants:9", "'replace'")

    def test_the_mutants_of_the_tree(self):
        with tempfile.TemporaryDirectory() as work:
            files = sorted(HERE.glob("*.mutants"))
            subprocess.run([sys.executable, "-B", GENERATE, "--root", ROOT, "--out", work, *files], check=True)
            made = (pathlib.Path(work) / "all_mutants.cc").read_text()
            listed = sum(path.read_text().count("list.push_back")
                         for path in pathlib.Path(work).glob("*_mutants.cc"))
        self.assertEqual(made.count("(made);"), len(files))
        self.assertGreaterEqual(listed, 110)


if __name__ == "__main__":
    unittest.main()

"""tools/scripts/needed_targets.py on the build folder of these tests."""

import pathlib
import subprocess
import sys
import unittest

SCRIPT, BUILD = sys.argv[1:3]


def needed(*select):
    done = subprocess.run([sys.executable, "-B", SCRIPT, BUILD, "--", *select], capture_output=True,
                          text=True, check=True)
    return done.stdout.split()


class NeededTargets(unittest.TestCase):
    def test_a_test_program_needs_itself_alone(self):
        self.assertEqual(needed("-R", "^unit_base$"), ["tests/unit/base/unit_base"])

    def test_a_build_that_a_test_keeps_does_not_count(self):
        kept = pathlib.Path("CTestTestfile.cmake")  # here, below the build folder
        kept.write_text('add_test([=[unit_base]=] "elsewhere/unit_base")\n')
        self.addCleanup(kept.unlink)
        self.assertEqual(needed("-R", "^unit_base$"), ["tests/unit/base/unit_base"])

    def test_a_script_needs_the_programs_in_its_command(self):
        found = needed("-R", "^system_kvload_server$")
        self.assertIn("tools/kvload/kvload", found)
        self.assertIn("server/keywayd", found)
        self.assertNotIn("tools/lockbench/lockbench", found)

    def test_a_rule_on_the_source_needs_nothing(self):
        self.assertEqual(needed("-R", "^tidy_rules$"), [])

    def test_a_test_of_the_build_folder_needs_all(self):
        self.assertEqual(needed("-R", "^system_install$"), ["all"])

    def test_what_is_named_exists_once_built(self):
        for name in needed("-L", "^unit$"):
            self.assertTrue((pathlib.Path(BUILD) / name).is_file(), name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

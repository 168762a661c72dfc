"""cases.py finds a test case that no ctest entry runs and a program of test cases that no entry names,
built or not; it passes a folder without either."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
# Answers as a program on Catch2 does: the selected cases, and their number as its exit code.
PROGRAM = """#!/bin/sh
test "$1" = --list-test-names-only || exit 255
case "$2" in
  "*,[.]") printf 'quick\\nhidden\\n'; exit 2 ;;
  "[.long]") echo hidden; exit 1 ;;
  *) echo quick; exit 1 ;;
esac
"""
LINK = "build tests/{0}: CXX_EXECUTABLE_LINKER__{0}_Release tests/{1}.dir/a.cc.o | libx.a || libx.a\n"
RUNNER, OTHER = "keyway_catch_run", "other"
BOTH = (("first", "tests/first"), ("first_long", "tests/first", "[.long]"))


class Cases(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = pathlib.Path(folder.name).resolve()
        (self.build / "tests").mkdir()
        (self.build / "CMakeCache.txt").write_text("KEYWAY_SANITIZE:STRING=\n")
        (self.build / "compile_commands.json").write_text("[]")
        (self.build / "build.ninja").touch()
        self.add_program("first", RUNNER)

    def add_program(self, name, linked, text=PROGRAM):
        """A target and, unless the text is None, its program."""
        with (self.build / "build.ninja").open("a", encoding="utf8") as rules:
            rules.write(LINK.format(name, linked))
        if text is not None:
            program = self.build / "tests" / name
            program.write_text(text)
            program.chmod(0o755)

    def check(self, *entries):
        """The result of the check with these ctest entries: name, program and words of each."""
        with (self.build / "CTestTestfile.cmake").open("w", encoding="utf8") as tests:
            for name, program, *words in entries:
                command = " ".join(f'"{word}"' for word in (self.build / program, *words))
                tests.write(f"add_test([=[{name}]=] {command})\n")
        return subprocess.run([sys.executable, "-B", HERE / "cases.py", "--check", self.build],
                              capture_output=True, text=True, check=False)

    def assert_finds(self, sentence, *entries):
        done = self.check(*entries)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertEqual(done.stdout.splitlines()[:-1], [sentence])

    def test_cases_that_all_have_an_entry_pass(self):
        self.add_program("plain", OTHER, "#!/bin/sh\n")
        done = self.check(*BOTH)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_case_that_no_entry_runs_is_found(self):
        self.assert_finds("no ctest entry runs this test case: tests/first: hidden", BOTH[0])

    def test_a_program_that_no_entry_names_is_found(self):
        self.add_program("second", RUNNER)
        self.assert_finds("no ctest entry names this program of test cases: tests/second", *BOTH)

    def test_it_is_found_before_it_is_built(self):
        self.add_program("second", RUNNER, text=None)
        self.assert_finds("no ctest entry names this program of test cases: tests/second", *BOTH)

    def test_it_is_found_with_a_runner_of_its_own(self):
        self.add_program("second", OTHER)
        self.assert_finds("no ctest entry names this program of test cases: tests/second", *BOTH)

    def test_another_build_does_not_name_it(self):
        self.add_program("second", RUNNER)
        self.assert_finds("no ctest entry names this program of test cases: tests/second", *BOTH,
                          ("other", "../tests/second"))

    def test_a_folder_without_programs_of_test_cases_fails(self):
        (self.build / "build.ninja").write_text("")
        done = self.check(*BOTH)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("this checks nothing", done.stderr)


if __name__ == "__main__":
    unittest.main()

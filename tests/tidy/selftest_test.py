"""Each rule of tests/tidy finds what is planted for it, and nothing in what it must allow."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

from planted import PLANTED
from source import Tree
from tidy import RULES


def write(root, files):
    for path, text in files.items():
        target = pathlib.Path(root) / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


class RulesFindWhatIsPlanted(unittest.TestCase):
    def test_every_rule_has_breaches_and_look_alikes(self):
        self.assertEqual(set(PLANTED), set(RULES))
        for name, cases in PLANTED.items():
            with self.subTest(rule=name):
                self.assertTrue(any(breaches for _, breaches in cases))
                self.assertTrue(any(not breaches for _, breaches in cases))

    def test_each_case(self):
        for name, cases in PLANTED.items():
            for number, (files, breaches) in enumerate(cases):
                with self.subTest(rule=name, case=number), tempfile.TemporaryDirectory() as root:
                    write(root, files)
                    found = {f"{f.path}:{f.line}" for f in RULES[name](Tree(root))}
                    self.assertEqual(found, set(breaches))


class TheProgramFails(unittest.TestCase):
    """tidy.py itself: its exit code, and exceptions that excuse and that do not."""

    BREACH = {"locks/README.md": "The locks, bottom up.\n", "locks/base/README.md": "# base: what all use\n",
              "locks/base/a.cc": "usleep(1);\n"}

    def run_tidy(self, files):
        with tempfile.TemporaryDirectory() as root:
            write(root, files)
            script = pathlib.Path(__file__).with_name("tidy.py")
            return subprocess.run([sys.executable, script, root], capture_output=True, text=True,
                                  check=False)

    def exception(self, path, reason="the fabric waits here"):
        return {"tests/README.md": "All tests, by altitude.\n",
                "tests/tidy/README.md": "Rules that a script can check.\n",
                "tests/tidy/exceptions.toml": '[[exception]]\nrule = "nothing_sleeps"\n'
                                              f'path = "{path}"\nreason = "{reason}"\n'}

    def test_a_breach_fails(self):
        done = self.run_tidy(self.BREACH)
        self.assertEqual(done.returncode, 1)
        self.assertIn("locks/base/a.cc:1: usleep", done.stdout)

    def test_an_exception_excuses(self):
        done = self.run_tidy(self.BREACH | self.exception("locks/base/a.cc"))
        self.assertEqual((done.returncode, done.stdout), (0, f"{len(RULES)} rules, 0 findings\n"))

    def test_an_exception_that_excuses_nothing_fails(self):
        files = self.BREACH | {"locks/base/a.cc": ""} | self.exception("locks/base/a.cc")
        done = self.run_tidy(files)
        self.assertEqual(done.returncode, 1)
        self.assertIn("excuses nothing", done.stdout)

    def test_an_exception_needs_a_reason(self):
        done = self.run_tidy(self.BREACH | self.exception("locks/base/a.cc", "because"))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("gives no reason", done.stderr)


if __name__ == "__main__":
    unittest.main()

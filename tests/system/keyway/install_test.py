"""README's order works: after ./keyway build every program that README starts is there, without the
tests; ./keyway install PREFIX installs programs, headers, libraries and the package."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop()).resolve()
BUILD = ROOT / "build/release"


def user_targets():
    """The targets of ./keyway build, as listed in setup.sh."""
    done = subprocess.run(
        ["bash", "-c", 'source tools/scripts/setup.sh && echo "${keyway_user_targets[@]}"'],
        cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.split()


def ninja(*words):
    return subprocess.run(["ninja", "-C", BUILD, "-t", *words], stdout=subprocess.PIPE, text=True,
                          check=True).stdout


class Build(unittest.TestCase):
    def setUp(self):
        commands = ninja("commands", *user_targets())
        self.words = set(commands.split())
        self.linked = set(re.findall(r" -o (\S+)", commands))

    def test_what_readme_starts_is_built(self):
        programs = set(re.findall(r"build/release/([a-z/]+)", (ROOT / "README.md").read_text()))
        self.assertGreaterEqual(len(programs), 4)
        self.assertEqual(programs - self.linked, set())

    def test_what_is_installed_is_built(self):
        installed = set()
        for script in BUILD.rglob("cmake_install.cmake"):
            installed.update(re.findall(rf'"{BUILD}/([^"]+)"', script.read_text()))
        # Without what configuring makes.
        products = installed & {line.split(":")[0] for line in ninja("targets", "all").splitlines()}
        self.assertGreaterEqual(len(products), 10)
        self.assertEqual(products - self.words, set())

    def test_tests_are_not(self):
        self.assertEqual([file for file in self.linked
                          if file.startswith("tests/") and not file.endswith(".o")], [])


class Install(unittest.TestCase):
    def test_into_a_folder_beside_the_caller(self):
        with tempfile.TemporaryDirectory(prefix="keyway-prefix-") as folder:
            done = subprocess.run([ROOT / "keyway", "install", "a prefix"], cwd=folder,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout)
            prefix = pathlib.Path(folder) / "a prefix"
            self.assertIn(f"-DCMAKE_PREFIX_PATH={prefix}", done.stdout)
            for program in ("keywayd", "kvctl", "kvload", "lockbench", "lockcheck"):
                called = subprocess.run([prefix / "bin" / program, "--version"],
                                        stdout=subprocess.PIPE, text=True, check=True)
                self.assertTrue(called.stdout.startswith(program), called.stdout)
            self.assertTrue((prefix / "include/keyway/client/client.h").is_file())
            self.assertEqual(len(list(prefix.glob("lib*/**/KeywayConfig.cmake"))), 1)
            self.assertEqual(len(list(prefix.glob("lib*/**/libkeyway_client.a"))), 1)


if __name__ == "__main__":
    unittest.main()

"""keywayd as a service: its unit, and the configuration in the unit's folder."""

import configparser
import pathlib
import re
import shutil
import subprocess
import tempfile
import tomllib
import unittest

from case import Program, main, redis_plays_both
from peer import END_S

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "server/systemd"
# On a scale to ten; the rest is mostly the network, which the service needs, and reading the host's
# own files.
MOST_EXPOSED = 2.0


def output_of(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False, timeout=END_S, stdin=subprocess.DEVNULL)


class Configuration(unittest.TestCase):
    def setUp(self):
        if redis_plays_both():
            self.skipTest("of keywayd only")

    def printed(self, *words):
        done = output_of(Program.keywayd, *words, "--print-config")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_the_example_has_every_option_at_its_default(self):
        example = FOLDER / "keywayd.toml"
        self.assertEqual(self.printed("--config", example), self.printed())
        names = {line.split("=")[0] for line in self.printed().splitlines()}
        self.assertEqual(set(tomllib.loads(example.read_text())), names, f"say it in {example}")

    def test_what_is_printed_is_a_configuration(self):
        password = tempfile.NamedTemporaryFile("w", suffix=" of mine")
        self.addCleanup(password.close)
        password.write("a word\n")
        password.flush()
        words = ("--port", "7999", "--bind", "127.0.0.1,::1", "--memory", "2GiB", "--timeout", "7",
                 "--requirepass-file", password.name, "--lock-policy", "auto")
        printed = self.printed(*words)
        tomllib.loads(printed)
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(printed)
            file.flush()
            self.assertEqual(self.printed("--config", file.name), printed)


    def test_a_password_is_not_printed(self):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write('requirepass = "sesame street"\n')
            file.flush()
            for words in (("--requirepass", "sesame\nstreet"), ("--config", file.name)):
                printed = self.printed(*words)
                self.assertNotIn("sesame", printed)
                self.assertNotIn("street", printed)
                self.assertIn("\n# requirepass is set, and not shown\n", printed)
                self.assertNotIn("requirepass", tomllib.loads(printed))


class Unit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.unit = pathlib.Path(Program.options.unit)

    def test_parses(self):
        parsed = configparser.ConfigParser(strict=False, interpolation=None)
        parsed.optionxform = str
        parsed.read_string(self.unit.read_text())
        self.assertEqual(parsed.sections(), ["Unit", "Service", "Install"])
        self.assertRegex(parsed["Service"]["ExecStart"], r"\A/.*/keywayd --config %d/keywayd\.toml\Z")
        self.assertEqual(parsed["Service"]["NoNewPrivileges"], "yes")

    def test_systemd_takes_it(self):
        if not shutil.which("systemd-analyze"):
            self.skipTest("there is no systemd-analyze; the other test has read the file")
        folder = tempfile.mkdtemp(prefix="keyway-unit-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        # The program that is built, not the one that would be installed.
        unit = pathlib.Path(folder) / "keywayd.service"
        unit.write_text(re.sub(r"(?m)^ExecStart=\S+", f"ExecStart={Program.keywayd}",
                               self.unit.read_text()))
        done = output_of("systemd-analyze", "verify", "--man=no", unit)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))
        done = output_of("systemd-analyze", "security", "--offline=true", "--no-pager",
                         f"--threshold={int(MOST_EXPOSED * 10)}", unit)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    main(unit={"required": True, "help": "the unit as the build has made it"})

"""headers.py fails on a header that leans on another and on one that includes upward."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

COMPILER = sys.argv.pop() if len(sys.argv) > 1 else "g++"
GOOD = "#pragma once\n#include <string>\nstd::string f();\n"


class HeadersAreCompiledAlone(unittest.TestCase):
    def check(self, header, folder="low"):
        with tempfile.TemporaryDirectory() as top:
            source = pathlib.Path(top) / "src"
            libraries = []
            for name in ("low", "high"):
                staged = pathlib.Path(top) / "include" / name / "keyway"
                staged.mkdir(parents=True)
                (source / name).mkdir(parents=True)
                (source / name / "good.h").write_text(GOOD)
                (staged / name).symlink_to(source / name)
                includes = [str(staged.parent)] + [i for lib in libraries for i in lib["includes"]]
                libraries.append({"name": name, "folder": name, "includes": includes,
                                  "definitions": []})
            (source / folder / "tried.h").write_text(header)
            described = pathlib.Path(top) / "libraries.json"
            described.write_text(json.dumps(libraries))
            return subprocess.run(
                [sys.executable, pathlib.Path(__file__).with_name("headers.py"), "--compiler",
                 COMPILER, "--source", source, "--libraries", described],
                capture_output=True, text=True, check=False)

    def test_a_self_contained_header_passes(self):
        done = self.check('#pragma once\n#include "keyway/low/good.h"\n', "high")
        self.assertEqual((done.returncode, done.stdout),
                         (0, "3 headers, 0 do not compile alone\n"))

    def test_a_header_that_leans_on_another_fails(self):
        done = self.check("#pragma once\nstd::vector<int> g();\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("low/tried.h does not compile alone", done.stdout)

    def test_an_upward_include_fails(self):
        done = self.check('#pragma once\n#include "keyway/high/good.h"\n')
        self.assertEqual(done.returncode, 1)
        self.assertIn("1 do not compile alone", done.stdout)


if __name__ == "__main__":
    unittest.main()

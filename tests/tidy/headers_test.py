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
    def check(self, header, folder="low", opens=None, precompile=()):
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
            if opens is not None:
                (source / folder / "tried.cc").write_text(opens)
            described = pathlib.Path(top) / "libraries.json"
            described.write_text(json.dumps(libraries))
            return subprocess.run(
                [sys.executable, pathlib.Path(__file__).with_name("headers.py"), "--compiler",
                 COMPILER, "--source", source, "--libraries", described, "--precompile",
                 *precompile],
                capture_output=True, text=True, check=False)

    def test_a_self_contained_header_passes(self):
        done = self.check('#pragma once\n#include "keyway/low/good.h"\n', "high")
        self.assertEqual((done.returncode, done.stdout),
                         (0, "3 headers, 0 do not compile alone; 0 left to the build\n"))

    def test_a_header_that_leans_on_another_fails(self):
        done = self.check("#pragma once\nstd::vector<int> g();\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("low/tried.h does not compile alone", done.stdout)

    def test_a_header_of_ours_that_leans_on_another_fails_with_precompiled_headers(self):
        leans = "#pragma once\n#include <string>\nstd::string g(decltype(f()));\n"
        done = self.check(leans, precompile=("<string>", "<vector>"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("low/tried.h does not compile alone", done.stdout)
        self.assertEqual(self.check(GOOD, precompile=("<string>",)).returncode, 0)

    def test_an_upward_include_fails(self):
        done = self.check('#pragma once\n#include "keyway/high/good.h"\n')
        self.assertEqual(done.returncode, 1)
        self.assertIn("1 do not compile alone", done.stdout)

    def test_a_header_that_a_source_opens_with_is_left_to_the_build(self):
        leans = "#pragma once\nstd::vector<int> g();\n"
        first = '// What.\n#include "keyway/low/tried.h"\n\n#include <vector>\n'
        done = self.check(leans, opens=first)
        self.assertEqual((done.returncode, done.stdout),
                         (0, "2 headers, 0 do not compile alone; 1 left to the build\n"))
        for later in ('#include <vector>\n#include "keyway/low/tried.h"\n',
                      '#include "keyway/low/good.h"\n#include "keyway/low/tried.h"\n',
                      '#define X 1\n#include "keyway/low/tried.h"\n'):
            with self.subTest(opens=later):
                done = self.check(leans, opens=later)
                self.assertEqual(done.returncode, 1)
                self.assertIn("low/tried.h does not compile alone", done.stdout)


if __name__ == "__main__":
    unittest.main()

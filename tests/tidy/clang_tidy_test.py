"""clang_tidy.py finds a planted breach of .clang-tidy, and passes a source without one."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent


class ClangTidy(unittest.TestCase):
    def checked(self, text):
        with tempfile.TemporaryDirectory() as root:
            root = pathlib.Path(root)
            (root / ".clang-tidy").symlink_to(HERE.parent.parent / ".clang-tidy")
            (root / "server").mkdir()
            source = root / "server/a.cc"
            source.write_text(text)
            build = root / "build"
            build.mkdir()
            (build / "compile_commands.json").write_text(json.dumps(
                [{"directory": str(build), "command": f"g++ -std=c++20 -c {source}", "file": str(source)}]))
            return subprocess.run(
                [sys.executable, "-B", HERE / "clang_tidy.py", "--clang-tidy", PROGRAM,
                 "--commands", build / "compile_commands.json", "--source", root],
                capture_output=True, text=True, check=False)

    def test_a_clean_source(self):
        done = self.checked("int right_name(int value) { return value; }\n")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_wrong_name(self):
        done = self.checked("int WrongName(int value) { return value; }\n")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("readability-identifier-naming", done.stdout)

    def test_a_use_after_a_move(self):
        done = self.checked("#include <string>\n#include <utility>\nvoid take(std::string);\n"
                            "int use(std::string s) { take(std::move(s)); return s.empty(); }\n")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("bugprone-use-after-move", done.stdout)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()

"""prose.py counts what it must in each kind of file, nothing else, and fails above a limit."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import prose
from source import File

# (path, text, rates' counts: sentences, openings, persons, archaic phrases)
COUNTED = [
    ("locks/a.h", "// What waits is woken. The releaser wakes it.\nint a;\n", (2, 1, 0, 0)),
    ("locks/a.h", "// *What.* A lock. *Thread safety.* Any agent.\n", (3, 0, 0, 0)),
    ("locks/a.h", "// One sentence over\n// two lines: what a colon ends.\n", (2, 1, 0, 0)),
    ("locks/a.h", "// Ends here\n\n// Where a gap ends it.\n", (2, 1, 0, 0)),
    ("locks/a.h", "int a;  // an end\nint b;  // that of a line\n", (2, 1, 0, 0)),
    ("locks/a.h", "int a;  // an end\n        // that of a\n// that of the next\nint b;\n", (2, 1, 0, 0)),
    ("locks/a.h", 'auto a = "// Who?";\n', (0, 0, 0, 0)),
    ("locks/a.h", "// `Who` is a name; a version 1.2 is no end.\n", (1, 0, 0, 0)),
    ("tests/a.pml", "/* Of these,\n * someone who waits. */\n", (1, 1, 1, 0)),
    ("tests/a.py", '"""Whose turn it is."""\n\na = "# Who"  # Hangs on it.\n', (2, 1, 1, 1)),
    ("tests/a.py", "a = 1  # an end\nb = 2  # that of a\n# Of b.\n", (3, 2, 0, 0)),
    ("tools/CMakeLists.txt", "add(a)  # an end\nadd(b)  # that of a\n", (2, 1, 0, 0)),
    ("tools/a.sh", "#!/bin/sh\n# It goes on.\necho $#  # as ever\n", (2, 0, 0, 2)),
    ("tools/CMakeLists.txt", "add(a)  # It has to be. It had to be.\n", (2, 0, 0, 1)),
    ("locks/README.md", "# What it is\n\n- one\n- of two\n\n```\nwho\n```\n", (3, 2, 0, 0)),
    ("docs/a.md", "| a | that b |\n|---|---|\n| [who](where.md) | d |\n", (4, 2, 1, 0)),
    ("tools/a.txt", "What of it?", (0, 0, 0, 0)),
]

# The same for texts that users see.
SHOWN = [
    ("server/a.cc", '{.summary = "How many keys there are."}', (1, 1, 0, 0)),
    ("server/a.cc", 'add("--all",\n    "every one; "  // as ever\n    "by default: which wins");', (2, 1, 0, 0)),
    ("server/a.cc", 'add_gauge("Part of the heap that is free.");', (1, 0, 0, 0)),
    ("server/a.cc", '#include "of/a/b.h"\n// How "it has to" go on.\nauto a = "Of two";\n', (0, 0, 0, 0)),
    ("server/a.cc", 'auto a = R"x(Where (it) waits.\nAn end)x";', (2, 1, 0, 0)),
    ("client/a.cc", 'fail("a lock \\"that\\" goes on\\nwhose {}");', (1, 0, 1, 1)),
    ("tools/a.sh", 'die "which of $1 has to be"  # that is\n', (1, 1, 0, 1)),
    ("tests/a.cc", 'TEST_CASE("who waits goes on") {', (0, 0, 0, 0)),
]

PLAIN = "// The sweep removes expired elements.\n"
ODD = "// What has expired is removed.\n"


class ProseIsCounted(unittest.TestCase):
    def test_each_kind_of_file(self):
        for path, text, expected in COUNTED:
            with self.subTest(path=path, text=text):
                found = sum(map(prose.measure, prose.blocks_of(File(path, text))), prose.Figures())
                self.assertEqual(
                    (found.sentences, found.openings, found.persons, found.archaic), expected)


    def test_texts_that_users_see(self):
        for path, text, expected in SHOWN:
            with self.subTest(path=path, text=text):
                found = sum(map(prose.measure, prose.texts_of(File(path, text))), prose.Figures())
                self.assertEqual(
                    (found.sentences, found.openings, found.persons, found.archaic), expected)


class LimitsHold(unittest.TestCase):
    def judge(self, text, exempt, kind="comments"):
        figures = {("locks", kind): prose.measure(prose.Block(1, text.removeprefix("// ")))}
        return list(prose.judge(figures, exempt))

    def test_a_part_above_its_limit_fails(self):
        self.assertEqual(self.judge(PLAIN, {}), [])
        self.assertEqual(len(self.judge(ODD, {})), 1)

    def test_one_text_in_many_is_too_many(self):
        many = "The sweep removes elements. " * 500 + "What has expired is removed."
        self.assertEqual(self.judge(many, {}), [])
        self.assertEqual(len(self.judge(many, {}, "texts")), 1)

    def test_an_exemption_holds_up_to_its_limit(self):
        self.assertEqual(self.judge(ODD, {("locks", "comments"): (100, 0, 0)}), [])
        self.assertEqual(len(self.judge(ODD, {("locks", "comments"): (99, 0, 0)})), 1)

    def test_an_exemption_without_a_use_fails(self):
        found = self.judge(PLAIN, {("locks", "comments"): (100, 0, 0)})
        self.assertEqual(found, ["locks comments: needs no exemption any more; remove it"])


class TheProgramFails(unittest.TestCase):
    def run_prose(self, text, *options):
        with tempfile.TemporaryDirectory() as root:
            file = pathlib.Path(root) / "locks" / "a.h"
            file.parent.mkdir()
            file.write_text(text)
            script = pathlib.Path(__file__).with_name("prose.py")
            return subprocess.run([sys.executable, "-B", script, root, *options],
                                  capture_output=True, text=True, check=False)

    def test_a_folder_above_its_limit_fails(self):
        done = self.run_prose(ODD)
        self.assertEqual(done.returncode, 1)
        self.assertIn("locks comments: at most", done.stdout)

    def test_a_text_fails(self):
        self.assertEqual(self.run_prose(PLAIN + 'auto a = "a lock that waits";\n').returncode, 0)
        done = self.run_prose('auto a = "that lock has waited";\n')
        self.assertEqual(done.returncode, 1)
        self.assertIn("locks texts: at most", done.stdout)

    def test_list_shows_the_places(self):
        done = self.run_prose(PLAIN + ODD, "--list", "locks")
        self.assertEqual((done.returncode, done.stdout),
                         (0, "locks/a.h:1: What: What has expired is removed\n"))


if __name__ == "__main__":
    unittest.main()

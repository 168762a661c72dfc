"""sources.py finds an access without the mutex, in a source and in a header without one, and passes
one with it. It finds a source that leans on the includes of one that a build joins it with."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
COUNTER = """#pragma once
#include "keyway/locks/base/mutex.h"
namespace keyway {
class Counter {
 public:
  int get() const;
  int peek() const { %s return count_; }
 private:
  mutable Mutex mutex_;
  int count_ KW_GUARDED_BY(mutex_) = 0;
};
}
"""
GET = '#include "keyway/server/net/counter.h"\nint keyway::Counter::get() const { %s return count_; }\n'
LOCKED = "const MutexLock held(mutex_);"


class Sources(unittest.TestCase):
    def analysed(self, get, peek):
        """get: the source's guard, or None for no source; peek: the header's."""
        with tempfile.TemporaryDirectory() as root:
            root = pathlib.Path(root)
            (root / "server/net").mkdir(parents=True)
            (root / "locks/base").mkdir(parents=True)
            (root / "locks/base/mutex.h").symlink_to(HERE.parent.parent / "locks/base/mutex.h")
            (root / "include").mkdir()
            (root / "include/keyway").symlink_to(root)
            (root / "server/net/counter.h").write_text(COUNTER % peek)
            source = root / "server/net/counter.cc"
            source.write_text("int nothing;\n" if get is None else GET % get)
            build = root / "build"
            build.mkdir()
            return self.checked(root, source)

    def checked(self, root, source):
        """The check of a tree that compiles this file."""
        build = root / "build"
        command = f"g++ -I{root}/include -std=c++20 -fPIE --param=ggc-min-expand=9 -o a.o -c {source}"
        (build / "compile_commands.json").write_text(json.dumps(
            [{"directory": str(build), "command": command, "file": str(source)}]))
        return subprocess.run(
            [sys.executable, "-B", HERE / "sources.py", "--clang", CLANG, "--commands",
             build / "compile_commands.json", "--source", root, "--precompile", "<vector>"],
            capture_output=True, text=True, check=False)

    def test_a_guarded_access_passes(self):
        done = self.analysed(LOCKED, LOCKED)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_an_access_without_the_mutex_fails(self):
        done = self.analysed("", LOCKED)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("reading variable 'count_' requires holding mutex 'mutex_'", done.stdout)

    def test_in_a_header_that_no_source_beside_it_includes(self):
        self.assertEqual(self.analysed(None, LOCKED).returncode, 0)
        done = self.analysed(None, "")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("counter.h", done.stdout)

    def test_a_source_that_leans_on_one_it_is_joined_with_fails(self):
        with tempfile.TemporaryDirectory() as root:
            root = pathlib.Path(root)
            joined = root / "build/server/Unity/unity_0_cxx.cxx"
            for folder in (joined.parent, root / "server"):
                folder.mkdir(parents=True)
            (root / "server/one.h").write_text("int one();\n")
            (root / "server/a.cc").write_text('#include "one.h"\nint one() { return 1; }\n')
            (root / "server/b.cc").write_text("int two() { return one() + 1; }\n")
            joined.write_text("".join(f'#include "{root}/server/{name}.cc"\n\n' for name in "ab"))
            done = self.checked(root, joined)
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertIn("server/b.cc", done.stdout)
            self.assertIn("2 sources, 1 with findings", done.stdout)


if __name__ == "__main__":
    CLANG = sys.argv.pop(1)
    unittest.main()

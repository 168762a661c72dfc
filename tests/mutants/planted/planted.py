#!/usr/bin/env python3
"""Plants known defects into a copy of the source, one at a time, and expects a test to find each.

    planted.py [NAME...]   plant these defects, or all; print the failure that killed each
    planted.py --list      list the defects
    planted.py --check     only check that each patch still fits the source, and has a line in README

A defect is a patch in this folder. The lines above the patch name the defect, its area, the ctest
entries that find it, and the arguments that select a part of an entry, if a part is enough:

    what: a sweep removes elements under a reader's lock
    area: expiry
    tests: store_deferred
    arguments: --abort "deferred: so are*"

The sound source must pass the tests of every defect first. A selection that matches no test case
fails. One build folder serves all defects, and defects with the same tests follow each other.
Exit code: 0 if every defect was found, 1 if one was not or could not be planted, 2 for bad usage."""

import argparse
import filecmp
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import time

_HERE = pathlib.Path(__file__).resolve().parent
_ROOT = _HERE.parents[2]
_NEEDED = ("what", "area", "tests")
_LEFT_OUT = {"build", ".git", "__pycache__"}


class Defect:
    """A patch and the lines above it."""

    def __init__(self, path):
        self.path = path
        self.name = path.stem
        said = {}
        for line in path.read_text(encoding="utf8").splitlines():
            if line.startswith("---"):
                break
            key, _, value = line.partition(": ")
            said[key] = value.strip()
        missing = [key for key in _NEEDED if not said.get(key)]
        if missing:
            raise SystemExit(f"{path.name}: no line '{missing[0]}: ...' before the patch")
        self.what, self.area = said["what"], said["area"]
        self.tests = tuple(said["tests"].split())
        self.arguments = tuple(shlex.split(said.get("arguments", "")))

    def patch(self, tree, *options):
        """Applies the patch. Returns None, or the reason why it cannot be applied."""
        done = subprocess.run(["patch", "-p1", "--fuzz=0", "--force", "--silent", *options,
                               "-i", str(self.path)], cwd=tree, capture_output=True, text=True,
                              check=False)
        return None if done.returncode == 0 else done.stdout.strip() or done.stderr.strip()


def defects_of(names):
    found = {path.stem: path for path in sorted(_HERE.glob("*.patch"))}
    for name in names:
        if name not in found:
            print(f"planted: there is no defect '{name}'; --list names them", file=sys.stderr)
            sys.exit(2)
    defects = [Defect(found[name]) for name in names or found]
    return sorted(defects, key=lambda defect: (defect.tests, defect.arguments, defect.name))


def check(defects):
    """Checks that the source still has the lines that each patch changes, and that README has a line
    for each."""
    failed = 0
    readme = (_HERE / "README.md").read_text(encoding="utf8")
    for defect in defects:
        wrong = defect.patch(_ROOT, "--dry-run")
        if wrong is not None:
            failed += 1
            print(f"{defect.name}: the patch no longer fits the source: {wrong}")
        if f"| `{defect.name}` | {defect.area} | {defect.what} | {defect.tests[0]}" not in readme:
            failed += 1
            print(f"{defect.name}: README.md has no line with its area, what it does and its test")
    print(f"{len(defects)} patches, {failed} findings")
    return 1 if failed else 0


def copy_tree(source, target):
    """Makes `target` equal to `source`. Equal files keep their times, so ninja rebuilds little."""
    target.mkdir(parents=True, exist_ok=True)
    here = {path.name: path for path in source.iterdir() if path.name not in _LEFT_OUT}
    for old in target.iterdir():
        if old.name not in here and old.name not in _LEFT_OUT:
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    for name, path in here.items():
        copy = target / name
        if path.is_dir():
            copy_tree(path, copy)
        elif not copy.exists() or not filecmp.cmp(path, copy, shallow=False):
            shutil.copyfile(path, copy)
            shutil.copymode(path, copy)


def first_failure(output):
    """Returns a failed check of the program, or else the place and the expression of Catch2's first
    failure, or else the last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()] or ["no output"]
    for i, line in enumerate(lines[:-1]):
        if ": check failed: " in line:
            return line
        if line.endswith("FAILED:"):
            place = pathlib.PurePath(line.split(": ")[0]).name
            signals = [after for after in lines[i:] if after.startswith("SIG")]
            return f"{place} {(signals or [lines[i + 1]])[0]}"
    return lines[-1]


class Tree:
    """A copy of the source with a separate build folder."""

    def __init__(self, folder, jobs):
        self.source = folder / "source"
        self.build = self.source / "build" / "release"
        self.log = folder / "log"
        self.jobs = jobs
        self.entries = {}
        self.sound = {}  # by tests and arguments: whether the sound source passes them
        copy_tree(_ROOT, self.source)
        if shutil.which("ccache"):  # with a defect, most objects are those of the sound source
            for language in ("C", "CXX"):
                os.environ.setdefault(f"CMAKE_{language}_COMPILER_LAUNCHER", "ccache")
        # Without the mutants: they name lines of the locks, which a defect may change.
        if not self.run("cmake", "--preset", "release", "-DKEYWAY_TESTS=ON",
                        "-DKEYWAY_MUTANT_TESTS=OFF"):
            raise SystemExit(f"cmake fails; see {self.log}")

    def run(self, *command):
        """Runs a command and returns whether it succeeds; its output goes to the log."""
        with self.log.open("a", encoding="utf8") as log:
            return subprocess.run(command, cwd=self.source, stdout=log, stderr=log,
                                  check=False).returncode == 0

    def build_for(self, tests):
        pattern = f"^({'|'.join(tests)})$"
        needed = subprocess.run([sys.executable, "-B", "tools/scripts/needed_targets.py", self.build,
                                 "--", "-R", pattern], cwd=self.source, capture_output=True,
                                text=True, check=True).stdout.split()
        if not needed:
            raise SystemExit(f"no ctest entry is called '{' '.join(tests)}'")
        return self.run("cmake", "--build", str(self.build), "-j", str(self.jobs),
                        "--target", *needed)

    def entry(self, name):
        """Returns the command of a ctest entry and its properties. Its program must exist."""
        if name not in self.entries:
            shown = subprocess.run(["ctest", "--test-dir", self.build, "--show-only=json-v1",
                                    "-R", f"^{name}$"], capture_output=True, text=True, check=True)
            for test in json.loads(shown.stdout)["tests"]:
                properties = {p["name"]: p["value"] for p in test["properties"]}
                self.entries[test["name"]] = test["command"], properties
        return self.entries[name]

    def failure(self, name, arguments):
        """Runs an entry as ctest does. Returns None, or the first failure that its output shows. An entry
        that exceeds its time limit is killed and fails."""
        command, properties = self.entry(name)
        surroundings = dict(os.environ)
        surroundings.update(word.split("=", 1) for word in properties.get("ENVIRONMENT", []))
        if arguments:  # Catch2's: a selection of no test case is an error
            arguments = [*arguments, "-w", "NoTests"]
        with self.log.open("ab") as log:
            log.write(f"--- {shlex.join([*command, *arguments])}\n".encode())
            log.flush()
            begin = log.tell()
            with subprocess.Popen([*command, *arguments], stdout=log, stderr=log,
                                  stdin=subprocess.DEVNULL, env=surroundings,
                                  cwd=properties["WORKING_DIRECTORY"],
                                  start_new_session=True) as running:
                try:
                    if running.wait(timeout=properties["TIMEOUT"]) == 0:
                        return None
                except subprocess.TimeoutExpired:
                    os.killpg(running.pid, signal.SIGKILL)
                    return f"it runs longer than {properties['TIMEOUT']} s"
        return first_failure(self.log.read_bytes()[begin:].decode(errors="replace"))

    def killer(self, defect):
        """Returns the first of the defect's tests that fails, and its failure, or None."""
        for test in defect.tests:
            failure = self.failure(test, defect.arguments)
            if failure is not None:
                return f"{test}: {failure}"
        return None

    def is_sound(self, defect):
        """Returns whether the source without the defect passes the defect's tests."""
        which = defect.tests, defect.arguments
        if which not in self.sound:
            self.sound[which] = self.build_for(defect.tests) and self.killer(defect) is None
        return self.sound[which]


def plant(defect, tree):
    """Plants a defect and runs its tests. Returns a report, and whether a test found the defect."""
    wrong = defect.patch(tree.source)
    if wrong is not None:
        return f"cannot be planted: {wrong}", False
    try:
        if not tree.build_for(defect.tests):
            return f"does not compile; see {tree.log}", False
        killer = tree.killer(defect)
    finally:
        defect.patch(tree.source, "--reverse")
    return (f"killed by {killer}", True) if killer else ("SURVIVES", False)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true", help="list the defects")
    parser.add_argument("--check", action="store_true", help="only check that each patch fits")
    parser.add_argument("--folder", type=pathlib.Path, default=_ROOT / "build" / "planted",
                        help="folder of the copy (default: build/planted)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(),
                        help="number of parallel compilations (default: one for each processor)")
    args = parser.parse_args()
    defects = defects_of(args.names)
    if not defects:
        sys.exit("planted: the folder contains no patch")
    if args.list:
        for defect in defects:
            print(f"{defect.name:28} {defect.area:10} {defect.what}")
        return 0
    if args.check:
        return check(defects)
    args.folder.mkdir(parents=True, exist_ok=True)
    tree = Tree(args.folder.resolve(), args.jobs)
    unsound = [defect.name for defect in defects if not tree.is_sound(defect)]
    if unsound:
        print(f"the sound source fails the tests of {' '.join(unsound)}; see {tree.log}")
        return 1
    survived = 0
    for defect in defects:
        started = time.monotonic()
        said, killed = plant(defect, tree)
        survived += not killed
        print(f"{defect.name:28} {defect.area:10} {said} ({time.monotonic() - started:.0f} s)",
              flush=True)
    print(f"{len(defects) - survived} of {len(defects)} defects killed")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())

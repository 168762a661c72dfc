"""Lists what the tests of a build folder run: a line for each test case of each ctest entry, with the
entry's labels, and the sizes and the sanitizers that the case is compiled with. Two such lists,
before and after a change, show by diff what was dropped or made smaller.

With --check, fails when a test case is compiled and no ctest entry runs it, and when no entry names a
program of test cases."""

import argparse
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/scripts"))
from needed_targets import commands, named  # noqa: E402

# Definitions that change the size of a test.
SIZES = re.compile(r"-D(KEYWAY_(?:SIM_SMALL|TEST_DIVISOR|FUZZ\w*)=?\w*)")
LAUNCHER_WORDS = ("-launcher", "fork", "-n", "-R")
# An option of Catch2: each program on it contains this text.
CATCH_OPTION = b"--list-test-names-only"
# The runner of Catch2 that KeywayTests.cmake links into each program of test cases.
CATCH_RUNNER = "keyway_catch_run.dir"


def entries(build):
    """(name, labels, command) of every ctest entry."""
    shown = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"],
                           capture_output=True, text=True, check=True).stdout
    for test in json.loads(shown)["tests"]:
        labels = next((p["value"] for p in test["properties"] if p["name"] == "LABELS"), [])
        yield test["name"], labels, test.get("command", [])


def definitions(build):
    """Definitions that set sizes, by the folder in which a target is compiled."""
    found = {}
    for command in json.loads((build / "compile_commands.json").read_text()):
        target = re.search(r"-o (\S+)/CMakeFiles/(\w+)\.dir/", command["command"])
        if target:
            sizes = found.setdefault(f"{target.group(1)}/{target.group(2)}", set())
            sizes.update(SIZES.findall(command["command"]))
    return found


def sanitizers(build):
    cache = (build / "CMakeCache.txt").read_text()
    return re.search(r"^KEYWAY_SANITIZE:\w+=(.*)$", cache, re.MULTILINE).group(1) or "none"


class Catch:
    """The programs on Catch2 among those of a build folder, and the cases that they select."""

    def __init__(self, build):
        self.build = build
        self.known = {}

    def _ask(self, program, words):
        key = (program, tuple(words))
        if key not in self.known:
            done = subprocess.run([program, "--list-test-names-only", *words], capture_output=True,
                                  text=True, check=False, timeout=60, cwd=program.parent)
            # Catch2 2.13 answers with the number of cases.
            cases = [line for line in done.stdout.splitlines() if line.strip()]
            self.known[key] = cases if done.returncode == len(cases) % 256 else []
        return self.known[key]

    def program(self, command):
        """The program of a command that is ours and on Catch2, and the words behind it."""
        for at, word in enumerate(command):
            path = pathlib.Path(word)
            if path.is_relative_to(self.build) and path.is_file() and path.suffix == "" \
                    and CATCH_OPTION in path.read_bytes():
                return path, [w for w in command[at + 1:]]
        return None, []

    def all_cases(self, program):
        return self._ask(program, ["*,[.]"])

    def selected(self, program, words):
        """The test cases that the words of an entry select; without words, all that are not
        hidden."""
        spec = [w for w in words if w.startswith(("[", "~")) or (w and not w.startswith("-")
                                                                  and not w.startswith("/") and not w.isdigit())]
        return self._ask(program, spec or ["~[.]"])


def describe(build):
    """Every line, and the cases that no entry runs."""
    catch, sizes, sanitizer = Catch(build), definitions(build), sanitizers(build)
    lines, run, programs = [], {}, {}
    for name, labels, command in entries(build):
        program, words = catch.program(command)
        about = [name, "+".join(labels)]
        if program is None:
            own = [w for w in command if "/" not in w and w not in LAUNCHER_WORDS]
            lines.append("\t".join(about + ["", sanitizer, " ".join(own)]))
            continue
        folder = program.relative_to(build).as_posix()
        size = " ".join(sorted(sizes.get(folder, ())))
        programs[folder] = program
        for case in catch.selected(program, words):
            run.setdefault(folder, set()).add(case)
            lines.append("\t".join(about + [size, sanitizer, case]))
    forgotten = [f"{folder}: {case}" for folder, program in sorted(programs.items())
                 for case in catch.all_cases(program) if case not in run.get(folder, ())]
    return sorted(lines), forgotten


def test_programs(build):
    """The programs on Catch2 that the build folder has a target for, built or not."""
    linked = re.findall(r"^build ([^ :\n]+)[^:\n]*: CXX_EXECUTABLE_LINKER__\S+ (.*)$",
                        (build / "build.ninja").read_text(), re.MULTILINE)
    for name, parts in linked:
        program = build / name
        if CATCH_RUNNER in parts or (program.is_file() and CATCH_OPTION in program.read_bytes()):
            yield name


def unnamed(build):
    """Programs of test cases that no entry names: no test runs any of their cases."""
    known = set().union(*(named(command, build) for command in commands(build).values()))
    return sorted(set(test_programs(build)) - known)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", nargs="+", type=pathlib.Path, help="build folders, all built")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    failed = False
    for build in args.build:
        lines, forgotten = describe(build.resolve())
        if args.check:
            if not lines or not any(test_programs(build.resolve())):
                sys.exit(f"{build} has no tests; this checks nothing")
            for case in forgotten:
                print(f"no ctest entry runs this test case: {case}")
            idle = unnamed(build.resolve())
            for program in idle:
                print(f"no ctest entry names this program of test cases: {program}")
            print(f"{build.name}: {len(lines)} cases, {len(forgotten)} forgotten; "
                  f"{len(idle)} programs without an entry")
            failed = failed or bool(forgotten) or bool(idle)
        else:
            for line in lines:
                print(f"{build.name}\t{line}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

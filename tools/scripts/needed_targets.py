"""Names the ninja targets that the selected tests of a build folder run, one on a line.

A test names what it runs in its command: programs and libraries by their paths. One that is given the
build folder itself needs all of it."""

import argparse
import json
import os
import pathlib
import re
import subprocess


def test_files(folder):
    """The generated list of tests of a folder, and those that it includes. There may be others below:
    a test can keep another build in its working folder."""
    file = folder / "CTestTestfile.cmake"
    if not file.is_file():
        return  # a folder without tests
    yield file
    for part in re.findall(r'^subdirs\("(.*)"\)$', file.read_text(), re.MULTILINE):
        yield from test_files(folder / part)


def commands(build):
    """The words of each test's command, by its name, as the generated files have them: ctest itself
    does not list the commands of programs that are not built yet."""
    found = {}
    for file in test_files(pathlib.Path(build)):
        for line in file.read_text().splitlines():
            if match := re.match(r"add_test\((?:\[(=*)\[)?([\w.+-]+)(?:\]\1\])? (.*)\)$", line):
                found[match.group(2)] = re.findall(r'"((?:[^"\\]|\\.)*)"', match.group(3))
    return found


def selected(build, select):
    """The commands of the tests that ctest would run."""
    shown = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1", *select],
                           capture_output=True, text=True, check=True).stdout
    known = commands(build)
    return [known[test["name"]] for test in json.loads(shown)["tests"]]


def outputs(build):
    """Every file that ninja makes by linking, relative to the build folder."""
    shown = subprocess.run(["ninja", "-C", build, "-t", "targets", "all"],
                           capture_output=True, text=True, check=True).stdout
    rules = (line.rsplit(": ", 1) for line in shown.splitlines() if ": " in line)
    return {name for name, rule in rules if "LINKER" in rule}


def named(command, build):
    """The files of the build folder that the words of a command name, relative to it; "." is the folder
    itself. A word may be OPTION=PATH, or PATH:PATH."""
    for word in (part for word in command for part in word.rpartition("=")[2].split(":")):
        path = pathlib.Path(os.path.normpath(word))
        if path.is_relative_to(build):
            yield path.relative_to(build).as_posix()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="a build folder")
    parser.add_argument("select", nargs="*", help="options of ctest, behind --")
    args = parser.parse_args()
    build = pathlib.Path(args.build).resolve()
    made, needed = outputs(args.build), set()
    for command in selected(args.build, args.select):
        files = set(named(command, build))
        needed |= {"all"} if "." in files else files & made
    print("\n".join(["all"] if "all" in needed else sorted(needed)))


if __name__ == "__main__":
    main()

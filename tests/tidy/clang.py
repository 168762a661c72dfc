"""Runs clang on the sources that g++ compiles: shared by sources.py and clang_tidy.py."""

import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess

# Options that g++ accepts and clang does not, and the precompiled headers that g++ made.
_NOT_CLANGS = re.compile(r"--param=.*|-Winvalid-pch|-fpch-.*|-Wno-subobject-linkage|-Wno-array-bounds")
# Irrelevant to parsing, but clang wants a precompiled header made with the same.
_CODE = ("-fPIC", "-fPIE")
# A line of CMake's file that joins sources.
_JOINED = re.compile(r'^#include "(.+)"$', re.MULTILINE)


def sources(commands, source):
    """The arguments with which a build compiles each source of ours, also if it joins it with others,
    by path in the tree; without compiler, output and precompiled header."""
    found = {}
    for entry in json.loads(commands.read_text()):
        path = pathlib.Path(entry["file"])
        arguments = arguments_of(shlex.split(entry["command"]))
        paths = [path]
        if path.parent.name == "Unity" and path.is_relative_to(commands.parent):
            paths = [pathlib.Path(name) for name in _JOINED.findall(path.read_text())]
        for path in paths:
            if path.is_relative_to(source) and not path.is_relative_to(commands.parent):
                found[path.relative_to(source).as_posix()] = arguments
    return found


def arguments_of(words):
    """The options of a compiler's command that define how to parse the source."""
    kept, words = [], iter(words)
    for word in words:
        if word in ("-o", "-c", "-include"):
            next(words)
        elif word.startswith(("-I", "-D", "-std=", "-f", "-isystem")) \
                and word not in _CODE and not _NOT_CLANGS.match(word):
            kept += [word, next(words)] if word in ("-isystem", "-I", "-D") else [word]
    return kept


def report(commands):
    """Runs the command of each source, as many at a time as there are processors, and prints what they
    find. The exit status: 1 after a finding, or without a source."""
    failed = 0
    for path, done in run_all(commands):
        if done.returncode != 0:
            failed += 1
            print(f"{path}:\n{done.stdout or done.stderr}", end="")
    print(f"{len(commands)} sources, {failed} with findings")
    return 1 if failed or not commands else 0


def run_all(commands):
    """(name, result) of each command."""
    def run(item):
        done = subprocess.run(item[1], capture_output=True, text=True, check=False)
        return item[0], done
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(run, sorted(commands.items())))

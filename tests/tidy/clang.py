"""Runs clang on the sources that g++ compiles: shared by thread_safety.py and clang_tidy.py."""

import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess

# Options that g++ accepts and clang does not, and the precompiled headers that g++ made.
_NOT_CLANGS = re.compile(r"--param=.*|-Winvalid-pch|-fpch-.*|-Wno-subobject-linkage|-Wno-array-bounds")


def sources(commands, source):
    """The arguments that a build, of these compile commands, compiles each source of ours with, by path in the tree; without
    compiler, output and precompiled header."""
    found = {}
    for entry in json.loads(commands.read_text()):
        path = pathlib.Path(entry["file"])
        if not path.is_relative_to(source) or path.is_relative_to(commands.parent):
            continue
        found[path.relative_to(source).as_posix()] = arguments_of(shlex.split(entry["command"]))
    return found


def arguments_of(words):
    """The options of a compiler's command that define how to parse the source."""
    kept, words = [], iter(words)
    for word in words:
        if word in ("-o", "-c", "-include"):
            next(words)
        elif word.startswith(("-I", "-D", "-std=", "-f", "-isystem")) and not _NOT_CLANGS.match(word):
            kept += [word, next(words)] if word in ("-isystem", "-I", "-D") else [word]
    return kept


def run_all(commands):
    """Runs the commands, as many at a time as there are processors; (name, result) of each."""
    def run(item):
        done = subprocess.run(item[1], capture_output=True, text=True, check=False)
        return item[0], done
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(run, sorted(commands.items())))

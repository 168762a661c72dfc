"""thread_safety.py --clang PROGRAM --commands FILE --source FOLDER: clang's thread-safety analysis of
the sources that may touch what a mutex guards.

Guarded members are private, so these are the sources beside a header that includes
locks/base/mutex.h and that include it, and sources that name a mutex themselves. Only reads sources."""

import argparse
import pathlib
import re
import sys

from clang import run_all, sources
from source import CODE_FOLDERS

FLAGS = ["-fsyntax-only", "-Wno-everything", "-Wthread-safety", "-Werror=thread-safety"]
_MUTEX_H = '#include "keyway/locks/base/mutex.h"'
_NAMES = re.compile(r"\b(Mutex|MutexLock|CondVar)\b")


def annotated_headers(root):
    """Headers that include mutex.h themselves."""
    return {path for folder in CODE_FOLDERS for path in sorted((root / folder).rglob("*.h"))
            if folder != "tests" and _MUTEX_H in path.read_text()}


def included(path, root, headers):
    """Those of the headers beside a source that it includes."""
    text = path.read_text()
    return {h for h in headers if h.parent == path.parent and
            (f'"keyway/{h.relative_to(root).as_posix()}"' in text or f'"{h.name}"' in text)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clang", required=True)
    parser.add_argument("--commands", required=True, type=pathlib.Path,
                        help="compile_commands.json of a g++ build")
    parser.add_argument("--source", required=True, type=pathlib.Path)
    args = parser.parse_args()
    headers = annotated_headers(args.source)
    commands, alone = {}, set(headers)
    every = {path: words for path, words in sources(args.commands, args.source).items()
             if not path.startswith("tests/")}
    for path, words in every.items():
        file = args.source / path
        beside = included(file, args.source, headers)
        if beside or _NAMES.search(file.read_text()):
            commands[path] = [args.clang, *words, *FLAGS, str(file)]
        alone -= beside
    for header in alone:  # no source beside it includes it
        words = next(words for path, words in every.items()
                     if (args.source / path).parent == header.parent)
        commands[str(header)] = [args.clang, *words, *FLAGS, "-x", "c++", str(header)]
    failed = 0
    for path, done in run_all(commands):
        if done.returncode != 0:
            failed += 1
            print(f"{path}:\n{done.stderr}", end="")
    print(f"{len(headers)} headers, {len(commands)} sources, {failed} failed")
    return 1 if failed or not commands else 0


if __name__ == "__main__":
    sys.exit(main())

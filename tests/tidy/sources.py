"""sources.py --clang PROGRAM --commands FILE --source FOLDER --precompile HEADER...: clang reads every
source but tests alone, with its thread-safety analysis.

A build joins sources (KEYWAY_JOIN), so one that leans on another's includes compiles there. Headers
that include locks/base/mutex.h, and that no source beside them includes, are read too. The standard
library's headers that the build precompiles are parsed once. Only reads sources."""

import argparse
import pathlib
import subprocess
import sys
import tempfile

from clang import report, sources
from source import CODE_FOLDERS

STANDARD = "-std=c++20"
FLAGS = ["-fsyntax-only", "-Wno-everything", "-Wthread-safety", "-Werror=thread-safety"]
_MUTEX_H = '#include "keyway/locks/base/mutex.h"'


def precompile(clang, names, folder):
    """Parses these headers; returns the flags that make clang begin with them."""
    header = folder / "standard.h"
    header.write_text("".join(f"#include {name}\n" for name in names))
    parsed = header.with_suffix(".pch")
    subprocess.run([clang, STANDARD, "-x", "c++-header", header, "-o", parsed], check=True)
    return ["-include-pch", str(parsed)]


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
    parser.add_argument("--precompile", nargs="*", default=[])
    args = parser.parse_args()
    headers = annotated_headers(args.source)
    words = {path: words for path, words in sources(args.commands, args.source).items()
             if not path.startswith("tests/")}
    files = {path: args.source / path for path in words}
    seen = set().union(*(included(file, args.source, headers) for file in files.values()))
    for header in headers - seen:
        path = str(header)
        beside = next(p for p, file in files.items() if file.parent == header.parent)
        words[path], files[path] = [*words[beside], "-x", "c++"], header
    with tempfile.TemporaryDirectory() as folder:
        begin = precompile(args.clang, args.precompile, pathlib.Path(folder))
        return report({path: [args.clang, *begin, *words[path], *FLAGS, str(file)]
                       for path, file in files.items()})


if __name__ == "__main__":
    sys.exit(main())

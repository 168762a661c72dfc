"""Compiles every header of a library alone, as the first include of a file, with exactly the
include folders that its library's users get: a header that leans on another, or includes
upward, does not compile."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys


def headers_of(source, library, libraries):
    """The library's own headers: those below its folder that no deeper library owns."""
    deeper = [source / other["folder"] for other in libraries
              if other["folder"].startswith(library["folder"] + "/")]
    for header in sorted((source / library["folder"]).rglob("*.h")):
        if not any(folder in header.parents for folder in deeper):
            yield header.relative_to(source).as_posix()


def compile_alone(compiler, library, header):
    flags = [f"-I{path}" for path in library["includes"] if path]
    flags += [f"-D{definition}" for definition in library["definitions"] if definition]
    done = subprocess.run(
        [compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-x", "c++", *flags, "-"],
        input=f'#include "keyway/{header}"\n', capture_output=True, text=True, check=False)
    return header, done.returncode, done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--source", required=True, type=pathlib.Path)
    parser.add_argument("--libraries", required=True, type=pathlib.Path,
                        help="JSON: name, folder, includes, definitions of each library")
    args = parser.parse_args()
    libraries = json.loads(args.libraries.read_text())
    jobs = [(lib, header) for lib in libraries for header in headers_of(args.source, lib, libraries)]
    if not jobs:
        sys.exit("no header was found; the test checks nothing")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for header, code, said in pool.map(lambda job: compile_alone(args.compiler, *job), jobs):
            if code != 0:
                failed += 1
                print(f"{header} does not compile alone:\n{said}")
    print(f"{len(jobs)} headers, {failed} do not compile alone")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

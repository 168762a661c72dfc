"""Compiles every header of a library alone, as the first include of a file, with exactly the
include folders that its library's users get: a header that leans on another, or includes
upward, does not compile.

The standard library's headers that the build precompiles are parsed once here, too: they are most of
the work. So a header compiles although it leans on another for one of those; the rule
standard_headers_are_included finds that.

Those that a source of their library includes before all else are left to sources.py, which reads just
that, with just those folders."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FLAGS = ["-std=c++20", "-Wall", "-Wextra"]


def precompile(compiler, names, folder):
    """Parses these headers; returns the flags that make a compiler begin with them."""
    header = folder / "standard.h"
    header.write_text("".join(f"#include {name}\n" for name in names))
    subprocess.run([compiler, *FLAGS, "-x", "c++-header", header, "-o", f"{header}.gch"], check=True)
    return ["-Winvalid-pch", "-include", str(header)]


def headers_of(source, library, libraries):
    """The library's own headers: those below its folder that no deeper library owns."""
    deeper = [source / other["folder"] for other in libraries
              if other["folder"].startswith(library["folder"] + "/")]
    for header in sorted((source / library["folder"]).rglob("*.h")):
        if not any(folder in header.parents for folder in deeper):
            yield header.relative_to(source).as_posix()


def opened_by_sources(source, library):
    """The headers that a source of the library's folder includes first, which sources.py reads."""
    first = re.compile(r'^#include ["<]keyway/([^">]+)[">]', re.MULTILINE)
    for file in (source / library["folder"]).glob("*.cc"):
        text = file.read_text(encoding="utf8")
        found = first.search(text)
        if found and not re.search(r"^#", text[:found.start()], re.MULTILINE):
            yield found.group(1)


def compile_alone(compiler, begin, library, header):
    flags = [f"-I{path}" for path in library["includes"] if path]
    flags += [f"-D{definition}" for definition in library["definitions"] if definition]
    done = subprocess.run(
        [compiler, *FLAGS, *begin, "-fsyntax-only", "-x", "c++", *flags, "-"],
        input=f'#include "keyway/{header}"\n', capture_output=True, text=True, check=False)
    return header, done.returncode, done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--source", required=True, type=pathlib.Path)
    parser.add_argument("--libraries", required=True, type=pathlib.Path,
                        help="JSON: name, folder, includes, definitions of each library")
    parser.add_argument("--precompile", nargs="*", default=[], help="<NAME> of the standard library")
    args = parser.parse_args()
    libraries = json.loads(args.libraries.read_text())
    jobs, left = [], 0
    for library in libraries:
        opened = set(opened_by_sources(args.source, library))
        for header in headers_of(args.source, library, libraries):
            if header in opened:
                left += 1
            else:
                jobs.append((library, header))
    if not jobs:
        sys.exit("no header was found; the test checks nothing")
    failed = 0
    with (tempfile.TemporaryDirectory() as folder,
          concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool):
        begin = precompile(args.compiler, args.precompile, pathlib.Path(folder))
        for header, code, said in pool.map(
                lambda job: compile_alone(args.compiler, begin, *job), jobs):
            if code != 0:
                failed += 1
                print(f"{header} does not compile alone:\n{said}")
    print(f"{len(jobs)} headers, {failed} do not compile alone; {left} left to the build")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

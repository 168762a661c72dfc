"""links.py --ninja FILE --program PATH --without LIBRARY: fails if the program's link takes the
library in. Asks ninja, so nothing needs to be built. With --with, fails if the link does not: this
shows that the query works."""

import argparse
import pathlib
import subprocess
import sys


def linked(file, program):
    """The inputs of the program's link step: objects and libraries, ours by their paths."""
    found = subprocess.run(["ninja", "-C", file.parent, "-f", file.name, "-t", "query", program], check=True,
                           capture_output=True, text=True).stdout
    lines = found.split("  outputs:")[0].split("\n")
    return {line.strip().lstrip("| ").rpartition("/")[2] for line in lines}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ninja", required=True, type=pathlib.Path, metavar="FILE")
    parser.add_argument("--program", required=True)
    parser.add_argument("--without", default=[], action="append", metavar="LIBRARY")
    parser.add_argument("--with", dest="has", default=[], action="append", metavar="LIBRARY")
    args = parser.parse_args()
    names = linked(args.ninja, args.program)
    wrong = [f"{args.program} links {name}" for name in args.without if name in names]
    wrong += [f"{args.program} does not link {name}" for name in args.has if name not in names]
    print("\n".join(wrong or [f"{args.program}: {len(names)} inputs, as they must be"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

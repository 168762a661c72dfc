"""clang_tidy.py --clang-tidy PROGRAM --commands FILE --source FOLDER [NAME...]: clang-tidy with the checks
of .clang-tidy on all sources but tests, or on those of the folders NAME... Only reads sources."""

import argparse
import pathlib
import sys

from clang import report, sources


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clang-tidy", required=True)
    parser.add_argument("--commands", required=True, type=pathlib.Path,
                        help="compile_commands.json of a g++ build")
    parser.add_argument("--source", required=True, type=pathlib.Path)
    parser.add_argument("folders", nargs="*")
    args = parser.parse_args()
    commands = {}
    for path, words in sources(args.commands, args.source).items():
        if path.startswith("tests/") or not path.startswith(tuple(args.folders) or ""):
            continue
        commands[path] = [args.clang_tidy, "--quiet", f"--config-file={args.source / '.clang-tidy'}",
                          str(args.source / path), "--", *words, "-Wno-everything"]
    return report(commands)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Runs rows of docs/performance.md and prints the measured values beside the goals."""

import argparse
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "common"))
from measuring import provenance  # noqa: E402

REPEATS = 5
EXIT_FAILED, EXIT_USAGE = 1, 2


def find_rows():
    """Row name -> (file, what it measures), from the second line of each file in rows/."""
    rows = {}
    for file in sorted((HERE / "rows").glob("*.*")):
        if os.access(file, os.X_OK) and file.is_file():
            lines = file.read_text().splitlines()
            rows[file.stem] = (file, lines[1].lstrip("# ") if len(lines) > 1 else "")
    return rows


def run_row(file, environment):
    """The results of one row, or None when it failed; its stderr goes through."""
    done = subprocess.run([file], env=environment, stdout=subprocess.PIPE, text=True, check=False)
    results = []
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            results.append(json.loads(line))
        else:
            print(line)
    if done.returncode != 0 or not results:
        print(f"{file.name} ended with {done.returncode} and {len(results)} results",
              file=sys.stderr)
        return None
    return results


def verdict(result, tiny):
    """Small sizes show that a row runs; a goal is for the full ones."""
    if result.get("met") is None:
        return ""
    if tiny:
        return "not judged"
    return "met" if result["met"] else "NOT MET"


def show(result, tiny):
    print(f"{result['row']:<44} {result['value']:>10.3f} {result.get('unit', 'ratio'):<8} "
          f"{result.get('bound') or '':<12} {verdict(result, tiny)}", flush=True)


def main():
    parser = argparse.ArgumentParser(prog="./keyway bench", description=__doc__)
    parser.add_argument("row", nargs="*", help="rows to run (default: all)")
    parser.add_argument("--list", action="store_true", help="name the rows and stop")
    parser.add_argument("--tiny", action="store_true", help="smallest sizes: shows that rows run")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="also write all results")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"),
                        help="build folder to measure (default: build/release)")
    args = parser.parse_args()

    rows = find_rows()
    if args.list:
        for name, (_, what) in rows.items():
            print(f"{name:<20} {what}")
        return 0
    unknown = [name for name in args.row if name not in rows]
    if unknown:
        print(f"{', '.join(unknown)}: no such row; ./keyway bench --list names them",
              file=sys.stderr)
        return EXIT_USAGE

    environment = dict(os.environ, KEYWAY_BENCH_BUILD=str(args.build.resolve()),
                       KEYWAY_BENCH_TINY=str(int(args.tiny)),
                       KEYWAY_BENCH_REPEATS=str(1 if args.tiny else REPEATS))
    about = provenance(args.build)
    for key, value in about.items():
        print(f"{key}: {value}")
    results, failed = [], False
    for name in args.row or rows:
        measured = run_row(rows[name][0], environment)
        failed |= measured is None
        for result in measured or []:
            show(result, args.tiny)
            results.append(result)
    if args.json:
        args.json.write_text(json.dumps({**about, "tiny": args.tiny, "results": results}, indent=1))
    return EXIT_FAILED if failed else 0


if __name__ == "__main__":
    sys.exit(main())

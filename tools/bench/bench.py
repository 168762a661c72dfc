#!/usr/bin/env python3
"""Runs rows of docs/performance.md and prints what they measured beside what is asked for."""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
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


def first_line(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return "unknown"
    return done.stdout.splitlines()[0] if done.returncode == 0 and done.stdout else "unknown"


def machine():
    model = next((line.split(":", 1)[1].strip()
                  for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.machine())
    return f"{os.cpu_count()} x {model}, Linux {platform.release()}"


def provenance(build):
    cache = (build / "CMakeCache.txt").read_text().splitlines()
    settings = dict(line.split("=", 1) for line in cache if line[:1].isalpha() and "=" in line)
    return {
        "revision": first_line("git", "-C", str(HERE), "describe", "--always", "--dirty"),
        "compiler": first_line(settings.get("CMAKE_CXX_COMPILER:FILEPATH",
                                            settings.get("CMAKE_CXX_COMPILER:STRING", "c++")),
                               "--version"),
        "build": settings.get("CMAKE_BUILD_TYPE:STRING", "unknown"),
        "mpi": settings.get("KEYWAY_MPI:STRING", "unknown"),
        "machine": machine(),
    }


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


def show(result):
    met = {True: "met", False: "NOT MET", None: ""}[result.get("met")]
    print(f"{result['row']:<44} {result['value']:>10.3f} {result.get('unit', 'ratio'):<8} "
          f"{result.get('bound') or '':<12} {met}", flush=True)


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
            show(result)
            results.append(result)
    if args.json:
        args.json.write_text(json.dumps({**about, "tiny": args.tiny, "results": results}, indent=1))
    return EXIT_FAILED if failed else 0


if __name__ == "__main__":
    sys.exit(main())

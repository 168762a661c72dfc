#!/usr/bin/env python3
"""Remakes claims of the papers: prints the paper's figures beside ours and draws them."""

import argparse
import importlib.util
import json
import pathlib
import sys
import types

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "common"))
from measuring import ROOT, provenance  # noqa: E402
from claim import remake  # noqa: E402
from stage import Stage  # noqa: E402

EXIT_USAGE = 2


def find_claims():
    """Claims by id, from the files in claims/."""
    claims = {}
    for file in sorted((HERE / "claims").glob("*.py")):
        spec = importlib.util.spec_from_file_location(file.stem, file)
        claims[file.stem.upper()] = spec
    return claims


def load(spec):
    """A claim's title, figure and run(stage): from data (claim.py), or defined in the file."""
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    told = getattr(module, "CLAIM", None)
    if told is None:
        return types.SimpleNamespace(title=module.TITLE, figure=module.FIGURE, run=module.run,
                                     told=False)
    return types.SimpleNamespace(title=told.title, figure=told.figure, told=True,
                                 run=lambda stage, **how: remake(told, stage, **how))


def main():
    parser = argparse.ArgumentParser(prog="./keyway reproduce", description=__doc__)
    parser.add_argument("claim", nargs="*", metavar="ID", help="claims to remake (default: all)")
    parser.add_argument("--list", action="store_true", help="name the claims and stop")
    parser.add_argument("--quick", action="store_true",
                        help="smallest sizes: shows that a row runs, not what comes out")
    parser.add_argument("--plain", action="store_true",
                        help="without the sensitivity, which takes most of the time")
    parser.add_argument("--out", type=pathlib.Path, metavar="FOLDER",
                        help="folder for plots (SVG) and numbers (JSON) (default: reproduce/ in the "
                             "build folder, but the plots of whole runs go to docs/claims)")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release",
                        help="build folder whose programs run (default: build/release)")
    args = parser.parse_args()

    claims = find_claims()
    if args.list:
        for name, spec in claims.items():
            claim = load(spec)
            print(f"{name:<4} {claim.figure:<27} {claim.title}")
        return 0
    unknown = [name for name in args.claim if name.upper() not in claims]
    if unknown:
        print(f"keyway: {', '.join(unknown)}: no such claim; ./keyway reproduce --list names them",
              file=sys.stderr)
        return EXIT_USAGE
    numbers = args.out or args.build / "reproduce"
    plots = numbers if args.out or args.quick else ROOT / "docs/claims"
    for folder in (numbers, plots):
        folder.mkdir(parents=True, exist_ok=True)

    about = provenance(args.build)
    for key, value in about.items():
        print(f"{key}: {value}")
    for name in [name.upper() for name in args.claim] or claims:
        claim = load(claims[name])
        stage = Stage(name, f"{claim.figure}: {claim.title}", args.build.resolve(),
                      {"svg": plots, "json": numbers}, args.quick)
        print(f"\n{name}: {claim.title} ({claim.figure})"
              + (", at sizes that show only that it runs" if args.quick else ""))
        row = claim.run(stage, sensitive=False) if args.plain and claim.told else claim.run(stage)
        row.show()
        stage.file("json").write_text(json.dumps(
            {**about, "claim": name, "title": claim.title, "figure": claim.figure,
             "quick": args.quick, **row.as_json()}, indent=1) + "\n")
        print(f"written: {stage.file('svg')}, {stage.file('json')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Checks the models of this folder with spin, as the .toml files beside them say.

A run must end as it says: a clean one with every state searched and every statement reached, the
others with the violation that they name. A model with a defect must show its violation."""

import argparse
import os
import pathlib
import re
import shutil
import sys
import tempfile
import tomllib

import pan

_MARK = re.compile(r"/\* unreached: \S+ \S+")


class Suite:
    """The selected entries of the .toml files, and their failures."""

    def __init__(self, arguments, work):
        self.models = arguments.models.resolve()
        self.table = {}
        for path in sorted(self.models.glob("*.toml")):
            for kind, entries in tomllib.loads(path.read_text()).items():
                self.table.setdefault(kind, []).extend(entries)
        self.work = work
        self.long = arguments.long
        self.model = arguments.model
        self.only = arguments.only
        self.failures = 0
        self.searches = 0
        self.covered = {}     # model: (statements, reached) over its clean runs

    def wanted(self, kind):
        for entry in self.table.get(kind, []):
            name = entry.get("name", entry.get("defect"))
            if (self.model in (None, entry["model"]) and re.search(self.only, name)
                    and (self.long or not entry.get("long"))):
                yield name, entry

    def fail(self, name, text):
        self.failures += 1
        print(f"FAILED {name}: {text}", flush=True)

    def search(self, name, entry, extra=()):
        """The verdict of one entry, printed; None when there is none."""
        self.searches += 1
        folder = os.path.join(self.work, entry["model"], name)
        model = str(self.models / f"{entry['model']}.pml")
        defines = [*entry["define"], *extra]
        expected = entry["expect"] if entry["expect"] != "clean" else None
        try:
            verdict = pan.search(model, defines, entry["search"], folder,
                                 entry.get("large", False), entry.get("collapse", False))
        except pan.Broken as broken:
            self.fail(name, str(broken))
            return None
        print(f"{entry['model']:14} {name:33} {entry['search']:9} {verdict.states:9} states "
              f"{verdict.memory_mb:5.0f} MB {verdict.seconds:5.1f} s  "
              f"{verdict.symptom or 'no violation'}", flush=True)
        if verdict.symptom is None and expected is not None:
            self.fail(name, f"spin found no violation; '{expected}' was to be found")
        elif verdict.symptom is not None and (expected is None or expected not in verdict.symptom):
            self.fail(name, f"{verdict.symptom}; expected: {expected or 'no violation'}\n"
                      + pan.trail(verdict))
        return verdict

    def runs(self):
        for name, entry in self.wanted("run"):
            verdict = self.search(name, entry)
            if verdict and entry["expect"] == "clean" and verdict.symptom is None:
                statements, reached = self.covered.setdefault(entry["model"], (set(), set()))
                statements |= verdict.statements
                reached |= verdict.reached

    def mutants(self):
        for name, entry in self.wanted("mutant"):
            self.search(name, entry, [f"DEFECT_{name}"])

    def coverage(self):
        """A statement that no clean run reached needs a line with the reason; and such a line must
        be true."""
        for model, (statements, reached) in self.covered.items():
            lines = (self.models / f"{model}.pml").read_text().split("\n")
            missed = {}
            for line, text in sorted(statements - reached):
                missed.setdefault(line, []).append(text)
            marked = {n for n, line in enumerate(lines, 1) if _MARK.search(line)}
            for line in sorted(set(missed) - marked):
                self.fail(model, f"line {line} is never reached: {'; '.join(missed[line])}")
            for line in sorted(marked - set(missed)):
                self.fail(model, f"line {line} is marked as unreached, and is reached")

    def every_defect_is_listed(self):
        for path in sorted(self.models.glob("*.pml")):
            defects = set(re.findall(r"DEFECT_([A-Z_]+)", path.read_text()))
            listed = {m["defect"] for m in self.table.get("mutant", []) if m["model"] == path.stem}
            if defects != listed:
                self.fail(path.stem, f"defects of model and suite differ: "
                          f"{' '.join(sorted(defects ^ listed))}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=pathlib.Path, default=pathlib.Path(__file__).parent,
                        help="folder of the models and their .toml files (default: this one)")
    parser.add_argument("--model", help="one model only: the name of its file, without .pml")
    parser.add_argument("--only", default="", help="only entries whose name matches this expression")
    parser.add_argument("--long", action="store_true", help="the large sizes as well")
    parser.add_argument("--work", help="folder for work files (default: the system's)")
    arguments = parser.parse_args()
    work = os.path.abspath(tempfile.mkdtemp(prefix="models-", dir=arguments.work))
    suite = Suite(arguments, work)
    suite.every_defect_is_listed()
    suite.runs()
    if not arguments.only:
        suite.coverage()
    suite.mutants()
    if suite.searches == 0:
        suite.fail("suite", "nothing in it is called that")
    if suite.failures:
        print(f"{suite.failures} failures; spin's files are left in {work}")
        return 1
    shutil.rmtree(work)
    return 0


if __name__ == "__main__":
    sys.exit(main())

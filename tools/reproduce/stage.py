"""The functions that claims share: sweeps of lockbench, sensitivity to a machine's figures, tables,
plots."""

import concurrent.futures
import dataclasses
import json
import tomllib

import plotting
from measuring import output_of

# Simulated points at once; each is a process of one thread.
AT_ONCE = 2


@dataclasses.dataclass
class Row:
    """A claim beside our result: (subject, paper, ours, verdict) lines, and tables below them."""
    lines: list = dataclasses.field(default_factory=list)
    tables: list = dataclasses.field(default_factory=list)  # (title, header, rows)
    notes: list = dataclasses.field(default_factory=list)

    def line(self, what, paper, ours, verdict):
        self.lines.append((what, paper, ours, verdict))

    def table(self, title, header, rows):
        self.tables.append((title, header, rows))

    def show(self):
        print_table(("", "paper", "ours", ""), self.lines)
        for note in self.notes:
            print(f"  note: {note}")
        for title, header, rows in self.tables:
            print(f"\n{title}")
            print_table(header, rows)

    def as_json(self):
        keys = ("what", "paper", "ours", "verdict")
        return {"lines": [dict(zip(keys, line)) for line in self.lines],
                "tables": [{"title": title, "header": header, "rows": rows}
                           for title, header, rows in self.tables],
                "notes": self.notes}


def print_table(header, rows):
    rows = [[str(cell) for cell in row] for row in (header, *rows)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
    for row in rows:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


class Stage:
    """The environment of a reproduction: the programs, the sizes, the result files. `about` is
    the paper's figure and what it shows, for the plot."""

    def __init__(self, claim, about, build, folders, quick):
        self.claim, self.about = claim, about
        self.build, self.folders, self.quick = build, folders, quick

    def file(self, kind):
        return self.folders[kind] / f"{self.claim}.{kind}"

    def run(self, program, *words):
        """The output of a program of ours; its name is also its folder's."""
        return output_of([self.build / "tools" / program / program, *words])

    def lockbench(self, *words):
        """The points of a sweep (or one run) on a simulated machine, in order."""
        report = json.loads(self.run("lockbench", "--fabric", "sim", "--json", "-", *words))
        points = report.get("points", [report])
        for point in points:
            assert point["check"]["passed"], point["check"]
        return points, report.get("machine_files", {})

    def series(self, keys, *words):
        """The points by the values of their swept names."""
        points, _ = self.lockbench(*words)
        return {tuple(point["sweep"][key] for key in keys): point for point in points}

    def points(self, runs):
        """One point for each of many runs, given by their words; like runs are made once."""
        def one(words):
            points, _ = self.lockbench("--jobs", 1, *words)
            return points[0]
        runs = [tuple(str(word) for word in words) for words in runs]
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            made = {words: pool.submit(one, words) for words in dict.fromkeys(runs)}
            try:
                return [made[words].result() for words in runs]
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)  # one that failed is enough
                raise

    def unmeasured(self, machine):
        """Figures of a machine that may well lie elsewhere, by the range in its file: estimates
        and not measurements of the paper. Name -> (value, least, most)."""
        _, files = self.lockbench("--lock", "d-mcs", "--machine", machine, "--ranks", 1,
                                  "--acquires", 2)
        ranges = {}

        def walk(prefix, table):
            for key, value in table.items():
                if not isinstance(value, dict):
                    continue
                if "range" in value:
                    ranges[prefix + key] = (value["value"], *value["range"])
                walk(f"{prefix}{key}.", value)
        walk("", tomllib.loads(files[machine]))
        return ranges

    def changes(self, machine, levers=(), unused=()):
        """One parameter of the machine at a time at the ends of its range, except names with a
        prefix or suffix in `unused`: (change, words), "as in the file" first, levers last."""
        ranges = {name: values for name, values in self.unmeasured(machine).items()
                  if not any(name.startswith(part) or name.endswith(part) for part in unused)}
        gap_ns = ranges.get("atomicity.gap_ns", (0,))[0]

        def changed(name, value):
            # An atomic's read and its write lie within its service: a shorter one has less between.
            shorter = name in ("card.atomic_ns", "loopback.atomic_ns") and value < gap_ns
            return (*(("--set", f"atomicity.gap_ns={value / 2:g}") if shorter else ()),
                    "--set", f"{name}={value:g}")
        changes = [("as in the file", ())]
        for name, (_, least, most) in ranges.items():
            changes += [(f"{name} = {value:g}", changed(name, value)) for value in (least, most)]
        return [*changes, *levers][:2 if self.quick else None]

    def sensitivity(self, machine, words, levers=(), unused=()):
        """A sweep over locks under each of the changes: lines of (change, point of each lock in the
        order of the sweep)."""
        lines = []
        for name, more in self.changes(machine, levers, unused):
            points, _ = self.lockbench("--machine", machine, *words, *more)
            lines.append((name, *points))
        return lines

    def draw(self, plots):
        plotting.draw(self.file("svg"), plots, f"The paper, {self.about}")

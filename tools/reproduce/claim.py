"""A claim as data: a setting, panels of lines over x, and the shape that the paper saw, as checks
that can fail. remake() runs it.

A claim file names a Claim; it also records the measurement and our choices where the paper gives
none."""

import dataclasses
import typing

from plotting import Plot
from stage import Row

# An "up to" of a paper is a plot's best point on one machine: within this factor it has come out.
NEAR = 2


def throughput(point):
    """Acquires per s of virtual time, all agents together."""
    return point["throughput_per_s"]


def latency_ns(point):
    """The mean of acquire and release together."""
    return point["latency"]["both"]["mean_ns"]


@dataclasses.dataclass(frozen=True)
class Line:
    name: str
    words: tuple


@dataclasses.dataclass(frozen=True)
class PaperRatio:
    """Points that the paper gives as a ratio: `line` is `ratio` times `base`, at the xs from `least`
    to `most`. The plot has them on our `base`."""
    line: str
    base: str
    ratio: float
    least: float
    most: float


@dataclasses.dataclass(frozen=True)
class Panel:
    """One plot: each line at each x. `at(x)` is what a run at that x is given besides."""
    title: str
    lines: tuple
    xs: tuple
    at: typing.Callable
    value: typing.Callable = throughput
    label: str = "acquires per s"
    x_label: str = "P, processes"
    show: str = "{:.0f}"
    log_y: bool = True
    quick: tuple = ()  # words that make a run small, if the claim's do not fit
    paper: tuple = ()  # of PaperRatio
    paper_name: str = ""  # in the legend


@dataclasses.dataclass(frozen=True)
class Check:
    """`measure(seen)` is a number; `holds(number)` says whether the paper's shape is there. With
    `paper_value` the size counts too."""
    what: str
    paper: str
    measure: typing.Callable
    holds: typing.Callable
    paper_value: typing.Optional[float] = None
    show: str = "{:.2f}"

    def verdict(self, value):
        if not self.holds(value):
            return "does not come out"
        if self.paper_value is None:
            return "holds"
        if value > NEAR * self.paper_value:
            return "direction holds, much larger"
        if value * NEAR < self.paper_value:
            return "direction holds, much smaller"
        return "holds"


def above(least):
    return lambda value: value > least


def below(most):
    return lambda value: value < most


def up_to(what, paper_value, measure, show="{:.1f}"):
    """A ratio that the paper gives as "up to": above 1, and of its size."""
    return Check(what, f"up to {paper_value:g}", measure, above(1), paper_value, show)


@dataclasses.dataclass(frozen=True)
class Sensitivity:
    """One figure of the machine at a time at the ends of its range: which checks still hold. `xs`
    are the few points at which the lines of all panels run again; `levers` are further changes,
    (name, words); `more` goes to every run; `checks` are those that these points are enough for."""
    xs: tuple
    checks: tuple
    panels: tuple = ()  # titles; none: all
    lines: tuple = ()  # names, if the checks need no more; none: all
    more: tuple = ()
    levers: tuple = ()
    unused: tuple = ()  # parameters that cannot matter, by how they begin or end


@dataclasses.dataclass(frozen=True)
class Claim:
    title: str
    figure: str
    machine: str
    panels: tuple
    checks: tuple
    sensitivity: typing.Optional[Sensitivity] = None
    quick_xs: tuple = ()
    quick: tuple = ()  # words that make a run small
    notes: tuple = ()  # what the paper does not say, and what was taken for it


class Seen:
    """The points of a claim: seen(panel, line, x) is a value, line() a whole line."""

    def __init__(self, panels, points):
        self._panels = {panel.title: panel for panel in panels}
        self.titles = tuple(self._panels)
        self.points = points  # (panel, line, x) -> point

    def point(self, panel, line, x):
        return self.points[panel, line, x]

    def __call__(self, panel, line, x):
        return self._panels[panel].value(self.points[panel, line, x])

    def line(self, panel, line):
        return {x: self(panel, line, x) for p, name, x in self.points
                if (p, name) == (panel, line)}

    def xs(self, panel):
        return tuple(dict.fromkeys(x for p, _, x in self.points if p == panel))

    def most(self, panel):
        return self.xs(panel)[-1]

    def lines(self, panel):
        return tuple(dict.fromkeys(name for p, name, _ in self.points if p == panel))


def see(stage, claim, panels, xs_of, more=()):
    """Runs all points of the panels."""
    keys, runs = [], []
    for panel in panels:
        small = (panel.quick or claim.quick) if stage.quick else ()
        for line in panel.lines:
            for x in xs_of(panel):
                keys.append((panel.title, line.name, x))
                runs.append(("--machine", claim.machine, *panel.at(x), *line.words, *small,
                             *more))
    return Seen(panels, dict(zip(keys, stage.points(runs))))


def add_tables(row, claim, seen):
    for panel in claim.panels:
        lines = seen.lines(panel.title)
        row.table(f"{panel.title}: {panel.label}", (panel.x_label, *lines),
                  [(x, *(panel.show.format(seen(panel.title, line, x)) for line in lines))
                   for x in seen.xs(panel.title)])


def add_sensitivity(row, stage, claim):
    to = claim.sensitivity
    panels = tuple(dataclasses.replace(panel, lines=tuple(
        line for line in panel.lines if not to.lines or line.name in to.lines))
        for panel in claim.panels if not to.panels or panel.title in to.panels)
    xs = claim.quick_xs[-1:] if stage.quick else to.xs
    lines = []
    for name, words in stage.changes(claim.machine, to.levers, to.unused):
        seen = see(stage, claim, panels, lambda _: xs,
                   (*to.more, *words))
        values = [check.measure(seen) for check in to.checks]
        lines.append((name, *(check.show.format(value)
                              for check, value in zip(to.checks, values)),
                      "yes" if all(check.holds(value)
                                   for check, value in zip(to.checks, values)) else "NO"))
    row.table(f"sensitivity at {claim.panels[0].x_label} = {', '.join(map(str, xs))}, one figure at "
              "a time at the ends of its range",
              ("changed", *(check.what for check in to.checks), "as in the paper"), lines)


def paper_points(panel, seen):
    """{line: [(x, y)]} of the paper's ratios."""
    found = {given.line: [(x, given.ratio * y)
                          for x, y in seen.line(panel.title, given.base).items()
                          if given.least <= x <= given.most] for given in panel.paper}
    return {line: points for line, points in found.items() if points}


def plots(claim, seen):
    return [Plot(title=panel.title, x_label=panel.x_label, y_label=panel.label,
                 lines={line: list(seen.line(panel.title, line).items())
                        for line in seen.lines(panel.title)},
                 log_y=panel.log_y, paper=paper_points(panel, seen), paper_name=panel.paper_name)
            for panel in claim.panels]


def remake(claim, stage, sensitive=True):
    """Runs a claim at full size, or at its quick one, and draws it."""
    xs_of = (lambda panel: claim.quick_xs) if stage.quick else (lambda panel: panel.xs)
    seen = see(stage, claim, claim.panels, xs_of)
    row = Row()
    for check in claim.checks:
        value = check.measure(seen)
        row.line(check.what, check.paper, check.show.format(value), check.verdict(value))
    row.notes += claim.notes
    add_tables(row, claim, seen)
    if claim.sensitivity and sensitive:
        add_sensitivity(row, stage, claim)
    stage.draw(plots(claim, seen))
    return row

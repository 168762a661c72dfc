"""Draws plots: one SVG with a legend above each plot, and axes that fit the data.

A line is drawn with filled markers. A point that a paper gives for the same line is a hollow marker
of the same shape and colour."""

import dataclasses
import math
import re
import subprocess
import textwrap

COLOURS = ("#9400d3", "#009e73", "#56b4e9", "#e69f00", "#c0a000", "#0072b2", "#e51e10", "#000000",
           "#808080")
FILLED = (7, 5, 9, 13, 11, 15)  # gnuplot's types; the hollow marker of the same shape is one less
ONE_WIDTH, ONE_HEIGHT = 720, 420
TILE_WIDTH, TILE_HEIGHT = 450, 340
LEGEND_ROW, CAPTION_ROW = 18, 20
CHARACTER = 6.5  # the width of a character in a line of text, about
DECADES = 30  # data that spans more than this factor gets a logarithmic x axis


@dataclasses.dataclass(frozen=True)
class Plot:
    """`lines` and `paper` are {name: [(x, y)]}, with the names of `paper` among those of `lines`."""
    title: str
    x_label: str
    y_label: str
    lines: dict
    log_y: bool = True
    paper: dict = dataclasses.field(default_factory=dict)
    paper_name: str = ""


def shown(value):
    """A number as a tick's label: 2000000 is 2M."""
    for unit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= unit:
            return f"{value / unit:g}{letter}"
    return f"{value:g}"


def steps(least, most):
    """The numbers 1, 2 and 5 times a power of ten, from the last at or below `least` to the first
    at or above `most`."""
    first, last = math.floor(math.log10(least)), math.ceil(math.log10(most))
    found = [float(f"{step}e{power}") for power in range(first, last + 1) for step in (1, 2, 5)]
    return [step for step, after in zip(found, found[1:]) if after > least and step < most] + [
        next(step for step in found if step >= most)]


def log_axis(values):
    """(least, most, ticks) of a logarithmic axis."""
    ends = steps(min(values), max(values))
    wide = ends[-1] > 100 * ends[0]
    ticks = [step for step in ends if not wide or f"{step:e}".startswith("1")]
    return ends[0], ends[-1], ticks


def linear_axis(values):
    """(least, most, ticks) of a linear axis, which begins at 0: heights compare."""
    step = steps(max(values) / 7, max(values) / 7)[-1]
    count = math.ceil(max(values) / step)
    return 0, count * step, [float(f"{number * step:g}") for number in range(count + 1)]


def typeset(text):
    """A gnuplot string: F_W and T_L,2 with their subscripts, any other underscore as it is."""
    text = text.replace("_", r"\_")
    text = re.sub(r"\b([FT])\\_(\w+(?:,\w)?)", r"\1_{\2}", text)
    return "'" + text.replace("'", "''") + "'"


def tic_list(ticks):
    return "(" + ", ".join(f"'{shown(tick)}' {tick:g}" for tick in ticks) + ")"


def x_axis(plot):
    """From the first x of the data to the last, with a tick for each."""
    xs = sorted({x for points in plot.lines.values() for x, _ in points})
    log = xs[0] > 0 and xs[-1] > DECADES * xs[0]
    return [f"set xlabel {typeset(plot.x_label)}", f"{'set' if log else 'unset'} logscale x",
            f"set xrange [{xs[0]}:{xs[-1]}]", f"set xtics ({', '.join(map(str, xs))})"]


def y_axis(plot):
    values = [y for points in (*plot.lines.values(), *plot.paper.values()) for _, y in points]
    least, most, ticks = log_axis(values) if plot.log_y else linear_axis(values)
    return [f"set ylabel {typeset(plot.y_label)}", f"{'set' if plot.log_y else 'unset'} logscale y",
            f"set yrange [{least:g}:{most:g}]", f"set ytics {tic_list(ticks)}"]


def series(plot, block):
    """The data blocks of a plot, and the parts of its plot command."""
    blocks, parts = [], []

    def add(points, style):
        name = f"${block}_{len(blocks)}"
        blocks.append(f"{name} << EOD\n" + "\n".join(f"{x} {y}" for x, y in points) + "\nEOD")
        parts.append(f"{name} using 1:2 with {style}")
    for number, (name, points) in enumerate(plot.lines.items()):
        colour, filled = COLOURS[number % len(COLOURS)], FILLED[number % len(FILLED)]
        add(points, f"linespoints lw 2 pt {filled} ps 0.7 lc rgb '{colour}' title {typeset(name)}")
        if name in plot.paper:
            add(plot.paper[name], f"points lw 2 pt {filled - 1} ps 1.3 lc rgb '{colour}' notitle")
    if plot.paper:
        parts.append(f"keyentry with points lw 2 pt 6 ps 1.3 lc rgb 'black' "
                     f"title {typeset(plot.paper_name)}")
    return blocks, parts


def legend_rows(plot, width):
    """About how many rows the legend takes."""
    names = [*plot.lines, *([plot.paper_name] if plot.paper else [])]
    columns = max(1, int((width - 60) // (45 + CHARACTER * max(map(len, names)))))
    return math.ceil(len(names) / columns)


def script(file, plots, caption=""):
    """The gnuplot script: the plots in two columns below a caption."""
    columns = min(2, len(plots))
    rows = math.ceil(len(plots) / columns)
    width, height = (ONE_WIDTH, ONE_HEIGHT) if len(plots) == 1 else (TILE_WIDTH, TILE_HEIGHT)
    height += LEGEND_ROW * (max(legend_rows(plot, width) for plot in plots) - 1)
    caption_rows = textwrap.wrap(caption, int((columns * width - 20) / CHARACTER))
    top = CAPTION_ROW * len(caption_rows)
    title = f" title {typeset('@'.join(caption_rows))}".replace("@", "'.\"\\n\".'") \
        if caption_rows else ""
    lines = [f"set terminal svg size {columns * width},{rows * height + top} "
             "font 'sans,12' background 'white'",
             f"set output '{file}'", "set grid",
             "set key above center horizontal Left reverse samplen 2 width 1",
             f"set multiplot layout {rows},{columns}{title}"]
    for number, plot in enumerate(plots):
        blocks, parts = series(plot, f"data{number}")
        lines += [*blocks, f"set title {typeset(plot.title)}", *x_axis(plot), *y_axis(plot),
                  "plot " + ", ".join(parts)]
    return "\n".join([*lines, "unset multiplot"]) + "\n"


def draw(file, plots, caption=""):
    subprocess.run(["gnuplot"], input=script(file, plots, caption), text=True, check=True)

"""HPDC'16, section 5.3: the total time of inserts and reads of one process' volume by P - 1 others.

The paper's figure is not at hand in numbers, so the lines are those of its text. It gives neither
the size of the volume nor the number of operations: ours are lockbench's (bench dht)."""

from plotting import Plot
from stage import Row

TITLE = "hashtable: total time of RMA-RW below foMPI-RW and foMPI-A at F_W 2, 5 and 20%"
FIGURE = "HPDC'16, figure 6"
MACHINE = "piz-daint"
LOCKS = {
    "fompi-a": "foMPI-A",
    "fompi-rw": "foMPI-RW",
    "rma-rw": "RMA-RW",
}
OURS, OURS_NAME = "rma-rw", "RMA-RW"
SHARES = (0, 0.02, 0.05, 0.2)
# Per process. A spinning lock makes many attempts per acquire, and more with larger P.
OPERATIONS = {8: 200, 16: 200, 32: 100, 64: 100, 128: 50, 256: 30, 512: 20, 1024: 20}
# "Comparable": as far apart as two lines of a plot may be and still look alike.
ALIKE = 1.25
# Bytes are few here, and the machine has no racks.
UNUSED = ("ns_per_byte", "path.rack")


def sizes(stage):
    return [8, 16, 32] if stage.quick else list(OPERATIONS)


def sweep(stage):
    """{F_W: {lock: {P: point}}}"""
    found = {fw: {lock: {} for lock in LOCKS} for fw in SHARES}
    for ranks in sizes(stage):
        points = stage.series(("F_W", "lock"), "--machine", MACHINE, "--bench", "dht", "--ranks",
                              ranks, "--acquires", 10 if stage.quick else OPERATIONS[ranks],
                              "--sweep", "F_W=" + ",".join(map(str, SHARES)), "--sweep",
                              "lock=" + ",".join(LOCKS))
        for (fw, lock), point in points.items():
            found[float(fw)][lock][ranks] = point
    return found


def seconds(point):
    return point["seconds"]


def percent(fw):
    return f"F_W={fw * 100:g}%"


def times_of(found, fw, most):
    return {lock: seconds(points[most]) for lock, points in found[fw].items()}


def add_line(row, what, paper, ratio, holds):
    row.line(what, paper, f"{ratio:.2f}", "holds" if holds(ratio) else "does not hold")


def add_lines(row, found, most):
    for fw in SHARES[1:]:
        times = times_of(found, fw, most)
        for other in ("fompi-rw", "fompi-a"):
            ratio = times[other] / times[OURS]
            add_line(row, f"{percent(fw)}: {LOCKS[other]} / {OURS_NAME} at P={most}", "above 1",
                     ratio, lambda r: r > 1)
    times = times_of(found, 0, most)
    ratio = times["fompi-rw"] / times[OURS]
    add_line(row, f"{percent(0)}: foMPI-RW / {OURS_NAME} at P={most}", "comparable", ratio,
             lambda r: 1 / ALIKE <= r <= ALIKE)
    for fw in SHARES:
        times = times_of(found, fw, most)
        row.line(f"{percent(fw)}: foMPI-RW / foMPI-A at P={most}", "not told in numbers",
                 f"{times['fompi-rw'] / times['fompi-a']:.2f}", "nothing to compare with")


def add_sensitivity(row, stage):
    ranks = 256
    words = ("--bench", "dht", "--ranks", ranks, "--acquires", 10, "--fw", 0.05, "--sweep",
             "lock=" + ",".join(LOCKS))
    lines = stage.sensitivity(MACHINE, words, (), UNUSED)
    row.table(f"sensitivity at P={ranks}, F_W=5%: total time in us, and in units of foMPI-A's, with "
              "one figure at a time at the ends of its range",
              ("changed", *LOCKS.values(), *(f"{name} / foMPI-A" for lock, name in LOCKS.items()
                                             if lock != "fompi-a")),
              [(name, *(f"{seconds(point) * 1e6:.0f}" for point in points),
                *(f"{seconds(point) / seconds(points[0]):.2f}" for point in points[1:]))
               for name, *points in lines])


def plot(fw, lines):
    """Per operation, as their number goes down with P."""
    return Plot(title=f"F_W = {fw * 100:g}%", x_label="P, processes",
                y_label="time of an operation of a process, us", lines=lines)


def run(stage):
    found = sweep(stage)
    row, plots = Row(), []
    add_lines(row, found, sizes(stage)[-1])
    for fw in SHARES:
        row.table(f"{percent(fw)}: total time, us of virtual time; per operation of each process",
                  ("P", *LOCKS.values(), *(f"{name}, us each" for name in LOCKS.values())),
                  [(p, *(f"{seconds(points[p]) * 1e6:.0f}" for points in found[fw].values()),
                    *(f"{seconds(points[p]) * 1e6 / points[p]['configuration']['measured_acquires']:.1f}"
                      for points in found[fw].values())) for p in sizes(stage)])
        plots.append(plot(fw, {LOCKS[lock]: [(p, seconds(point) * 1e6 /
                                              point["configuration"]["measured_acquires"])
                                             for p, point in points.items()]
                               for lock, points in found[fw].items()}))
    if not stage.quick:
        add_sensitivity(row, stage)
    stage.draw(plots)
    return row

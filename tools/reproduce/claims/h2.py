"""HPDC'16, section 5.1: ECSB, SOB, WCSB and WARB, acquires per second of all processes.

On what ECSB's ratio hangs is in H1's table: the agents of LB and of ECSB do the same."""

import piz_daint as locks
from plotting import Plot
from stage import Row

TITLE = "throughput: RMA-MCS above D-MCS above foMPI-Spin; a spike from P=8 to 16 in ECSB and SOB"
FIGURE = "HPDC'16, figure 3"
BENCHES = ("ecsb", "sob", "wcsb", "warb")
WITH_SPIKE = ("ecsb", "sob")
# The minimum ratio that counts as a rise instead of noise in a plot.
RISE = 1.05


def add_lines(row, bench, found):
    tree, mcs, spin = found["rma-mcs"], found["d-mcs"], found["fompi-spin"]
    most = max(mcs)
    ratio = locks.throughput(mcs[most]) / locks.throughput(spin[most])
    gain = locks.throughput(tree[most]) / locks.throughput(mcs[most])
    row.line(f"{bench}: RMA-MCS / D-MCS at P={most}", "above 1", f"{gain:.1f}",
             "holds" if gain > 1 else "does not hold")
    least = locks.holds_from(found, lambda p: locks.throughput(tree[p]) > locks.throughput(mcs[p]))
    row.line(f"{bench}: RMA-MCS above D-MCS", "yes, without a range of P",
             f"from P={least} on" if least else "not at the largest P",
             "holds" if least == min(mcs) else "holds for large P" if least else "does not hold")
    row.line(f"{bench}: D-MCS / foMPI-Spin at P={most}", "above 1", f"{ratio:.1f}",
             "holds" if ratio > 1 else "does not hold")
    least = locks.holds_from(found, lambda p: locks.throughput(mcs[p]) > locks.throughput(spin[p]))
    row.line(f"{bench}: D-MCS above foMPI-Spin", "yes, without a range of P",
             f"from P={least} on" if least else "not at the largest P",
             "holds" if least == min(mcs) else "holds for large P" if least else "does not hold")
    if bench in WITH_SPIKE:
        rise = locks.throughput(mcs[16]) / locks.throughput(mcs[8])
        row.line(f"{bench}: D-MCS at P=16 / P=8, one node", "a rise", f"{rise:.2f}",
                 "holds" if rise > RISE else "does not come out")
        rise = locks.throughput(tree[16]) / locks.throughput(tree[8])
        row.line(f"{bench}: RMA-MCS at P=16 / P=8, one node", "a rise", f"{rise:.2f}",
                 "holds" if rise > RISE else "does not come out")


def plot(bench, lines):
    return Plot(title=bench.upper(), x_label="P, processes", y_label="acquires per s", lines=lines)


def run(stage):
    row, plots = Row(), []
    for bench in BENCHES:
        found = locks.sweep(stage, bench)
        add_lines(row, bench, found)
        row.table(f"{bench}: acquires per s of virtual time",
                  ("P", *locks.NAMES.values(), "D-MCS / foMPI-Spin", "RMA-MCS / D-MCS"),
                  [(p, *(f"{locks.throughput(found[lock][p]):.0f}" for lock in locks.LOCKS),
                    f"{locks.throughput(found['d-mcs'][p]) / locks.throughput(found['fompi-spin'][p]):.2f}",
                    f"{locks.throughput(found['rma-mcs'][p]) / locks.throughput(found['d-mcs'][p]):.2f}")
                   for p in locks.sizes(stage)])
        plots.append(plot(bench, {locks.NAMES[lock]: [(p, locks.throughput(point))
                                                      for p, point in found[lock].items()]
                                  for lock in locks.LOCKS}))
    stage.draw(plots)
    return row

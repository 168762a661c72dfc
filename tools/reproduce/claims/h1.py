"""HPDC'16, section 5.1: LB, the latency of an acquire and its release."""

import piz_daint as locks
from plotting import Plot
from stage import Row

TITLE = "latency of RMA-MCS at P=1024 about 10x below foMPI-Spin and about 4x below D-MCS"
FIGURE = "HPDC'16, figure 3 (LB)"
# "For P=1,024, it is about 10x and about 4x lower than foMPI-Spin and D-MCS".
PAPER_SPIN, PAPER_MCS = 10, 4
PAPER_P = 1024
PAPER_SPIN_OVER_MCS = PAPER_SPIN / PAPER_MCS


def ratio_verdict(ratio, paper):
    if ratio <= 1:
        return "does not hold"
    if ratio < paper / 2:
        return "order holds, the ratio is smaller"
    if ratio > 2 * paper:
        return "order holds, the ratio is larger: see the sensitivity"
    return "holds"


def add_sensitivity(row, stage):
    """The ratio of throughput is that of ECSB, in which the agents do the same (H2)."""
    ranks, lines = locks.sensitivity(stage, "lb")
    row.table(f"sensitivity at P={ranks}: mean latency in us, and ratios, with one figure at a time "
              "at the ends of its range",
              ("changed", *(locks.NAMES[lock] for lock in locks.COMPARED), "foMPI-Spin / D-MCS",
               "throughput D-MCS / foMPI-Spin", "both in the paper's order"),
              [(name, f"{locks.latency_ns(spin) / 1e3:.1f}", f"{locks.latency_ns(mcs) / 1e3:.1f}",
                f"{locks.latency_ns(spin) / locks.latency_ns(mcs):.1f}",
                f"{locks.throughput(mcs) / locks.throughput(spin):.1f}",
                "yes" if locks.latency_ns(spin) > locks.latency_ns(mcs) and
                locks.throughput(mcs) > locks.throughput(spin) else "NO")
               for name, spin, mcs in lines])


def plot(lines):
    """The paper's ratios are drawn on our RMA-MCS."""
    ratios = {"foMPI-Spin": PAPER_SPIN, "D-MCS": PAPER_MCS}
    return Plot(title="LB on a simulated Piz Daint", x_label="P, processes", y_label="latency, us",
                lines=lines, paper_name="paper: 10x and 4x RMA-MCS",
                paper={name: [(p, ratio * y) for p, y in lines["RMA-MCS"] if p == PAPER_P]
                       for name, ratio in ratios.items()})


def run(stage):
    found = locks.sweep(stage, "lb")
    most = locks.sizes(stage)[-1]
    spin, mcs, tree = (locks.latency_ns(found[lock][most]) for lock in locks.LOCKS)
    row = Row()
    row.line(f"foMPI-Spin / RMA-MCS at P={most}", f"about {PAPER_SPIN}", f"{spin / tree:.1f}",
             ratio_verdict(spin / tree, PAPER_SPIN))
    row.line(f"D-MCS / RMA-MCS at P={most}", f"about {PAPER_MCS}", f"{mcs / tree:.1f}",
             ratio_verdict(mcs / tree, PAPER_MCS))
    row.line(f"foMPI-Spin / D-MCS at P={most}", f"about {PAPER_SPIN_OVER_MCS:g} (of the two above)",
             f"{spin / mcs:.1f}", ratio_verdict(spin / mcs, PAPER_SPIN_OVER_MCS))
    least = locks.holds_from(found, lambda p: locks.latency_ns(found["fompi-spin"][p]) >
                             locks.latency_ns(found["d-mcs"][p]))
    row.line("foMPI-Spin above D-MCS", "told of P=1024 only",
             f"from P={least} on" if least else "nowhere",
             "holds at that P" if least else "does not hold")
    row.table("mean latency, us of virtual time",
              ("P", *locks.NAMES.values(), "foMPI-Spin / D-MCS", "D-MCS / RMA-MCS"),
              [(p, *(f"{locks.latency_ns(found[lock][p]) / 1e3:.2f}" for lock in locks.LOCKS),
                f"{locks.latency_ns(found['fompi-spin'][p]) / locks.latency_ns(found['d-mcs'][p]):.2f}",
                f"{locks.latency_ns(found['d-mcs'][p]) / locks.latency_ns(found['rma-mcs'][p]):.2f}")
               for p in locks.sizes(stage)])
    add_sensitivity(row, stage)
    stage.draw([plot({locks.NAMES[lock]: [(p, locks.latency_ns(point) / 1e3)
                                          for p, point in found[lock].items()]
                      for lock in locks.LOCKS})])
    return row

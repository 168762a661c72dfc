"""SPAA'24, section 2: a spinlock on one node, through the card, with hardly any contention for the
locks themselves."""

import alock_cluster as cluster
from claim import Check, Claim, Line, Panel, Sensitivity, above

PANEL = "1000 locks on one node"
SPIN = cluster.NAMES[cluster.SPIN]
THREADS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16)
HARDWARE_THREADS = 16


def peak(seen):
    """The number of threads at which throughput is highest."""
    line = seen.line(PANEL, SPIN)
    return max(line, key=line.get)


def fall(seen):
    """Throughput at the peak over that at the maximum number of threads."""
    line = seen.line(PANEL, SPIN)
    return max(line.values()) / line[max(line)]


FALLS = Check("throughput at the peak / with all hardware threads", "above 1: it falls", fall,
              above(1.05))
PEAKS = Check("threads at which throughput peaks", "a few (of 16 hardware threads)", peak,
              lambda threads: 1 < threads <= HARDWARE_THREADS // 2, show="{}")

CLAIM = Claim(
    title="loopback alone: an RDMA spinlock on one node peaks at a few threads, then falls",
    figure="SPAA'24, figure 1",
    machine=cluster.MACHINE,
    panels=(Panel(
        title=PANEL,
        lines=(Line(SPIN, ("--lock", cluster.SPIN)),),
        xs=THREADS,
        at=lambda threads: cluster.table(1, threads, 1000),
        label="operations per s",
        x_label=cluster.THREADS_LABEL,
        log_y=False),),
    checks=(PEAKS, FALLS),
    sensitivity=Sensitivity(
        xs=THREADS, checks=(PEAKS, FALLS),
        unused=(*cluster.UNUSED, "path.machine", "card.")),
    quick_xs=cluster.QUICK_THREADS,
    quick=cluster.QUICK,
    notes=("the figure's numbers are not in our copy of the paper; its text says \"the peak "
           "throughput is reached at a few threads\"",),
)

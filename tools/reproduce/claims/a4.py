"""SPAA'24, section 6.2: high contention, 20 locks for up to 240 threads on 20 nodes."""

import alock_cluster as cluster
from claim import Claim, Sensitivity, up_to

PANELS = tuple(cluster.panel(20, 20, locality) for locality in (0.95, 0.9, 0.85))
TITLES = tuple(panel.title for panel in PANELS)
CHECKS = (up_to("ALock / RDMA MCS, largest", 29, cluster.most(TITLES, cluster.ALOCK, cluster.MCS)),
          up_to("ALock / RDMA spinlock, largest", 24,
                cluster.most(TITLES, cluster.ALOCK, cluster.SPIN)))

CLAIM = Claim(
    title="20 locks, 20 nodes, up to 240 threads: ALock up to 29x RDMA MCS and 24x the spinlock",
    figure="SPAA'24, figure 5 i",
    machine=cluster.MACHINE,
    panels=PANELS,
    checks=CHECKS,
    sensitivity=Sensitivity(xs=(12,), checks=CHECKS, panels=TITLES[:1],
                            unused=cluster.UNUSED, levers=cluster.LEVERS),
    quick_xs=cluster.QUICK_THREADS,
    quick=cluster.QUICK,
)

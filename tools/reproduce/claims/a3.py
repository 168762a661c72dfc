"""SPAA'24, section 6.2: all accesses local, 20 locks."""

import alock_cluster as cluster
from claim import Claim, Sensitivity, up_to

NODES = (5, 10, 20)
PANELS = tuple(cluster.panel(nodes, 20, 1.0) for nodes in NODES)
TITLES = tuple(panel.title for panel in PANELS)
CHECKS = (up_to("ALock / RDMA MCS, largest", 24, cluster.most(TITLES, cluster.ALOCK, cluster.MCS)),
          up_to("ALock / RDMA spinlock, largest", 22,
                cluster.most(TITLES, cluster.ALOCK, cluster.SPIN)))

CLAIM = Claim(
    title="100% local, 20 locks: ALock up to 24x RDMA MCS and 22x the RDMA spinlock",
    figure="SPAA'24, figure 5 d, h, l",
    machine=cluster.MACHINE,
    panels=PANELS,
    checks=CHECKS,
    sensitivity=Sensitivity(xs=(4, 12), checks=CHECKS, panels=TITLES[:1],
                            unused=(*cluster.UNUSED, "path.machine"), levers=cluster.LEVERS),
    quick_xs=cluster.QUICK_THREADS,
    quick=cluster.QUICK,
)

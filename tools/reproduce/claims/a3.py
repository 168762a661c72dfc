"""SPAA'24, section 6.2: all accesses local, 20 locks."""

import alock_cluster as cluster

PANELS = tuple(cluster.panel(nodes, 20, 1.0) for nodes in (5, 10, 20))

CLAIM = cluster.claim(
    title="100% local, 20 locks: ALock up to 24x RDMA MCS and 22x the RDMA spinlock",
    figure="SPAA'24, figure 5 d, h, l",
    panels=PANELS,
    checks=cluster.rivals(PANELS, 24, 22),
    sensitive=PANELS[:1],
    xs=(4, 12),
    unused=("path.machine",),
)

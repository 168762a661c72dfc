"""SPAA'24, section 6.2: high contention, 20 locks for up to 240 threads on 20 nodes."""

import alock_cluster as cluster

PANELS = tuple(cluster.panel(20, 20, locality) for locality in cluster.LOCALITIES)

CLAIM = cluster.claim(
    title="20 locks, 20 nodes, up to 240 threads: ALock up to 29x RDMA MCS and 24x the spinlock",
    figure="SPAA'24, figure 5 i",
    panels=PANELS,
    checks=cluster.rivals(PANELS, 29, 24),
    sensitive=PANELS[:1],
)

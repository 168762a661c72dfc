"""SPAA'24, section 6.2: low contention, 1000 locks."""

import alock_cluster as cluster
from claim import Check, above

PANELS = tuple(cluster.panel(nodes, 1000, locality, seconds=0.001)
               for nodes in (5, 10, 20) for locality in cluster.LOCALITIES)
FIVE = dict(zip(cluster.LOCALITIES, cluster.titles(PANELS)))


def gain_percent(more, less):
    """The gain of ALock on five nodes at the maximum number of threads when more is local."""
    name = cluster.NAMES[cluster.ALOCK]
    return lambda seen: 100 * (seen(FIVE[more], name, seen.most(FIVE[more])) /
                               seen(FIVE[less], name, seen.most(FIVE[less])) - 1)


CLAIM = cluster.claim(
    title="1000 locks: ALock up to 3.8x RDMA MCS and 3.3x the spinlock; locality pays",
    figure="SPAA'24, figure 5 c, g, k",
    panels=PANELS,
    checks=(
        *cluster.rivals(PANELS, 3.8, 3.3),
        Check("ALock, 85% to 90% local on five nodes, % more", "40", gain_percent(0.9, 0.85),
              above(0), 40, "{:.0f}"),
        Check("ALock, 90% to 95% local on five nodes, % more", "75", gain_percent(0.95, 0.9),
              above(0), 75, "{:.0f}"),
    ),
    sensitive=PANELS[:3],
)

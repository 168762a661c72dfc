"""SPAA'24, section 6.3: latency of a lock and its unlock."""

import functools

import alock_cluster as cluster
from claim import Check, Line, Panel, above, latency_ns, up_to

LOCKS = (20, 100, 1000)
NODES, THREADS = 10, 8
PERCENTILES = ("50", "90", "95", "99", "99.9")
ALOCK, MCS, SPIN = (cluster.NAMES[lock] for lock in (cluster.ALOCK, cluster.MCS, cluster.SPIN))


def at(percentile, point):
    return point["latency"]["both"]["percentiles_ns"][percentile] / 1e3


def panel(locality, value, label):
    return Panel(title=f"{locality:.0%} local, {label}",
                 lines=tuple(Line(name, ("--lock", lock)) for lock, name in cluster.NAMES.items()),
                 xs=LOCKS,
                 at=lambda locks: cluster.table(NODES, THREADS, locks, locality),
                 value=value,
                 label="latency, us",
                 x_label="locks",
                 show="{:.2f}")


def mean_us(point):
    return latency_ns(point) / 1e3


MEANS = {locality: panel(locality, mean_us, "mean") for locality in (1.0, 0.95, 0.9, 0.85)}
LOCAL = tuple(panel(1.0, functools.partial(at, percentile), f"percentile {percentile}")
              for percentile in PERCENTILES)


def largest(rival):
    """Over the percentiles, all local, 20 locks (or the fewest that were run)."""
    def measure(seen):
        points = {name: seen.point(MEANS[1.0].title, name, seen.xs(MEANS[1.0].title)[0])
                  for name in (rival, ALOCK)}
        return max(at(p, points[rival]) / at(p, points[ALOCK]) for p in PERCENTILES)
    return measure


def average(locality, rival):
    """For the means, 1000 locks."""
    def measure(seen):
        title = MEANS[locality].title
        return seen(title, rival, seen.most(title)) / seen(title, ALOCK, seen.most(title))
    return measure


CHECKS = (
    up_to("RDMA MCS / ALock, 20 locks, all local, largest of the percentiles", 17, largest(MCS)),
    up_to("spinlock / ALock, 20 locks, all local, largest of the percentiles", 33, largest(SPIN)),
    Check("RDMA MCS / ALock, 1000 locks, all local, mean", "13", average(1.0, MCS), above(1), 13,
          "{:.1f}"),
    Check("spinlock / ALock, 1000 locks, all local, mean", "10", average(1.0, SPIN), above(1), 10,
          "{:.1f}"),
    Check("RDMA MCS / ALock, 1000 locks, 95% local, mean", "2.1", average(0.95, MCS), above(1), 2.1),
    Check("RDMA MCS / ALock, 1000 locks, 85% local, mean", "1.35", average(0.85, MCS), above(1),
          1.35),
)

CLAIM = cluster.claim(
    title="latency: ALock up to 17x below RDMA MCS and 33x below the spinlock",
    figure="SPAA'24, figure 6",
    panels=(*MEANS.values(), *LOCAL),
    checks=CHECKS,
    sensitive=tuple(MEANS.values()),
    xs=(20, 1000),
    quick_xs=(20, 1000),
    notes=("10 nodes with 8 threads each, as under the figure; the text speaks of 20 nodes",),
)

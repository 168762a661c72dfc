"""SPAA'24, section 6.2: medium contention, 100 locks on 20 nodes."""

import alock_cluster as cluster
from claim import Check, PaperRatio, above, below

PAPER, PAPER_THREADS = 4, 12
MEDIUM = tuple(cluster.panel(20, 100, locality, paper_name=f"paper: spinlock below 1/{PAPER} of ALock",
                             paper=(PaperRatio(cluster.NAMES[cluster.SPIN],
                                               cluster.NAMES[cluster.ALOCK], 1 / PAPER, PAPER_THREADS,
                                               PAPER_THREADS),))
               for locality in cluster.LOCALITIES)
HIGH = tuple(cluster.panel(20, 20, locality) for locality in cluster.LOCALITIES)


def at_most_threads(panels, over, under):
    """The largest ratio of these panels at the maximum number of threads."""
    return lambda seen: max(cluster.ratios(seen, title, over, under)[seen.most(title)]
                            for title in cluster.titles(panels) if title in seen.titles)


def gap_to_mcs_closes(seen):
    """ALock over MCS at 100 locks, over the same at 20: below 1 if the gap closes."""
    ratio = at_most_threads(MEDIUM, cluster.ALOCK, cluster.MCS)(seen)
    return ratio / at_most_threads(HIGH, cluster.ALOCK, cluster.MCS)(seen)


def fewer_locks_gain(seen):
    """ALock's throughput with 20 locks over that with 100, all locality panels, most threads."""
    name = cluster.NAMES[cluster.ALOCK]
    return max(seen(high, name, seen.most(high)) / seen(medium, name, seen.most(medium))
               for high, medium in zip(cluster.titles(HIGH), cluster.titles(MEDIUM))
               if high in seen.titles and medium in seen.titles)


OVER_SPIN = Check(f"ALock / spinlock, 100 locks, {PAPER_THREADS} threads per node",
                  f"more than {PAPER}", at_most_threads(MEDIUM, cluster.ALOCK, cluster.SPIN),
                  above(PAPER), PAPER, "{:.1f}")
GAP = Check("ALock / MCS with 100 locks over the same with 20", "below 1: MCS closes the gap",
            gap_to_mcs_closes, below(1))

CLAIM = cluster.claim(
    title="100 locks: ALock over 4x the spinlock at 240 threads, RDMA MCS closes the gap",
    figure="SPAA'24, figure 5 j",
    panels=(*MEDIUM, *HIGH),
    checks=(OVER_SPIN, GAP,
            Check("ALock with 20 locks / with 100", "above 1: contention helps it",
                  fewer_locks_gain, above(1))),
    sensitive=(MEDIUM[1], HIGH[1]),
    sensitive_checks=(OVER_SPIN, GAP),
)

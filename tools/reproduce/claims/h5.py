"""HPDC'16, section 5.2.2: how T_W = 1000 is split over the levels."""

import statistics

import rma_rw
from claim import Check, Claim, Sensitivity, above, latency_ns

THROUGHPUT, LATENCY = "SOB, F_W = 25%", "LB, F_W = 25%"
SPLITS = ((10, 100), (25, 40), (50, 20))  # T_L,2 and T_L,1


def name(split):
    return f"{split[0]}-{split[1]}"


LEAST, MOST = name(SPLITS[0]), name(SPLITS[-1])


def panel(title, bench, **more):
    return rma_rw.panel(title, [rma_rw.line(name(split), rma_rw.lock(t_l2=split[0], t_l1=split[1]))
                                for split in SPLITS],
                        bench, None, "--fw", 0.25, "--roles", "process", "--seconds", 0.01, **more)


def percents(seen, title):
    """By how much T_L,2 = 50 lies above T_L,2 = 10, for each P."""
    return [100 * (seen(title, MOST, ranks) / seen(title, LEAST, ranks) - 1)
            for ranks in seen.xs(title)]


def most_percent(title):
    return lambda seen: max(percents(seen, title))


def median_percent(title):
    return lambda seen: statistics.median(percents(seen, title))


GAIN = Check(f"throughput, {MOST} above {LEAST}, largest over P, %", "up to 25",
             most_percent(THROUGHPUT), above(0), 25, "{:.1f}")
COST = Check(f"latency, {MOST} above {LEAST}, median over P, %", "above 0",
             median_percent(LATENCY), above(0), show="{:.1f}")

CLAIM = Claim(
    title="T_W fixed: a larger T_L,2 raises throughput, by up to 25%, and latency",
    figure="HPDC'16, figure 4c and 4d",
    machine=rma_rw.MACHINE,
    panels=(panel(THROUGHPUT, "sob"),
            panel(LATENCY, "lb", value=lambda point: latency_ns(point) / 1e3, label="latency, us")),
    checks=(GAIN, COST),
    sensitivity=Sensitivity(xs=(256,), checks=(GAIN, COST), unused=rma_rw.UNUSED,
                            lines=(LEAST, MOST)),
    quick_xs=rma_rw.QUICK_P,
    quick=rma_rw.QUICK_TIME,
    notes=(rma_rw.UNSAID, "a quarter of the processes are writers"),
)

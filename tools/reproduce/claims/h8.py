"""HPDC'16, section 5.2.4: RMA-RW as the share of writers grows."""

import rma_rw
from claim import Check, Claim, Sensitivity, above, below, up_to

PANEL = "ECSB, RMA-RW"
PERCENTS = (0.2, 2, 5, 10, 20, 30, 50, 75, 100)
ACQUIRES = {16: 500, 32: 500, 64: 300, 128: 200, 256: 100, 512: 60, 1024: 30}


def name(percent):
    return f"F_W = {percent}%"


def largest(over, under):
    """Over P."""
    return lambda seen: max(seen(PANEL, name(over), ranks) / seen(PANEL, name(under), ranks)
                            for ranks in seen.xs(PANEL))


def spread(seen):
    """Best over worst share of 30% and above, at the largest P."""
    values = [seen(PANEL, name(percent), seen.most(PANEL)) for percent in PERCENTS if percent >= 30]
    return max(values) / min(values)


CHECKS = (up_to("F_W = 0.2% / 2%, largest over P", 1.8, largest(0.2, 2)),
          up_to("F_W = 0.2% / 5%, largest over P", 4.4, largest(0.2, 5)),
          Check("best / worst F_W from 30% on, largest P", "about 1: about the same", spread,
                below(1.3)))

CLAIM = Claim(
    title="RMA-RW: F_W=0.2% up to 1.8x of 2% and 4.4x of 5%, flat above 30%",
    figure="HPDC'16, figure 5",
    machine=rma_rw.MACHINE,
    panels=(rma_rw.panel(PANEL, [rma_rw.line(name(percent), rma_rw.lock(), "--fw", percent / 100)
                                 for percent in PERCENTS], "ecsb", ACQUIRES),),
    checks=CHECKS,
    sensitivity=Sensitivity(xs=(64,), checks=CHECKS, unused=rma_rw.UNUSED),
    quick_xs=rma_rw.QUICK_P,
    quick=rma_rw.QUICK,
    notes=(rma_rw.UNSAID,),
)

"""HPDC'16, section 5.2.3: how many readers go first while a writer waits, T_R."""

import rma_rw
from claim import Check, Claim, Sensitivity, above, below

FEW_WRITERS = "ECSB, F_W = 0.2%"
# One writer at P = 512, two at 1024, none below; the paper does not say whether it is so.
ROLES = "ECSB, 0.2% of the processes write"
MORE_WRITERS = {percent: f"ECSB, F_W = {percent}%" for percent in (2, 5)}
# T_R = 6000 takes 375 acquires of each of a counter's 16 processes.
FEW = {16: 1500, 32: 1500, 64: 1500, 128: 1000, 256: 800, 512: 500, 1024: 400}
MORE = {16: 500, 32: 500, 64: 300, 128: 200, 256: 150, 512: 80, 1024: 50}
T_R = (1000, 2000, 3000, 4000, 5000, 6000)
FALLING = tuple(f"T_R = {t_r}" for t_r in (1000, 2000))
LEAST, MOST = (f"T_R = {t_r}" for t_r in (T_R[0], T_R[-1]))


def panel(title, fw, values, acquires):
    return rma_rw.panel(title, [rma_rw.line(f"T_R = {t_r}", rma_rw.lock(t_r=t_r))
                                for t_r in values], "ecsb", acquires, "--fw", fw)


def role_panel():
    return rma_rw.panel(ROLES, [rma_rw.line(f"T_R = {t_r}", rma_rw.lock(t_r=t_r))
                                for t_r in (1000, 2000, 6000)], "ecsb", None, "--fw", 0.002,
                        "--roles", "process", "--seconds", 0.004, xs=(512, 1024),
                        quick=rma_rw.QUICK_TIME)


def falls(seen):
    """Throughput at P = 512 over that at 1024 (the two largest), the less of the two small T_R."""
    *_, before, last = seen.xs(FEW_WRITERS)
    return min(seen(FEW_WRITERS, name, before) / seen(FEW_WRITERS, name, last) for name in FALLING)


def gains(title):
    def measure(seen):
        ranks = seen.most(title)
        return seen(title, MOST, ranks) / seen(title, LEAST, ranks)
    return measure


def spread_percent(title):
    """Between the best and the worst T_R: the median over P, as the paper speaks of most P."""
    def measure(seen):
        found = []
        for ranks in seen.xs(title):
            values = [seen(title, name, ranks) for name in seen.lines(title)]
            found.append(100 * (max(values) / min(values) - 1))
        return sorted(found)[len(found) // 2]
    return measure


GAINS = Check(f"{MOST} / {LEAST} at the largest P, F_W = 0.2%", "above 1, significantly",
              gains(FEW_WRITERS), above(1.1))

CLAIM = Claim(
    title="T_R: small ones fall off above P=512 with few writers, and make no difference with more",
    figure="HPDC'16, figure 4e and 4f",
    machine=rma_rw.MACHINE,
    panels=(panel(FEW_WRITERS, 0.002, T_R, FEW), role_panel(),
            *(panel(title, percent / 100, (1000, 3000, 6000), MORE)
              for percent, title in MORE_WRITERS.items())),
    checks=(
        Check("T_R = 1000, 2000: throughput at P=512 / at 1024", "above 1: drops significantly",
              falls, above(1)),
        GAINS,
        Check(f"{MOST} / {LEAST} at the largest P, 0.2% of the processes write",
              "above 1, significantly", gains(ROLES), above(1.1)),
        *(Check(f"best / worst T_R at F_W = {percent}%, median over P, % more", "below 1",
                spread_percent(title), below(1))
          for percent, title in MORE_WRITERS.items()),
    ),
    sensitivity=Sensitivity(xs=(256,), panels=(FEW_WRITERS,), lines=(LEAST, MOST),
                            checks=(GAINS,), unused=rma_rw.UNUSED),
    quick_xs=rma_rw.QUICK_P,
    quick=rma_rw.QUICK,
    notes=(rma_rw.UNSAID,),
)

"""HPDC'16, section 5.2.4: RMA-RW and foMPI-RW."""

import rma_rw
from claim import Check, Claim, PaperRatio, Sensitivity, above

PERCENTS = (0.2, 2, 5)
BENCHES = ("ecsb", "sob")
FROM = 64
PAPER = 6
# foMPI-RW makes the more attempts for each acquire the more processes there are.
ACQUIRES = {16: 500, 32: 500, 64: 300, 128: 200, 256: 100, 512: 60, 1024: 40}


def lines(percent):
    return [rma_rw.line(f"{name}, F_W = {percent}%", text, "--fw", percent / 100)
            for name, text in (("RMA-RW", rma_rw.lock()), ("foMPI-RW", rma_rw.FOMPI))]


def title(bench):
    return bench.upper()


def panel(bench):
    return rma_rw.panel(title(bench), [line for percent in PERCENTS for line in lines(percent)],
                        bench, ACQUIRES,
                        paper=tuple(PaperRatio(f"foMPI-RW, F_W = {percent}%",
                                               f"RMA-RW, F_W = {percent}%", 1 / PAPER, FROM, max(ACQUIRES))
                                    for percent in PERCENTS),
                        paper_name=f"paper: foMPI-RW below 1/{PAPER} of RMA-RW")


def least_ratio(bench, percent):
    """RMA-RW over foMPI-RW: the least for P >= 64."""
    def measure(seen):
        ours, theirs = (seen.line(title(bench), f"{name}, F_W = {percent}%")
                        for name in ("RMA-RW", "foMPI-RW"))
        large = [ranks for ranks in ours if ranks >= FROM] or [max(ours)]
        return min(ours[ranks] / theirs[ranks] for ranks in large)
    return measure


def check(bench, percent):
    return Check(f"{bench}: RMA-RW / foMPI-RW, F_W = {percent}%, least for P >= {FROM}",
                 f"more than {PAPER}", least_ratio(bench, percent), above(PAPER), show="{:.1f}")


CLAIM = Claim(
    title="RMA-RW above foMPI-RW by more than 6x from P=64 on, at F_W of 0.2, 2 and 5%",
    figure="HPDC'16, figure 5",
    machine=rma_rw.MACHINE,
    panels=tuple(panel(bench) for bench in BENCHES),
    checks=tuple(check(bench, percent) for bench in BENCHES for percent in PERCENTS),
    sensitivity=Sensitivity(
        xs=(64,), panels=(title("ecsb"),), checks=tuple(check("ecsb", p) for p in PERCENTS),
        unused=rma_rw.UNUSED),
    quick_xs=rma_rw.QUICK_P,
    quick=rma_rw.QUICK,
    notes=(rma_rw.UNSAID,),
)

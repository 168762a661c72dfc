"""HPDC'16, section 5.2.2: how many writers in a row, T_W, the product of the T_L,i."""

import rma_rw
from claim import Check, Claim, Sensitivity, above

PANEL, WAIT = "SOB, F_W = 25%", "SOB, F_W = 25%, wait of a writer"
SHARE = 0.25
PRODUCTS = (100, 250, 500, 1000)
LEAST, MOST = (f"T_W = {product}" for product in (PRODUCTS[0], PRODUCTS[-1]))


def wait_us(point):
    """The mean from one grant of a writer to its next. Writers do nothing but write, so it is
    their number over their grants per s (Little's law)."""
    writers = SHARE * point["configuration"]["ranks"]
    return 1e6 * writers * point["seconds"] / max(point["exclusive"], 1)


def ratio(panel, over, under):
    def measure(seen):
        ranks = seen.most(panel)
        return seen(panel, over, ranks) / seen(panel, under, ranks)
    return measure


def panel(title, **more):
    return rma_rw.panel(
        title, [rma_rw.line(f"T_W = {product}", rma_rw.lock(t_l1=product // 10, t_l2=10))
                for product in PRODUCTS], "sob", None, "--fw", SHARE, "--roles", "process",
        "--seconds", 0.01, **more)


FASTER = Check(f"throughput, {LEAST} / {MOST} at the largest P", "above 1: more readers enter",
               ratio(PANEL, LEAST, MOST), above(1))
FAIRER = Check(f"a writer's wait, {LEAST} / {MOST} at the largest P",
               "above 1: writers wait longer", ratio(WAIT, LEAST, MOST), above(1))

CLAIM = Claim(
    title="a smaller product of T_L,i raises throughput, and writers wait longer",
    figure="HPDC'16, figure 4b",
    machine=rma_rw.MACHINE,
    panels=(panel(PANEL), panel(WAIT, value=wait_us, label="wait of a writer, us")),
    checks=(FASTER, FAIRER),
    sensitivity=Sensitivity(xs=(256,), checks=(FASTER, FAIRER), unused=rma_rw.UNUSED,
                            lines=(LEAST, MOST)),
    quick_xs=rma_rw.QUICK_P,
    quick=rma_rw.QUICK_TIME,
    notes=(rma_rw.UNSAID, "a quarter of the processes are writers, as the paper wants \"multiple "
           "writers per machine element\"; T_L,2 = 10 and T_L,1 = T_W / 10 are taken"),
)

"""HPDC'16, section 5.2.1: the placement of the readers' counters."""

import rma_rw
from claim import Check, Claim, Sensitivity, above, below

PANEL = "SOB, F_W = 0.2%"
ONE, EIGHT, FOURTH = "1 per node", "8 per node", "every 4th node"
PLACES = {EIGHT: "counters_per_node=8", "4 per node": "counters_per_node=4",
          "2 per node": "counters_per_node=2", ONE: "counters_per_node=1",
          "every 2nd node": "nodes_per_counter=2", FOURTH: "nodes_per_counter=4"}

ACQUIRES = {16: 1000, 32: 1000, 64: 500, 128: 500, 256: 300, 512: 200, 1024: 150}


def at_most(over, under):
    """A ratio of throughputs at the largest P."""
    def measure(seen):
        ranks = seen.most(PANEL)
        return seen(PANEL, over, ranks) / seen(PANEL, under, ranks)
    return measure


def best(seen, ranks):
    return max(seen.lines(PANEL), key=lambda name: seen(PANEL, name, ranks))


def balance(seen):
    """One per node over the best place: the least, over P."""
    return min(seen(PANEL, ONE, ranks) / seen(PANEL, best(seen, ranks), ranks)
               for ranks in seen.xs(PANEL))


def bests(seen):
    return len({best(seen, ranks) for ranks in seen.xs(PANEL)})


WRITERS = Check("1 per node / 8 per node at the largest P", "above 1: many counters cost writers",
                at_most(ONE, EIGHT), above(1))
READERS = Check("every 4th node / 1 per node at the largest P",
                "below 1: few counters cost readers", at_most(FOURTH, ONE), below(1))

CLAIM = Claim(
    title="T_DC: many counters cost writers, few cost readers; one per node is a good balance",
    figure="HPDC'16, figure 4a",
    machine=rma_rw.MACHINE,
    panels=(rma_rw.panel(PANEL, [rma_rw.line(name, rma_rw.lock(counters=place))
                                 for name, place in PLACES.items()],
                          "sob", ACQUIRES, "--fw", 0.002),),
    checks=(
        WRITERS, READERS,
        Check("1 per node / the best place, least over P", "near 1: a reasonable balance", balance,
              above(0.75)),
        Check("places that are best at some P", "more than one: the best moves", bests, above(1),
              show="{}"),
    ),
    sensitivity=Sensitivity(
        xs=(256,), lines=(EIGHT, ONE, FOURTH), checks=(WRITERS, READERS), unused=rma_rw.UNUSED,
        levers=(("F_W = 2%", ("--fw", 0.02)), ("F_W = 0.02%", ("--fw", 0.0002)))),
    quick_xs=rma_rw.QUICK_P,
    quick=rma_rw.QUICK,
    notes=(rma_rw.UNSAID,),
)

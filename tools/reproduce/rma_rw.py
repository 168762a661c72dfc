"""The setting of HPDC'16, section 5.2: RMA-RW on a simulated Piz Daint, 16 processes per node.

The paper does not give the parameters that it keeps fixed while it varies one, nor, in our copy,
the benchmark of each plot of figures 4 and 5. Our choices are here."""

from claim import Line, Panel

MACHINE = "piz-daint"
FOMPI = "fompi-rw"
P = (16, 32, 64, 128, 256, 512, 1024)
QUICK_P = (16, 32)
QUICK = ("--acquires", 10)
QUICK_TIME = ("--seconds", 0.0001)

# One counter on each node, "a reasonable balance"; T_L,2 = 50 with T_L,1 = 20, the best of 4c.
T_R, T_L1, T_L2 = 1000, 20, 50

# Figures that cannot matter: no bulk bytes are moved, and the machine has no racks.
UNUSED = ("ns_per_byte", "path.rack")

UNSAID = ("which of the paper's benchmarks these plots are of, and the parameters that they hold "
          f"fixed, are not in our copy: taken are one counter per node, T_R = {T_R}, "
          f"T_L,1 = {T_L1} and T_L,2 = {T_L2}")


def lock(t_r=T_R, t_l1=T_L1, t_l2=T_L2, counters="counters_per_node=1"):
    return f"rma-rw:t_r={t_r},t_l1={t_l1},t_l2={t_l2},{counters}"


def line(name, text, *words):
    return Line(name, ("--lock", text, *words))


def panel(title, lines, bench, acquires, *words, xs=P, **more):
    """`acquires` of each process by P; None where `words` give a time."""
    def at(ranks):
        each = () if acquires is None else ("--acquires", acquires[ranks])
        return ("--bench", bench, "--ranks", ranks, *each, *words)
    return Panel(title=title, lines=tuple(lines), xs=xs, at=at, **more)

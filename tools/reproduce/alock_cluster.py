"""The setting of SPAA'24, section 6: a table of locks spread equally over the nodes of a simulated
cluster, each thread a rank with its own queue pairs."""

from claim import Claim, Line, Panel, Sensitivity, up_to

MACHINE = "alock-cluster"
SPIN = "rdma-spin"
MCS = "rdma-mcs"


def alock(remote_budget):
    """Without a swap, as RDMA verbs have none (Algorithm 3, line 3)."""
    return f"alock:local_budget=5,remote_budget={remote_budget},swap=off"


ALOCK = alock(20)  # as chosen in section 6.1
NAMES = {ALOCK: "ALock", MCS: "RDMA MCS", SPIN: "RDMA spinlock"}
THREADS = (1, 2, 4, 6, 8, 10, 12)
LOCALITIES = (0.95, 0.9, 0.85)
QUICK_THREADS = (1, 2)
QUICK = ("--seconds", 0.0001)
THREADS_LABEL = "threads per node"

# Figures that cannot matter: the machine has no racks, and locks move no bulk bytes.
UNUSED = ("ns_per_byte", "path.rack")

# The paper's description of its workload and the authors' published benchmark differ; see
# tools/lockbench/lock_draw.h. The levers raise the costs of operations on local memory, up to the
# maximum of all the processor's figures.
LEVERS = (("locks drawn as published", ("--draws", "published")),
          ("cpu.load, store, atomic, poll at their most",
           ("--set", "cpu.load_ns=70", "--set", "cpu.store_ns=70", "--set", "cpu.atomic_ns=120",
            "--set", "cpu.poll_ns=150")),
          ("a card that caches all queue pairs", ("--set", "queue_pairs.cached=0")))


def table(nodes, threads, locks, locality=None, seconds=0.002):
    """Words of a run; the time is virtual, after ten acquires of each thread as warm-up."""
    near = () if locality is None else ("--locality", locality)
    return ("--bench", "table", "--set", f"shape.ranks_per_node={threads}", "--ranks",
            nodes * threads, "--stride", threads, "--locks", locks, *near, "--seconds", seconds)


def panel(nodes, locks, locality, locks_of=(ALOCK, MCS, SPIN), paper=(), paper_name="", **more):
    """Throughput of each lock over the threads per node, at one size of table and cluster."""
    local = f"{locality:.0%} local"
    return Panel(title=f"{locks} locks, {nodes} nodes, {local}",
                 lines=tuple(Line(NAMES[lock], ("--lock", lock)) for lock in locks_of),
                 xs=THREADS,
                 at=lambda threads: table(nodes, threads, locks, locality, **more),
                 label="operations per s",
                 x_label=THREADS_LABEL, paper=paper, paper_name=paper_name)


def ratios(seen, panel, over, under):
    """For two locks' throughputs, by threads per node."""
    a, b = seen.line(panel, NAMES[over]), seen.line(panel, NAMES[under])
    return {threads: a[threads] / b[threads] for threads in a}


def most(titles, over, under):
    """A measure: the largest ratio of two locks in all of these panels, whichever were run."""
    return lambda seen: max(max(ratios(seen, title, over, under).values())
                            for title in titles if title in seen.titles)


def titles(panels):
    return tuple(panel.title for panel in panels)


def rivals(panels, over_mcs, over_spin):
    """Checks: the maximum gain of ALock over both rivals, where the paper has at least as much."""
    return tuple(up_to(f"ALock / {NAMES[rival]}, largest", paper, most(titles(panels), ALOCK, rival))
                 for rival, paper in ((MCS, over_mcs), (SPIN, over_spin)))


def claim(panels, checks, sensitive, xs=(12,), unused=(), **told):
    """A claim of section 6. `sensitive` are the panels that are run again at `xs` for the
    sensitivity of `checks`, or of those that told["sensitive_checks"] names."""
    sensitive_checks = told.pop("sensitive_checks", checks)
    return Claim(machine=MACHINE, panels=panels, checks=checks,
                 sensitivity=Sensitivity(xs=xs, checks=sensitive_checks, panels=titles(sensitive),
                                         unused=(*UNUSED, *unused), levers=LEVERS),
                 quick_xs=told.pop("quick_xs", QUICK_THREADS), quick=QUICK, **told)

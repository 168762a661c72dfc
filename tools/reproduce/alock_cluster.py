"""The setting of SPAA'24, section 6: a table of locks spread equally over the nodes of a simulated
cluster, each thread a rank with queue pairs of its own."""

MACHINE = "alock-cluster"
SPIN = "fompi-spin"
MCS = "rdma-mcs"
ALOCK = "alock:local_budget=5,remote_budget=20"  # as chosen in section 6.1
NAMES = {ALOCK: "ALock", MCS: "RDMA MCS", SPIN: "RDMA spinlock"}
THREADS = (1, 2, 4, 6, 8, 10, 12)
QUICK_THREADS = (1, 2)
QUICK = ("--seconds", 0.0001)
THREADS_LABEL = "threads per node"

# Figures that cannot matter: the machine has no racks, and locks move no bulk bytes.
UNUSED = ("ns_per_byte", "path.rack")


def table(nodes, threads, locks, locality=None, seconds=0.002):
    """Words of a run; the time is virtual, after ten acquires of each thread as warm-up."""
    near = () if locality is None else ("--locality", locality)
    return ("--bench", "table", "--set", f"shape.ranks_per_node={threads}", "--ranks",
            nodes * threads, "--stride", threads, "--locks", locks, *near, "--seconds", seconds)

"""The common part of H1 and H2: the mutual-exclusion locks of HPDC'16, figure 3, on a simulated Piz
Daint."""

MACHINE = "piz-daint"
LOCKS = ("fompi-spin", "d-mcs", "rma-mcs")
NAMES = {"fompi-spin": "foMPI-Spin", "d-mcs": "D-MCS", "rma-mcs": "RMA-MCS"}
# The sweep of every figure compares these two: RMA-MCS is not in it yet.
COMPARED = ("fompi-spin", "d-mcs")

# A spinning lock makes up to P attempts for each acquire, so the larger P the fewer acquires.
ACQUIRES = {8: 200, 16: 200, 32: 100, 64: 100, 128: 50, 256: 20, 512: 10, 1024: 5}

# The paper does not mention a back-off of its spin lock; with one it is another lock.
LEVERS = [(f"foMPI-Spin with back-off up to {ns // 1000} us",
           ("--sweep", f"lock=fompi-spin:backoff_max_ns={ns};d-mcs"))
          for ns in (10_000, 100_000, 1_000_000)]
# Both ways through the card at their ends together: the attempts are atomics.
LEVERS += [(f"card.atomic_ns = loopback.atomic_ns = {ns}",
            ("--set", f"atomicity.gap_ns={min(50, ns // 2)}", "--set", f"card.atomic_ns={ns}",
             "--set", f"loopback.atomic_ns={ns}"))
           for ns in (20, 400)]

# Figures that cannot matter here: these locks move no bulk bytes, and the machine has no racks.
UNUSED = ("ns_per_byte", "path.rack")


def sizes(stage):
    return [8, 16, 32] if stage.quick else list(ACQUIRES)


def sweep(stage, bench):
    """{lock: {P: point}} of one bench."""
    found = {lock: {} for lock in LOCKS}
    for ranks in sizes(stage):
        points = stage.series(("lock",), "--machine", MACHINE, "--bench", bench, "--ranks", ranks,
                              "--acquires", 10 if stage.quick else ACQUIRES[ranks],
                              "--sweep", "lock=" + ",".join(LOCKS))
        for lock in LOCKS:
            found[lock][ranks] = points[(lock,)]
    return found


def latency_ns(point):
    """The result of LB: the mean of acquire and release together."""
    return point["latency"]["both"]["mean_ns"]


def throughput(point):
    return point["throughput_per_s"]


def holds_from(found, better):
    """The least P from which on `better`(P) is true up to the largest, or None."""
    least = None
    for ranks in sorted(found["d-mcs"], reverse=True):
        if not better(ranks):
            break
        least = ranks
    return least


def sensitivity(stage, bench):
    ranks = sizes(stage)[-1]
    words = ("--bench", bench, "--ranks", ranks, "--acquires", 3, "--sweep",
             "lock=" + ",".join(COMPARED))
    return ranks, stage.sensitivity(MACHINE, words, LEVERS, UNUSED)

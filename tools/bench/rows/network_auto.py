#!/usr/bin/env python3
# two network namespaces, kvload on mpi:, lock=auto over the best fixed lock kind, by writes and locality
import statistics

import common
import hosts

RECORDS = 2000 if common.TINY else 40_000
SECONDS = 1 if common.TINY else 2  # per part: some kinds are slower than others by far
LOCALITIES = (0.5,) if common.TINY else (1, 0.9, 0.5)
PARTS = (0, 50, 5)  # percent of writes, one after another without restart


def sweep(lock, local, shares=hosts.SHARES):
    return hosts.kvload(hosts.TWO_HOSTS, "mpi:", RECORDS, 0, "--lock-policy", lock,
                        "--locality", local, shares=shares, seconds=SECONDS)


def middle(runs, share):
    return statistics.median(run[share] for run in runs)


def against_best(title, local, shares, goal):
    """Each kind once in each repetition, so that a slow hour meets all of them."""
    runs = [{lock: sweep(lock, local, shares) for lock in ("auto", *hosts.FIXED_KINDS)}
            for _ in range(common.REPEATS)]
    for share in shares:
        fixed = {kind: middle((run[kind] for run in runs), share) for kind in hosts.FIXED_KINDS}
        best = max(fixed, key=fixed.get)
        auto = middle((run["auto"] for run in runs), share)
        common.result(f"{title}, {share}% writes", auto / fixed[best], "x",
                      None if common.TINY else goal, True, best=best, auto_per_s=round(auto),
                      fixed_per_s={kind: round(rate) for kind, rate in fixed.items()})


for local in LOCALITIES:
    against_best(f"network_auto, {local:g} local", local, hosts.SHARES, 0.9)
if not common.TINY:
    against_best("network_auto, parts of one run, half local", 0.5, PARTS, 0.85)

#!/usr/bin/env python3
# two network namespaces, kvload on mpi:, lock=auto over the best fixed lock kind, by writes and locality
import common
import hosts

RECORDS = 2000 if common.TINY else 40_000
SECONDS = 1 if common.TINY else 2  # per part: some kinds are slower than others by far
LOCALITIES = (0.5,) if common.TINY else (1, 0.9, 0.5)
PASSES = 1 if common.TINY else 2
PARTS = (0, 50, 5)  # percent of writes, one after another without restart


def sweep(lock, local, shares, passes=PASSES):
    """Only the last pass of each share counts: auto learns in the first."""
    return hosts.kvload(hosts.TWO_HOSTS, f"mpi:?{hosts.FEW_STRIPES}", RECORDS, 0,
                        "--lock-policy", lock, "--locality", local,
                        shares=[share for share in shares for _ in range(passes)],
                        seconds=SECONDS)


def against_best(title, local, shares, goal, **more):
    runs = [{lock: sweep(lock, local, shares, **more) for lock in hosts.KINDS}
            for _ in range(common.REPEATS)]
    for share in shares:
        hosts.auto_over_best(f"{title}, {share}% writes", runs, share, goal)


for local in LOCALITIES:
    against_best(f"network_auto, {local:g} local", local, hosts.SHARES, 0.9)
if not common.TINY:
    against_best("network_auto, parts of one run, half local", 0.5, PARTS, 0.85, passes=1)

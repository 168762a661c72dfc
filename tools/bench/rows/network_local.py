#!/usr/bin/env python3
# mpi: on two ranks with all keys local: a rank in each of two network namespaces over both in one
import statistics

import common
import hosts

RECORDS = 2000 if common.TINY else 2_000_000  # a million for each rank
OPERATIONS = 20_000 if common.TINY else 8_000_000
GOALS = {0: 0.9, 50: 0.8}


def sweep(job):
    return hosts.kvload(job, "mpi:", RECORDS, OPERATIONS, "--locality", 1, shares=tuple(GOALS))


pairs = [(sweep(hosts.TWO_HOSTS), sweep(hosts.ONE_HOST)) for _ in range(common.REPEATS)]
for share, goal in GOALS.items():
    common.result(f"network_local, two hosts over one, {share}% writes",
                  statistics.median(two[share] / one[share] for two, one in pairs), "x", goal, True,
                  two_per_s=round(statistics.median(two[share] for two, _ in pairs)),
                  one_per_s=round(statistics.median(one[share] for _, one in pairs)))

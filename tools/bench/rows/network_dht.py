#!/usr/bin/env python3
# two network namespaces: mpi: over dht:, a table without locks, and dht: over raw MPI_Get + flush
import statistics

import common
import hosts

RECORDS = 2000 if common.TINY else 2_000_000  # a million for each rank
OPERATIONS = 2000 if common.TINY else 300_000
GOALS = {0: 1.4, 5: 1.4, 50: 1.1, 100: 1.0}
BUCKET_BYTES = 8 + 8 + 16 + 100 + 4  # dht_table.cc: checksum, length, key, value, aligned


def sweep(store, locality, *words, **more):
    return hosts.kvload_runs(hosts.TWO_HOSTS, store, RECORDS, OPERATIONS, "--locality", locality,
                             *words, **more)


def rate(runs, share):
    return runs[share]["throughput_per_s"]


def warm(runs, share):
    """The part of the reads without a lock that found the element where it was known to be."""
    reads = runs[share].get("remote_reads", {"warm": 0, "cold": 0})
    return reads["warm"] / max(1, reads["warm"] + reads["cold"])


def compare(title, mine, theirs, share, goal):
    common.result(title, statistics.median(rate(a, share) / rate(b, share)
                                           for a, b in zip(mine, theirs)),
                  "x over dht:", goal, True,
                  keyway_per_s=round(statistics.median(rate(a, share) for a in mine)),
                  dht_per_s=round(statistics.median(rate(b, share) for b in theirs)),
                  warm=round(statistics.median(warm(a, share) for a in mine), 3))


# dht: has nothing to learn. mpi: knows the place of each element that it has read or written, so it
# is measured twice: as a program that has run for a while sees it, and just after the load, in which
# a rank writes half of the other's records and so knows half of the places.
known, peer, unknown = [], [], []
for _ in range(common.REPEATS):
    known.append(sweep("mpi:", 0.5, "--warm-up"))
    peer.append(sweep("dht:", 0.5))
    unknown.append(sweep("mpi:", 0.5, shares=(0,)))
for share in hosts.SHARES:
    compare(f"network_dht, half local, warmed up, {share}% writes", known, peer, share, GOALS[share])
compare("network_dht, half local, after the load, 0% writes", unknown, peer, 0, None)
remote = [(rate(sweep("dht:", 0, shares=(0,)), 0),
           hosts.raw_per_s("get", BUCKET_BYTES, OPERATIONS // 2, 1024))
          for _ in range(common.REPEATS)]
common.result("network_dht, dht: reads over raw gets", statistics.median(a / b for a, b in remote),
              "x", 0.9, True, dht_per_s=round(statistics.median(a for a, _ in remote)),
              raw_per_s=round(statistics.median(b for _, b in remote)))

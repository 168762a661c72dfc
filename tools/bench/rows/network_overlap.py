#!/usr/bin/env python3
# two network namespaces, all keys on the other rank: batches of gets, and threads, over one at a time
import statistics

import common
import hosts

RECORDS = 2000 if common.TINY else 2_000_000  # a million for each rank
OPERATIONS = 4000 if common.TINY else 400_000
READ_BYTES = 144  # an element with a key of 16 B and a value of 100 B


def gets(*words):
    """Per second; a rank knows the places of the half of its keys that it has loaded."""
    return hosts.kvload(hosts.TWO_HOSTS, "mpi:", RECORDS, OPERATIONS, "--locality", 0, *words,
                        shares=(0,))[0]


def raw(way):
    return hosts.raw_per_s(way, READ_BYTES, OPERATIONS // 2, 256)


WAYS = {"one": (), "batches of 16": ("--batch", 16), "batches of 64": ("--batch", 64),
        "4 threads": ("--threads", 4)}
GOALS = {"batches of 16": 3.0, "batches of 64": 5.0, "4 threads": 1.5}
found = [{way: gets(*words) for way, words in WAYS.items()} for _ in range(common.REPEATS)]
for way, goal in GOALS.items():
    common.result(f"network_overlap, gets, {way} over one",
                  statistics.median(f[way] / f["one"] for f in found), "x", goal, True,
                  per_s=round(statistics.median(f[way] for f in found)),
                  one_per_s=round(statistics.median(f["one"] for f in found)))
floors = [(raw("rget16"), raw("rget")) for _ in range(common.REPEATS)]
common.result("network_overlap, raw MPI: 16 MPI_Rgets at a time over one",
              statistics.median(a / b for a, b in floors), "x", None, True,
              per_s=round(statistics.median(a for a, _ in floors)),
              one_per_s=round(statistics.median(b for _, b in floors)))

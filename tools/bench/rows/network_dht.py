#!/usr/bin/env python3
# two network namespaces: mpi: over dht:, a table without locks, and dht: over raw MPI_Get + flush
import statistics

import common
import hosts

RECORDS = 2000 if common.TINY else 2_000_000  # a million for each rank
OPERATIONS = 2000 if common.TINY else 300_000
GOALS = {0: 1.4, 5: 1.4, 50: 1.1, 100: 1.0}
BUCKET_BYTES = 8 + 8 + 16 + 100 + 4  # dht_table.cc: checksum, length, key, value, aligned


def sweep(store, locality):
    return hosts.kvload(hosts.TWO_HOSTS, store, RECORDS, OPERATIONS, "--locality", locality)


half = [(sweep("mpi:", 0.5), sweep("dht:", 0.5)) for _ in range(common.REPEATS)]
for share in hosts.SHARES:
    common.result(f"network_dht, half local, {share}% writes",
                  statistics.median(keyway[share] / dht[share] for keyway, dht in half),
                  "x over dht:", GOALS[share], True,
                  keyway_per_s=round(statistics.median(keyway[share] for keyway, _ in half)),
                  dht_per_s=round(statistics.median(dht[share] for _, dht in half)))
remote = [(sweep("dht:", 0)[0], hosts.raw_per_s("get", BUCKET_BYTES, OPERATIONS // 2, 1024))
          for _ in range(common.REPEATS)]
common.result("network_dht, dht: reads over raw gets", statistics.median(a / b for a, b in remote),
              "x", 0.9, True, dht_per_s=round(statistics.median(a for a, _ in remote)),
              raw_per_s=round(statistics.median(b for _, b in remote)))

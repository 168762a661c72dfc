#!/usr/bin/env python3
# redis-benchmark on a third host, GET, 50 clients: keywayd on two hosts (--cluster) over one rank alone
import statistics

import common
import servers

REQUESTS = {1: 200_000, 16: 1_500_000}
SHARE = 100 if common.TINY else 1
# redis-benchmark takes no cluster of one. In a cluster it gives its keys other names.
CLUSTER = ("--cluster",)

with servers.keywayd_served_to_a_host(2, "--memory", "512MiB") as two, \
        servers.keywayd_served_to_a_host(1, "--memory", "1GiB") as one:
    servers.benchmark(two, 3 * servers.KEYS, "-t", "set", "-P", 64, *CLUSTER)
    servers.benchmark(one, 3 * servers.KEYS, "-t", "set", "-P", 64)
    for pipeline, requests in REQUESTS.items():
        words = ("--threads", 2, "-t", "get", "-P", pipeline)
        pairs = [(servers.benchmark(two, requests // SHARE, *words, *CLUSTER)[0],
                  servers.benchmark(one, requests // SHARE, *words)[0])
                 for _ in range(common.REPEATS)]
        common.result(f"server_cluster, two hosts over one, GET, pipeline {pipeline}",
                      statistics.median(a / b for a, b in pairs), "x", 0.8, True,
                      two_per_s=round(statistics.median(a for a, _ in pairs)),
                      one_per_s=round(statistics.median(b for _, b in pairs)))

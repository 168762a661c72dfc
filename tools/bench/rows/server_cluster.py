#!/usr/bin/env python3
# redis-benchmark on a third host, GET, 50 clients: keywayd on two hosts (--cluster) over one rank alone
import statistics

import common
import servers

REQUESTS = {1: 200_000, 16: 1_500_000}
SHARE = 100 if common.TINY else 1
# redis-benchmark takes no cluster of one. In a cluster it has other keys for each node.
CLUSTER = ("--cluster",)


def rates(ranks, *more):
    """GETs per second by pipeline; nothing else runs. Nearly all keys are there."""
    memory = "1GiB" if ranks == 1 else "512MiB"
    with servers.keywayd_served_to_a_host(ranks, "--memory", memory) as server:
        servers.benchmark(server, 3 * ranks * servers.KEYS, "-t", "set", "-P", 64, *more)
        return {pipeline: servers.benchmark(server, requests // SHARE, "--threads", 2, "-t", "get",
                                            "-P", pipeline, *more)[0]
                for pipeline, requests in REQUESTS.items()}


pairs = [(rates(2, *CLUSTER), rates(1)) for _ in range(common.REPEATS)]
for pipeline in REQUESTS:
    common.result(f"server_cluster, two hosts over one, GET, pipeline {pipeline}",
                  statistics.median(a[pipeline] / b[pipeline] for a, b in pairs), "x", 0.8, True,
                  two_per_s=round(statistics.median(a[pipeline] for a, _ in pairs)),
                  one_per_s=round(statistics.median(b[pipeline] for _, b in pairs)))

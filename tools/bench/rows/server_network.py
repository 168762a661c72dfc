#!/usr/bin/env python3
# keywayd, a rank in each of two network namespaces, a client at one: pipelines for keys of the other
import statistics
import subprocess

import common
import hosts
import servers
from resp import Client, encode

KEYS = 200 if common.TINY else 20_000
SECONDS = 0.2 if common.TINY else 3.0
READ_BYTES = 144  # an element with a key of 16 B and a value of 100 B


def of_50_clients(path, key):
    """SETs of one key, per second."""
    out = common.output_of(["redis-benchmark", "-s", path, "-c", 50, "-n", KEYS * 5, "--csv",
                            "SET", key, "x" * servers.VALUE_BYTES], stderr=subprocess.DEVNULL)
    return float(out.splitlines()[-1].split(",")[1].strip('"'))


def middle(values):
    return statistics.median(values)


# Without servers beside it.
floor = middle(hosts.raw_per_s("rget16", READ_BYTES, 16 * KEYS, 256, 1)
               for _ in range(common.REPEATS))
value = b"x" * servers.VALUE_BYTES
shown = b"$%d\r\n%b\r\n" % (len(value), value)
with servers.keywayd_hosts("--memory", "256MiB") as ranks:
    client = Client(ranks.socket(0))
    keys = [b"key:%012d" % i for i in range(KEYS)]
    for key in keys:
        client.ask(encode(b"SET", key, value), len(b"+OK\r\n"))
    far = [key for key in keys if client.slot_of(key) >= servers.SLOTS // 2]
    requests = {"GET": (lambda key: encode(b"GET", key), shown),
                "SET": (lambda key: encode(b"SET", key, value), b"+OK\r\n"),
                "INCR": (lambda key: encode(b"INCRBY", b"n" + key[4:], b"0"), b":0\r\n")}
    for command, (make, reply) in requests.items():
        pipelines = {n: [(b"".join(map(make, far[i:i + n])), n * len(reply))
                         for i in range(0, len(far) - n, n)] for n in (1, 16)}
        found = [{n: client.rate(pipelines[n], n, SECONDS) for n in (1, 16)}
                 for _ in range(common.REPEATS)]
        if command == "GET":
            gets = middle(f[16] for f in found)
        common.result(f"server_network, {command} of far keys, pipeline 16 over 1",
                      middle(f[16] / f[1] for f in found), "x", None, True,
                      requests_per_s=round(middle(f[16] for f in found)),
                      one_per_s=round(middle(f[1] for f in found)))
    common.result("server_network, GET of far keys, pipeline 16, over 16 raw MPI_Rgets",
                  gets / floor, "x", 0.5, True, requests_per_s=round(gets), raw_per_s=round(floor))
    pairs = [(of_50_clients(ranks.socket(0), far[0]), of_50_clients(ranks.socket(1), far[0]))
             for _ in range(common.REPEATS)]
    common.result("server_network, 50 clients SET one far key, over the same at its owner",
                  middle(a / b for a, b in pairs), "x", 0.3, True,
                  far_per_s=round(middle(a for a, _ in pairs)),
                  owner_per_s=round(middle(b for _, b in pairs)))

#!/usr/bin/env python3
# an operation on a remote key of mpi: over its floor, raw MPI operations: gets with and without a lock, a put
import json

import common
import hosts

GETS = 100 if common.TINY else 2000
PROGRAM = common.BUILD / "tools/bench/bench_remote_operation"
DIRECT = "mpi:?memory=64MiB"
THROUGH_MPI = "mpi:?memory=64MiB&force_rma=on"
TWO_NODES = "mpi:?memory=64MiB&ranks_per_node=1"

PLACES = (
    ("one host, direct", hosts.ONE_HOST, "locked", DIRECT, 3.0),
    ("one host, through MPI", hosts.ONE_HOST, "locked", THROUGH_MPI, 3.0),
    ("two network namespaces", hosts.TWO_HOSTS, "locked", DIRECT, 3.0),
    ("one host as two nodes, cold", hosts.ONE_HOST, "cold", TWO_NODES, None),
    ("one host as two nodes, warm", hosts.ONE_HOST, "warm", TWO_NODES, None),
    ("two network namespaces, cold", hosts.TWO_HOSTS, "cold", DIRECT, 1.4),
    ("two network namespaces, warm", hosts.TWO_HOSTS, "warm", DIRECT, 1.4),
    ("two network namespaces, put in place", hosts.TWO_HOSTS, "put", DIRECT, 1.4),
)
for place, launcher, way, uri, most in PLACES:
    found = json.loads(common.output_of([*launcher, PROGRAM, GETS, common.REPEATS, way, uri]))
    common.result(f"remote_get, {place}", found["ratio"], "x", most, False, **found)

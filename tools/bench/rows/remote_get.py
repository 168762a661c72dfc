#!/usr/bin/env python3
# a remote get over mpi: under its lock, over two raw MPI_Get + flush (at most 3); without, 1 or 2 reads
import json

import common

GETS = 100 if common.TINY else 2000
PROGRAM = common.BUILD / "tools/bench/bench_remote_get"
NAMESPACES = [common.ROOT / "tests/support/netns_mpirun.sh", "2", "1"]
ONE_HOST = ["mpirun.mpich", "-launcher", "fork", "-n", "2"]
DIRECT = "mpi:?memory=64MiB"
THROUGH_MPI = "mpi:?memory=64MiB&force_rma=on"
TWO_NODES = "mpi:?memory=64MiB&ranks_per_node=1"

PLACES = (
    ("one host, direct", ONE_HOST, "locked", DIRECT, 3.0),
    ("one host, through MPI", ONE_HOST, "locked", THROUGH_MPI, 3.0),
    ("two network namespaces", NAMESPACES, "locked", DIRECT, 3.0),
    ("one host as two nodes, cold", ONE_HOST, "cold", TWO_NODES, None),
    ("one host as two nodes, warm", ONE_HOST, "warm", TWO_NODES, None),
    ("two network namespaces, cold", NAMESPACES, "cold", DIRECT, 1.4),
    ("two network namespaces, warm", NAMESPACES, "warm", DIRECT, 1.4),
)
for place, launcher, way, uri, most in PLACES:
    found = json.loads(common.output_of([*launcher, PROGRAM, GETS, common.REPEATS, way, uri]))
    common.result(f"remote_get, {place}", found["ratio"], "x", most, False, **found)

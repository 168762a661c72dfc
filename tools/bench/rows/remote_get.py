#!/usr/bin/env python3
# a remote get over mpi: under its lock, over two raw MPI_Get + flush, 2 ranks (at most 3)
import json

import common

GETS = 100 if common.TINY else 2000
PROGRAM = common.BUILD / "tools/bench/bench_remote_get"
NAMESPACES = common.ROOT / "tests/support/netns_mpirun.sh"
ONE_HOST = ["mpirun.mpich", "-launcher", "fork", "-n", "2"]

PLACES = (
    ("one host, direct", ONE_HOST, "mpi:?memory=64MiB"),
    ("one host, through MPI", ONE_HOST, "mpi:?memory=64MiB&force_rma=on"),
    ("two network namespaces", [NAMESPACES, "2", "1"], "mpi:?memory=64MiB"),
)
for place, launcher, uri in PLACES:
    found = json.loads(common.output_of([*launcher, PROGRAM, GETS, common.REPEATS, uri]))
    common.result(f"remote_get, {place}", found["ratio"], "x", 3.0, False, **found)

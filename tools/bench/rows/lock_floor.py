#!/usr/bin/env python3
# uncontended RMA-RW read and ALock write on shared memory, over the two atomics that each needs
import json
import statistics

import common

ACQUIRES = 10_000 if common.TINY else 2_000_000
PROGRAM = common.BUILD / "tools/bench/bench_lock_floor"


def measured(lock, mode):
    """REPEATS runs: the one of the median ratio."""
    runs = [json.loads(common.output_of([PROGRAM, lock, mode, ACQUIRES]))
            for _ in range(common.REPEATS)]
    middle = statistics.median_low(run["ratio"] for run in runs)
    return next(run for run in runs if run["ratio"] == middle)


for lock, mode, floor, bound in (("rma-rw", "read", "a pair of atomic adds", 2.2),
                                 ("alock", "write", "a compare-and-swap pair", 3.0),
                                 ("gbh:lockall=off", "read", "a pair of atomic adds", None),
                                 ("d-mcs", "write", "a compare-and-swap pair", None)):
    found = measured(lock, mode)
    common.result(f"{lock} {mode} over {floor}", found["ratio"], "x", bound, False,
                  lock_ns=found["lock_ns"], floor_ns=found["floor_ns"])

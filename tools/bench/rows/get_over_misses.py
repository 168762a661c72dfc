#!/usr/bin/env python3
# a get of local: over the two dependent memory reads that it cannot do without (the floor)
import common

THREADS = 2


def floor_ns():
    return float(common.output_of([common.BUILD / "tools/bench/bench_misses", common.RECORDS,
                                   common.OPERATIONS // THREADS, THREADS]))


def get_ns(store):
    return 1e9 * THREADS / common.throughput(store, 0)


for store in ("local:", "tbb:"):
    ratio, get, floor = common.ratio_of(lambda: get_ns(store), floor_ns)
    common.result(f"get_over_misses, {store}", ratio, "x", None, False, get_ns=round(get),
                  floor_ns=round(floor))

#!/usr/bin/env python3
# the store in simulation, 16 nodes: lock=auto over the best fixed lock kind, by writes and locality
import concurrent.futures
import json
import os

import common

PROGRAM = common.BUILD / "tools/bench/bench_lock_policy"
NODES, RANKS_PER_NODE, STRIPES, SEED = 16, 4, 2, 1
MACHINES = ("piz-daint",) if common.TINY else ("piz-daint", "alock-cluster")
# Those that lock=auto chooses among.
KINDS = tuple(common.output_of([PROGRAM, "kinds"]).split())
WARM_UP, WARM_UP_OF_FIXED = (500, 100) if common.TINY else (6000, 300)
MEASURED = 5000 if common.TINY else 50_000

WRITES = (0.05,) if common.TINY else (0, 0.05, 0.5, 1)
LOCALITY = (0.9,) if common.TINY else (1.0, 0.9, 0.5)
SETTINGS = {f"F_W {writes:g}, {local:g} local": (f"1:{1 - writes}:{local}", 0.9)
            for writes in WRITES for local in LOCALITY}
# All nodes read half of the stripes; the owners' nodes write the other half.
SETTINGS |= {f"half read-mostly (F_W {writes:g}), half written locally":
             (f"0.5:{1 - writes}:{1 / NODES},0.5:0:1", 1.0) for writes in (0.002, 0.02)}


def run(machine, parts, lock):
    """The store's throughput under one lock kind, or `auto`."""
    warm_up = WARM_UP if lock == "auto" else WARM_UP_OF_FIXED
    return json.loads(common.output_of([PROGRAM, machine, NODES, RANKS_PER_NODE, STRIPES, warm_up,
                                        MEASURED, SEED, parts, lock]))


runs = [(machine, setting, lock) for machine in MACHINES for setting in SETTINGS
        for lock in ("auto", *KINDS)]
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    found = dict(zip(runs, pool.map(lambda r: run(r[0], SETTINGS[r[1]][0], r[2]), runs)))

for machine in MACHINES:
    for setting, (_, bound) in SETTINGS.items():
        auto = found[machine, setting, "auto"]
        fixed = {kind: round(found[machine, setting, kind]["throughput_per_s"]) for kind in KINDS}
        best = max(fixed, key=fixed.get)
        # Too few visits to learn anything from: --tiny shows that it runs.
        common.result(f"{machine}: {setting}", auto["throughput_per_s"] / fixed[best], "x",
                      None if common.TINY else bound, True, best=best, fixed_per_s=fixed, auto=auto)
        of_each = ", ".join(f"{kind.split(':')[0]} {rate / 1e6:.2f}" for kind, rate in fixed.items())
        print(f"{machine}: {setting}, M/s: {of_each}, auto {auto['throughput_per_s'] / 1e6:.2f}; "
              f"{auto['switches']} switches in {auto['learned_visits']} visits, "
              f"{auto['learned_ms']:.2f} ms; {auto['late_switches']} later", flush=True)

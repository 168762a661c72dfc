#!/usr/bin/env python3
# a simulation of this host: predicted over measured throughput of each lock at 1 and 2 agents
import json

import common

ACQUIRES = 200 if common.TINY else 20_000
RUNS = 3 if common.TINY else 41
PROGRAM = common.BUILD / "tools/bench/bench_predict"

found = [json.loads(line) for line in common.output_of([PROGRAM, ACQUIRES, RUNS]).splitlines()]
for one in found:
    # Within twofold either way: how far off, as a factor from 1 up.
    off = max(one["ratio"], 1 / one["ratio"])
    common.result(f"predicted, {one['lock']}, {one['agents']} agents", off, "x", 2.0, False, **one)

# Pairs of locks with a measured order that differs from the predicted one by more than the
# measurement's uncertainty, a tenth.
for agents in (1, 2):
    of = [one for one in found if one["agents"] == agents]
    wrong = [(a["lock"], b["lock"]) for a in of for b in of
             if a["measured_per_s"] > 1.1 * b["measured_per_s"]
             and a["predicted_per_s"] < b["predicted_per_s"]]
    common.result(f"predicted, order at {agents} agents", len(wrong), "pairs", 0, False, wrong=wrong)

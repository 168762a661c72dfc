#!/usr/bin/env python3
# locks over mpi between network namespaces: RMA-RW over foMPI-RW; ALock over RDMA MCS and spinlock
import json
import subprocess
import tempfile

import common
from hosts import NETNS

LOCKBENCH = common.BUILD / "tools/lockbench/lockbench"
ACQUIRES = 200 if common.TINY else 20_000
SECONDS = 0.1 if common.TINY else 2

# Each rank acquires as often as the others, and the rate is over the whole time, as in the papers.
AS_OFTEN = ("--acquires", ACQUIRES)
# Each agent as often as it can: an agent near a lock can have it all the time.
FIXED_TIME = ("--seconds", SECONDS)


def acquires_per_s(hosts, ranks, lock, *bench):
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        common.output_of([NETNS, hosts, ranks, LOCKBENCH, "--fabric", "mpi", "--lock", lock,
                          "--json", report.name, *bench],
                         stderr=subprocess.DEVNULL)
        return json.load(report)["throughput_per_s"]


def compare(what, hosts, ranks, ours, theirs, *bench, bound=1.0):
    ratio, our_rate, their_rate = common.ratio_of(
        lambda: acquires_per_s(hosts, ranks, ours, *bench),
        lambda: acquires_per_s(hosts, ranks, theirs, *bench))
    common.result(f"{ours} over {theirs}, {what}, {hosts} x {ranks}", ratio, "x", bound, True,
                  ours_per_s=round(our_rate), theirs_per_s=round(their_rate))


for hosts, ranks in ((2, 2), (2, 1)):
    for fw in (0.02,) if common.TINY else (0.002, 0.02, 0.05):
        for kind in ("rma-rw", "rma-rw:t_dc=1")[:ranks]:
            compare(f"F_W {100 * fw:g}%", hosts, ranks, kind, "fompi-rw",
                    "--bench", "ecsb", "--fw", fw, *AS_OFTEN)
    compare("F_W 2%, for a fixed time", hosts, ranks, "rma-rw", "fompi-rw",
            "--bench", "ecsb", "--fw", 0.02, *FIXED_TIME, bound=None)
    for other in ("rdma-mcs", "rdma-spin"):
        compare("90% local", hosts, ranks, "alock", other,
                "--bench", "table", "--locks", 20, "--locality", 0.9, *AS_OFTEN)

#!/usr/bin/env python3
# locks over mpi between network namespaces: RMA-RW over foMPI-RW; ALock over RDMA MCS and spinlock
import json
import subprocess
import tempfile

import common

LOCKBENCH = common.BUILD / "tools/lockbench/lockbench"
NAMESPACES = common.ROOT / "tests/support/netns_mpirun.sh"
SECONDS = 0.1 if common.TINY else 2


def acquires_per_s(hosts, ranks, lock, *bench):
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        common.output_of([NAMESPACES, hosts, ranks, LOCKBENCH, "--fabric", "mpi", "--lock", lock,
                          "--seconds", SECONDS, "--json", report.name, *bench],
                         stderr=subprocess.DEVNULL)
        return json.load(report)["throughput_per_s"]


def compare(what, hosts, ranks, ours, theirs, *bench):
    ratio, our_rate, their_rate = common.ratio_of(
        lambda: acquires_per_s(hosts, ranks, ours, *bench),
        lambda: acquires_per_s(hosts, ranks, theirs, *bench))
    common.result(f"{ours} over {theirs}, {what}, {hosts} x {ranks}", ratio, "x", 1.0, True,
                  ours_per_s=round(our_rate), theirs_per_s=round(their_rate))


for hosts, ranks in ((2, 2), (2, 1)):
    for fw in (0.002, 0.02, 0.05):
        compare(f"F_W {100 * fw:g}%", hosts, ranks, "rma-rw", "fompi-rw",
                "--bench", "ecsb", "--fw", fw)
    for other in ("rdma-mcs", "rdma-spin"):
        compare("90% local", hosts, ranks, "alock", other,
                "--bench", "table", "--locks", 20, "--locality", 0.9)

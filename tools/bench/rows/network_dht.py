#!/usr/bin/env python3
# two network namespaces: mpi: over dht:, a table without locks, and dht: over raw MPI_Get + flush
import json
import statistics
import subprocess
import tempfile
import pathlib

import common

NAMESPACES = [common.ROOT / "tests/support/netns_mpirun.sh", "2", "1"]
RAW_MPI = common.BUILD / "tools/bench/bench_raw_mpi"
RECORDS = 2000 if common.TINY else 2_000_000  # a million for each rank
OPERATIONS = 2000 if common.TINY else 300_000
SHARES = (0, 5, 50, 100)
GOALS = {0: 1.4, 5: 1.4, 50: 1.1, 100: 1.0}
BUCKET_BYTES = 8 + 8 + 16 + 100 + 4  # dht_table.cc: checksum, length, key, value, aligned


def sweep(store, locality):
    """Operations per second by the share of writes, in one job."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        common.output_of([*NAMESPACES, common.KVLOAD, "run", "--store", store, "--key-bytes", 16,
                          "--value-bytes", 100, "-p", f"recordcount={RECORDS}",
                          "-p", f"operationcount={OPERATIONS}", "-p",
                          "requestdistribution=uniform", "--threads", 1, "--latency", "off",
                          "--locality", locality, "--fw", ",".join(map(str, SHARES)),
                          "--json", report],
                         stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        phases = json.loads(report.read_text())["phases"]
    return {p["write_percent"]: p["throughput_per_s"] for p in phases if p["phase"] == "run"}


def raw(way):
    found = common.output_of([*NAMESPACES, RAW_MPI, way, BUCKET_BYTES, OPERATIONS // 2, 1024],
                             stdin=subprocess.DEVNULL)
    return json.loads(found)["operations_per_s"]


half = [(sweep("mpi:", 0.5), sweep("dht:", 0.5)) for _ in range(common.REPEATS)]
for share in SHARES:
    common.result(f"network_dht, half local, {share}% writes",
                  statistics.median(keyway[share] / dht[share] for keyway, dht in half),
                  "x over dht:", GOALS[share], True,
                  keyway_per_s=round(statistics.median(keyway[share] for keyway, _ in half)),
                  dht_per_s=round(statistics.median(dht[share] for _, dht in half)))
remote = [(sweep("dht:", 0)[0], raw("get")) for _ in range(common.REPEATS)]
common.result("network_dht, dht: reads over raw gets", statistics.median(a / b for a, b in remote),
              "x", 0.9, True, dht_per_s=round(statistics.median(a for a, _ in remote)),
              raw_per_s=round(statistics.median(b for _, b in remote)))

"""Functions that the rows over two hosts share; the hosts are network namespaces of this one."""

import json
import pathlib
import statistics
import subprocess
import tempfile

import common

NETNS = common.ROOT / "tests/support/netns_mpirun.sh"
TWO_HOSTS = [NETNS, "2", "1"]
ONE_HOST = ["mpirun.mpich", "-launcher", "fork", "-n", "2"]
# Visits to a stripe in a run: those of a few seconds here, of some minutes with the usual 4096.
FEW_STRIPES = "stripes=64"
RAW_MPI = common.BUILD / "tools/bench/bench_raw_mpi"
SHARES = (0, 5, 50, 100)  # percentages of writes
# auto, and those that it chooses among (bench_lock_policy kinds).
KINDS = ("auto", "alock-rw", "gbh:lockall=off") if common.TINY else (
    "auto", "rma-rw", "alock", "alock-rw", "gbh:lockall=off", "fompi-spin", "d-mcs", "rw-ticket")


def kvload_runs(job, store, records, operations, *words, shares=SHARES, seconds=0):
    """The report of each run, by the share of writes: 16 B keys, 100 B values, uniform, the shares
    one after another in one process of each rank. If `operations` is 0, each lasts `seconds`."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        common.output_of([*job, common.KVLOAD, "run", "--store", store, "--key-bytes", 16,
                          "--value-bytes", 100, "-p", f"recordcount={records}",
                          "-p", f"operationcount={operations}",
                          "-p", f"maxexecutiontime={seconds}",
                          "-p", "requestdistribution=uniform", "--latency", "off",
                          "--fw", ",".join(map(str, shares)), "--json", report, *words],
                         stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        phases = json.loads(report.read_text())["phases"]
    return {p["write_percent"]: p for p in phases if p["phase"] == "run"}


def kvload(*args, **more):
    """Operations per second of all ranks, by the share of writes; as kvload_runs()."""
    runs = kvload_runs(*args, **more)
    return {share: run["throughput_per_s"] for share, run in runs.items()}


def raw_per_s(way, *words):
    """Raw MPI operations per second (raw_mpi.cc)."""
    found = common.output_of([*TWO_HOSTS, RAW_MPI, way, *words], stdin=subprocess.DEVNULL)
    return json.loads(found)["operations_per_s"]


def auto_over_best(title, runs, setting, goal):
    """The rate of lock=auto over that of the best fixed kind, by medians. Each run has the rates of
    all kinds by setting, so that a slow hour meets all of them."""
    middle = {kind: statistics.median(run[kind][setting] for run in runs) for kind in runs[0]}
    auto = middle.pop("auto")
    best = max(middle, key=middle.get)
    common.result(title, auto / middle[best], "x", None if common.TINY else goal, True, best=best,
                  auto_per_s=round(auto),
                  fixed_per_s={kind: round(rate) for kind, rate in middle.items()})

"""Functions that the rows share: running kvload, medians, and printing a result."""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "common"))
import plotting  # noqa: E402, F401
from measuring import ROOT, output_of  # noqa: E402, F401

BUILD = pathlib.Path(os.environ["KEYWAY_BENCH_BUILD"])
TINY = os.environ["KEYWAY_BENCH_TINY"] == "1"
REPEATS = int(os.environ["KEYWAY_BENCH_REPEATS"])
KVLOAD = BUILD / "tools/kvload/kvload"

RECORDS = 10_000 if TINY else 1_000_000
OPERATIONS = 20_000 if TINY else 4_000_000


def throughput(store, write_percent, *more, threads=2):
    """Operations per second of kvload's run phase: 16 B keys, 100 B values, uniform."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        output_of([KVLOAD, "run", "--store", store, "--key-bytes", 16, "--value-bytes", 100,
                   "-p", f"recordcount={RECORDS}", "-p", f"operationcount={OPERATIONS}",
                   "-p", "requestdistribution=uniform", "--threads", threads, "--latency", "off",
                   "--fw", write_percent, "--json", report, *more], stderr=subprocess.DEVNULL)
        phases = json.loads(report.read_text())["phases"]
    return next(p["throughput_per_s"] for p in phases if p["phase"] == "run")


def ratio_of(first, second):
    """Both measured in turn, REPEATS times: the median of the ratios, and of each."""
    pairs = [(first(), second()) for _ in range(REPEATS)]
    return (statistics.median(a / b for a, b in pairs),
            statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs))


def result(row, value, unit, bound, at_least, **more):
    """Prints one line; a bound of None makes no claim."""
    met = None if bound is None else value >= bound if at_least else value <= bound
    print(json.dumps({"row": row, "value": round(value, 3), "unit": unit, "bound": bound,
                      "at_least": at_least, "met": met, **more}), flush=True)

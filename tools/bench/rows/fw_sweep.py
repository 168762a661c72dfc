#!/usr/bin/env python3
# throughput of local: and tbb: over the fraction of writes; full size redraws docs/fw_sweep.svg
import common
from common import plotting

SHARES = (0, 2, 5, 20, 50, 100)


def draw(rows):
    lines = {name: [(row[0], row[column] / 1e6) for row in rows]
             for column, name in ((1, "Keyway local:"), (2, "tbb::concurrent_hash_map"))}
    plotting.draw(common.ROOT / "docs/fw_sweep.svg", [plotting.Plot(
        title="1M keys of 16 B, values of 100 B, uniform, 2 threads",
        x_label="writes, % of operations", y_label="million operations per s", lines=lines,
        log_y=False)])


measured = []
for share in SHARES:
    ratio, local, tbb = common.ratio_of(lambda: common.throughput("local:", share),
                                        lambda: common.throughput("tbb:", share))
    measured.append((share, local, tbb))
    common.result(f"fw_sweep, {share}% writes", ratio, "x over tbb:", 1.0, True,
                  local_ops_per_s=round(local), tbb_ops_per_s=round(tbb))
if not common.TINY:
    draw(measured)

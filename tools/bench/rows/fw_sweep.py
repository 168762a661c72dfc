#!/usr/bin/env python3
# throughput of local: and tbb: over the fraction of writes; full size redraws docs/fw_sweep.svg
import tempfile

import common

SHARES = (0, 2, 5, 20, 50, 100)


def draw(rows):
    with tempfile.NamedTemporaryFile("w", suffix=".dat") as data:
        for row in rows:
            data.write(" ".join(str(x) for x in row) + "\n")
        data.flush()
        script = f"""
set terminal svg size 640,360 font 'sans,12' background 'white'
set output '{common.ROOT}/docs/fw_sweep.svg'
set xlabel 'writes, % of operations'; set ylabel 'million operations per s'
set yrange [0:*]; set key bottom left; set grid ytics
set title '1M keys of 16 B, values of 100 B, uniform, 2 threads'
plot '{data.name}' using 1:($2/1e6) with linespoints lw 2 title 'Keyway local:', \\
     '' using 1:($3/1e6) with linespoints lw 2 title 'tbb::concurrent\\_hash\\_map'
"""
        common.plot(script)


measured = []
for share in SHARES:
    ratio, local, tbb = common.ratio_of(lambda: common.throughput("local:", share),
                                        lambda: common.throughput("tbb:", share))
    measured.append((share, local, tbb))
    common.result(f"fw_sweep, {share}% writes", ratio, "x over tbb:", 1.0, True,
                  local_ops_per_s=round(local), tbb_ops_per_s=round(tbb))
if not common.TINY:
    draw(measured)

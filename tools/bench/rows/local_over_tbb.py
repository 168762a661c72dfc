#!/usr/bin/env python3
# kvload on local: over tbb:, F_W 0, 0.05, 0.5, 1 (at least 2.0, 2.0, 1.7, 1.5)
import common

for write_percent, bound in ((0, 2.0), (5, 2.0), (50, 1.7), (100, 1.5)):
    ratio, local, tbb = common.ratio_of(lambda: common.throughput("local:", write_percent),
                                        lambda: common.throughput("tbb:", write_percent))
    common.result(f"local_over_tbb, F_W {write_percent / 100:g}", ratio, "x", bound, True,
                  local_ops_per_s=round(local), tbb_ops_per_s=round(tbb))

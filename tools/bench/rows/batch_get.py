#!/usr/bin/env python3
# kvload on local:, batch get of 16 over single get (at least 2.0)
import common

ratio, batch, single = common.ratio_of(lambda: common.throughput("local:", 0, "--batch", 16),
                                       lambda: common.throughput("local:", 0))
common.result("batch_get of 16 over single get", ratio, "x", 2.0, True,
              batch_gets_per_s=round(batch), single_gets_per_s=round(single))

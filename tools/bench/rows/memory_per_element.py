#!/usr/bin/env python3
# bytes per element of 16 B + 100 B beyond the bytes themselves, default load (at most 28)
import common

extra = float(common.output_of([common.BUILD / "tools/bench/bench_memory", common.RECORDS]))
common.result("memory_per_element", extra, "B", 28, False)

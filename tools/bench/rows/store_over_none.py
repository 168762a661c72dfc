#!/usr/bin/env python3
# kvload on local:, reads only: the store with RMA-RW over the store without any lock
import common

# Without a lock on buckets, two threads that load at once lose records.
LOAD = ("--load-threads", 1)

for lock, bound in (("rma-rw", 0.9), ("gbh:lockall=off", None)):
    ratio, locked, bare = common.ratio_of(
        lambda lock=lock: common.throughput(f"local:?lock={lock}&ranks=2&reads=locked", 0, *LOAD),
        lambda: common.throughput("local:?lock=none&benchmark=on&ranks=2&reads=locked", 0, *LOAD))
    common.result(f"{lock} over none, no writes", ratio, "x", bound, True,
                  locked_per_s=round(locked), bare_per_s=round(bare))

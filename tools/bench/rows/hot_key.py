#!/usr/bin/env python3
# kvload on local:, gets of one key: 2 threads over 1 (at least 1.7)
import common


OPERATIONS = 10 * common.OPERATIONS  # for a second or two: they are quick


def gets(threads):
    return common.throughput("local:", 0, "-p", "recordcount=1",
                             "-p", f"operationcount={OPERATIONS}", threads=threads)


ratio, two, one = common.ratio_of(lambda: gets(2), lambda: gets(1))
common.result("hot_key, gets of local:, 2 threads over 1", ratio, "x", 1.7, True,
              two_per_s=round(two), one_per_s=round(one))

#!/usr/bin/env python3
# resident memory with 1M keys of 16 B + 100 B: keywayd over redis-server (at most 0.8)
import os
import pathlib

import common
import servers

# Keyway's table is as large as --memory and --element-bytes request, and elements are spread over
# all of it: its memory depends on how full it is. Redis' table grows. 256MiB: nearly full; 1GiB:
# the default.
MEMORIES = ("256MiB", "1GiB")
AT_MOST = 0.8


def resident(server):
    servers.load(server)
    pages = int(pathlib.Path(f"/proc/{server.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def of_keywayd(memory):
    with servers.keywayd("--memory", memory) as server:
        return resident(server)


def of_redis():
    with servers.redis() as server:
        return resident(server)


for memory in MEMORIES:
    ratio, ours, theirs = common.ratio_of(lambda: of_keywayd(memory), of_redis)
    # With a few keys only the memory of an empty server shows.
    common.result(f"server, memory, --memory {memory}", ratio, "x", None if common.TINY else AT_MOST,
                  False, bytes_per_key=round(ours / servers.KEYS),
                  redis_bytes_per_key=round(theirs / servers.KEYS))

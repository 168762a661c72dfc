#!/usr/bin/env python3
# resident memory with 1M keys of 16 B + 100 B: keywayd over redis-server (at most 0.8)
import os
import pathlib

import common
import servers

# Keyway's table is as large as its --memory asks for, and elements lie all over it: what it
# takes depends on how full it is. Redis' grows.
MEMORIES = {"256MiB": 0.8, "1GiB": None}


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


for memory, bound in MEMORIES.items():
    ratio, ours, theirs = common.ratio_of(lambda: of_keywayd(memory), of_redis)
    # A few keys tell nothing but what an empty server takes.
    common.result(f"server, memory, --memory {memory}", ratio, "x", None if common.TINY else bound,
                  False, bytes_per_key=round(ours / servers.KEYS),
                  redis_bytes_per_key=round(theirs / servers.KEYS))

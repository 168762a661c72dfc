#!/usr/bin/env python3
# MGET of 100 keys, 50 clients, 100 B, 1M keys: keywayd with 1 worker over redis-server
import common
import servers

KEYS = 100

with servers.keywayd() as ours, servers.redis() as theirs:
    for server in (ours, theirs):
        servers.load(server)
    found = servers.in_turn(ours, theirs, 300 if common.TINY else 30_000, "MGET",
                            *["key:__rand_int__"] * KEYS)
common.result(f"server, MGET of {KEYS} keys", found.pop("rate"), "x", 1.5, True, **found)

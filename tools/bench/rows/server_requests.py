#!/usr/bin/env python3
# redis-benchmark, 50 clients, 100 B, 1M keys: keywayd with 1 worker over redis-server; p99
import common
import servers

REQUESTS = {1: 200_000, 16: 1_500_000, 64: 3_000_000}
BOUNDS = {1: 1.1, 16: 1.5, 64: 1.5}

with servers.keywayd() as ours, servers.redis() as theirs:
    for server in (ours, theirs):
        servers.load(server)
    for pipeline, requests in REQUESTS.items():
        for command in ("get", "set"):
            found = servers.in_turn(ours, theirs, requests // (100 if common.TINY else 1), "-t",
                                    command, "-P", pipeline)
            figures = {key: value for key, value in found.items() if key not in ("rate", "p99")}
            name = f"server, {command.upper()}, pipeline {pipeline}"
            common.result(name, found["rate"], "x", BOUNDS[pipeline], True, **figures)
            if pipeline == 1:
                common.result(f"{name}: p99", found["p99"], "x", 1.0, False)

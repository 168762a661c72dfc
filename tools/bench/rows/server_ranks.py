#!/usr/bin/env python3
# redis-benchmark, GET, 50 clients, 100 B, 1M keys: keywayd on 2 ranks (--cluster) over 1 rank
import servers


def serve(ranks, *options):
    return servers.keywayd(*options) if ranks == 1 else servers.keywayd_ranks(ranks, *options)


# Not a claim: the ranks and the clients share the machine's processors.
servers.two_ranks_over_one("server, 2 ranks over 1", serve, None)

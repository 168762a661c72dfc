#!/usr/bin/env python3
# keywayd on two hosts, a client at each, pipeline 16: auto over the best fixed lock kind, by writes and locality
import multiprocessing
import random

import common
import hosts
import servers
from resp import Client, encode

KEYS = 400 if common.TINY else 40_000
SECONDS = 0.2 if common.TINY else 1.0
PASSES = 1 if common.TINY else 2
LOCALITIES = (0.9,) if common.TINY else (1, 0.9, 0.5)
AT_ONCE = 16
PIPELINES = 50 if common.TINY else 1000
VALUE = b"x" * servers.VALUE_BYTES
SHOWN = b"$%d\r\n%b\r\n" % (len(VALUE), VALUE)
SET = b"+OK\r\n"


def pipelines(own, far, local, share, chance):
    """Requests, and the bytes of their replies."""
    made = []
    for _ in range(PIPELINES):
        requests, reply_bytes = [], 0
        for _ in range(AT_ONCE):
            key = chance.choice(own if chance.random() < local else far)
            if chance.random() * 100 < share:
                requests.append(encode(b"SET", key, VALUE))
                reply_bytes += len(SET)
            else:
                requests.append(encode(b"GET", key))
                reply_bytes += len(SHOWN)
        made.append((b"".join(requests), reply_bytes))
    return made


def client_of(rank, path, keys_of, ready, rates):
    """Process of the client at a rank: measures every setting at the same time as the other."""
    client = Client(path)
    own, far = keys_of[rank], keys_of[1 - rank]
    found = {}
    for local in LOCALITIES:
        for share in hosts.SHARES:
            made = pipelines(own, far, local, share, random.Random(rank))
            for _ in range(PASSES):  # auto learns in the first; the last one counts
                ready.wait()
                found[local, share] = client.rate(made, AT_ONCE, SECONDS)
    rates.put(found)


def sweep(lock):
    """Requests per second of both clients, by locality and share of writes."""
    with servers.keywayd_hosts("--memory", "256MiB", "--lock-policy", lock,
                               "--store-options", hosts.FEW_STRIPES) as ranks:
        client = Client(ranks.socket(0))
        keys_of = ([], [])
        for i in range(KEYS):
            key = b"key:%012d" % i
            client.ask(encode(b"SET", key, VALUE), len(SET))
            keys_of[client.slot_of(key) * len(keys_of) // servers.SLOTS].append(key)
        rates, ready = multiprocessing.Queue(), multiprocessing.Barrier(2)
        clients = [multiprocessing.Process(target=client_of, daemon=True,
                                           args=(rank, ranks.socket(rank), keys_of, ready, rates))
                   for rank in (0, 1)]
        for one in clients:
            one.start()
        first, second = (rates.get(timeout=servers.START_S) for _ in clients)
        for one in clients:
            one.join()
    return {setting: first[setting] + second[setting] for setting in first}


runs = [{lock: sweep(lock) for lock in hosts.KINDS} for _ in range(common.REPEATS)]
for setting in runs[0]["auto"]:
    hosts.auto_over_best(f"server_auto, {setting[0]:g} local, {setting[1]}% writes", runs, setting,
                         0.9)

"""Programs that use python3-redis on several ranks: the client of a cluster, and that of a single
server on each rank. Called by cluster_clients_test.py with the URI of each rank, under a Python
that has the package; reports errors."""

import sys

import redis
from redis.cluster import RedisCluster


def expect(what, found, wanted):
    if found != wanted:
        sys.exit(f"{what}: {found!r}, not {wanted!r}")


def of_cluster(uri):
    r = RedisCluster.from_url(uri)
    ports = sorted(node.port for node in r.get_nodes())
    expect("nodes", len(set(ports)), len(ports))
    keys = [f"key:{i}" for i in range(200)]
    for i, key in enumerate(keys):
        expect("set", r.set(key, i), True)
    owners = {r.get_node_from_key(key).port for key in keys}
    expect("owners of 200 keys", sorted(owners), ports)
    expect("get", [r.get(key) for key in keys], [b"%d" % i for i in range(200)])
    expect("incr", [r.incr(key, 1000) for key in keys], list(range(1000, 1200)))
    expect("mget of one slot", r.mget("{a}1", "{a}2"), [None, None])
    expect("mset of one slot", r.mset({"{a}1": "x", "{a}2": "y"}), True)
    expect("mget_nonatomic", r.mget_nonatomic(["{a}1", *keys[:3]]),
           [b"x", b"1000", b"1001", b"1002"])
    expect("exists", r.exists(*keys), 200)
    slot = r.keyslot("{a}1")
    expect("cluster_keyslot", r.cluster_keyslot("{a}1"), slot)
    expect("cluster_countkeysinslot", r.cluster_countkeysinslot(slot), 2)
    expect("cluster_get_keys_in_slot", sorted(r.cluster_get_keys_in_slot(slot, 10)),
           ["{a}1", "{a}2"])
    # Each node answers for itself. scan_iter() asks all of them, keys() and dbsize() one by
    # default.
    nodes = r.get_primaries()
    theirs = [r.keys("key:*", target_nodes=node) for node in nodes]
    expect("keys", sorted(sum(theirs, [])), sorted(key.encode() for key in keys))
    expect("scan", sorted(r.scan_iter("key:*")), sorted(key.encode() for key in keys))
    expect("dbsize", sum(r.dbsize(target_nodes=node) for node in nodes), 202)
    with r.pipeline() as pipe:
        for key in keys:
            pipe.get(key)
        expect("pipeline", pipe.execute(), [b"%d" % i for i in range(1000, 1200)])
    expect("delete", r.delete(*keys), 200)
    expect("cluster_info", r.cluster_info(target_nodes=r.get_random_node())["cluster_state"], "ok")


def of_single_servers(uris):
    servers = [redis.Redis.from_url(uri) for uri in uris]
    keys = [f"key:{i}" for i in range(50)]
    for i, key in enumerate(keys):
        servers[i % len(servers)].set(key, i)
    for server in servers:
        expect("mget", server.mget(keys), [b"%d" % i for i in range(50)])
        expect("dbsize", server.dbsize(), 52)
        expect("scan", len(list(server.scan_iter("key:*"))), 50)
    expect("mset", servers[0].mset({key: "same" for key in keys}), True)
    expect("mget", set(servers[-1].mget(keys)), {b"same"})


if __name__ == "__main__":
    of_cluster(sys.argv[1])
    of_single_servers(sys.argv[1:])
    print("all as it should be")

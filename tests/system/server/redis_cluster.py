"""A cluster of redis-server processes, each of which owns an equal part of the slots."""

import time

from peer import CLUSTER_PORT, START_S, Peer, find_redis

SLOTS = 16384


class RedisCluster:
    """Running, and known to all its nodes; the caller must end() it."""

    def __init__(self, nodes=3):
        self.nodes = []
        try:
            # A node's port for other nodes is by default its port + 10000, which may not exist.
            for _ in range(nodes):
                self.nodes.append(Peer(find_redis(), "--cluster-enabled", "yes", "--cluster-port",
                                       CLUSTER_PORT))
            self._share_slots()
            for node in self.nodes[1:]:
                self._ask(node, "CLUSTER", "MEET", "127.0.0.1", self.nodes[0].port,
                          self.nodes[0].cluster_port)
            self._wait_until_whole()
        except BaseException:
            self.end()
            raise

    @staticmethod
    def _ask(node, *words):
        with node.connect() as wire:
            reply = wire.request(*words)
        if reply.startswith(b"-"):
            raise AssertionError(f"{words}: {reply}")
        return reply

    def _share_slots(self):
        count = len(self.nodes)
        for i, node in enumerate(self.nodes):
            # With a different epoch for each node, no two nodes conflict later.
            self._ask(node, "CLUSTER", "SET-CONFIG-EPOCH", i + 1)
            self._ask(node, "CLUSTER", "ADDSLOTSRANGE", SLOTS * i // count,
                      SLOTS * (i + 1) // count - 1)

    def _wait_until_whole(self):
        """Nodes exchange, a few times a second, which nodes they know and which slots they own."""
        wanted = (b"cluster_state:ok", b"cluster_slots_ok:%d" % SLOTS,
                  b"cluster_known_nodes:%d" % len(self.nodes))
        deadline = time.monotonic() + START_S
        for node in self.nodes:
            with node.connect() as wire:
                while not all(part in (said := wire.request("CLUSTER", "INFO")) for part in wanted):
                    if time.monotonic() > deadline:
                        raise AssertionError(f"no cluster in {START_S} s: {said}")

    @property
    def uri(self):
        return f"redis://127.0.0.1:{self.nodes[0].port}"

    def end(self):
        for node in self.nodes:
            node.end()

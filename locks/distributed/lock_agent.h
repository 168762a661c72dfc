// LockAgent: what an agent brings to a lock: its endpoint, its queue nodes, its counters.
//
// *Thread safety.* Belongs to one agent, as its endpoint does, and does not outlive it.
#pragma once

#include "keyway/locks/distributed/lock.h"
#include "keyway/locks/distributed/queue_node.h"
#include "keyway/locks/fabric/endpoint.h"

namespace keyway::locks {

template <class E>
class LockAgent {
 public:
  LockAgent(E& endpoint, const NodeRegion& region) : ep(endpoint), nodes(endpoint, region) {}
  LockAgent(const LockAgent&) = delete;
  LockAgent& operator=(const LockAgent&) = delete;

  E& ep;
  NodePool<E> nodes;
  LockStats stats;
};

}  // namespace keyway::locks

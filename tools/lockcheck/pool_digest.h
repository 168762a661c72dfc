// The state that an agent's next acquire depends on when it holds nothing: its pool of queue nodes.
#pragma once

#include <cstdint>

#include "keyway/locks/distributed/queue_node.h"
#include "keyway/locks/fabric/sim/explorer_hash.h"

namespace keyway::lockcheck {

template <class E>
std::uint64_t pool_digest(const locks::NodePool<E>& pool) {
  std::uint64_t digest = 0;
  for (const std::uint32_t index : pool.free_nodes()) digest = fabric::sim::mixed(digest, index);
  digest = fabric::sim::mixed(digest, ~0ULL);
  for (const std::uint32_t index : pool.nodes_in_limbo()) {
    digest = fabric::sim::mixed(digest, index);
  }
  return digest;
}

}  // namespace keyway::lockcheck

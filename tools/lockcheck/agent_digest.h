// The state that an agent's next acquire depends on when it holds nothing: its pool of queue nodes,
// and the versions of locks that it has seen.
#pragma once

#include <cstdint>

#include "keyway/locks/distributed/lock_agent.h"
#include "keyway/locks/distributed/seen_versions.h"
#include "keyway/locks/fabric/sim/explorer_hash.h"

namespace keyway::lockcheck {

template <class E>
std::uint64_t agent_digest(const locks::LockAgent<E>& agent) {
  const locks::NodePool<E>& pool = agent.nodes;
  const auto* const versions = agent.template cached<locks::SeenVersions>();
  std::uint64_t digest = versions == nullptr ? 0 : versions->digest();
  for (const std::uint32_t index : pool.free_nodes()) digest = fabric::sim::mixed(digest, index);
  digest = fabric::sim::mixed(digest, ~0ULL);
  for (const std::uint32_t index : pool.nodes_in_limbo()) {
    digest = fabric::sim::mixed(digest, index);
  }
  return digest;
}

}  // namespace keyway::lockcheck

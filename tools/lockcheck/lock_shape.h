// LockShape: which agents use a lock under exploration, how often, and by which calls.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "keyway/locks/base/topology.h"
#include "keyway/locks/fabric/address.h"

namespace keyway::lockcheck {

/// How agents acquire the lock.
enum class Manner : std::uint8_t {
  kWait,   // acquire, for as long as it takes
  kTimed,  // acquire with a deadline, which may pass at any time; then the agent continues
  kTry,    // try_acquire; a refused agent continues
};

struct LockShape {
  std::uint32_t readers = 0;         // the first agents
  std::uint32_t alls = 0;            // the next ones take LOCKALL on the lock's group
  std::uint32_t writers = 3;         // the others
  std::uint32_t rounds = 1;          // times that each agent asks
  std::uint32_t ranks = 2;           // agent i lives at rank i % ranks; the lock at rank 0
  std::vector<std::uint32_t> homes;  // or, if given, the home of each agent
  std::string topology;              // Topology::override_with; "": each rank is a node
  std::uint32_t nodes = 2;           // queue nodes of each agent
  bool forever = false;              // instead of `rounds`: each comes back at any time, or never
  Manner manner = Manner::kWait;
  // The manner of each agent, if given. An agent that waits without a deadline must be granted,
  // whatever others do; if all have deadlines, a lost wake-up looks like a time-out.
  std::vector<Manner> manners;
  bool ask_token = false;  // an agent inside asks for its fencing token
  // Maximum number of grants in a row to agents that share an element of a tree of queues, while
  // the main word, the root's tail, is not null (queue_tree.h, T7). 0: not checked.
  std::uint32_t most_in_a_row = 0;
  // ALock: maximum number of grants of the local and of the remote cohort past a leader of the
  // other one that has yielded (alock_core.h, A6). Each rank is a node then. 0: not checked.
  std::array<std::uint32_t, 2> most_past_leader{};

  std::uint32_t agents() const { return readers + alls + writers; }
  Manner manner_of(std::uint32_t agent) const { return manners.empty() ? manner : manners[agent]; }
  /// Whether some agent has a deadline.
  bool timed() const {
    return manners.empty()
               ? manner == Manner::kTimed
               : std::find(manners.begin(), manners.end(), Manner::kTimed) != manners.end();
  }
};

/// "wait", "timed", "try".
std::string_view name_of(Manner manner);

/// A shape as flags of lockcheck, each with a blank before it.
std::string flags_of(const LockShape& shape);

/// The agents' ids: the home of each, and its place among those of the same home.
std::vector<fabric::AgentId> ids_of(const LockShape& shape);

/// The machine of a shape; fails when its topology is not understood.
inline Result<Topology> topology_of(const LockShape& shape) {
  std::vector<std::uint32_t> nodes(shape.ranks);
  for (std::uint32_t rank = 0; rank < shape.ranks; ++rank) nodes[rank] = rank;
  return Topology::override_with(shape.topology, Topology::from_nodes(nodes));
}

}  // namespace keyway::lockcheck

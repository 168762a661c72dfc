// TreePath: the queues that an agent passes on its way to the root of a lock's tree.
//
// *What.* From the machine (step 0) to the smallest element that has a queue: the level of each,
// the rank that keeps its words, and whether all its members may use the `cpu` class on one
// another. The path is the same for every lock, so an agent computes it once. An element that is
// its parent's only child has no queue: its holder would be the only one in the parent's queue.
// *Thread safety.* Immutable.
// *Invariants.*
//   TP1  Agents with paths through an element agree on its step: level, leader and class.
// *Source.* HPDC'16, table 1 and section 3.2.3: e(p,i) and tail_rank[i,j].
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "keyway/locks/base/topology.h"
#include "keyway/locks/fabric/endpoint.h"

namespace keyway::locks {

struct TreePath {
  struct Step {
    std::uint32_t level = 1;
    std::uint32_t leader = 0;
    bool cpu = false;
  };
  std::array<Step, Topology::kMaxLevels> steps;
  std::uint32_t depth = 0;  // steps in use, at least 1

  /// The path of `rank`'s agents, as `ep`'s agent sees it; the class is right for its own path.
  template <fabric::Endpoint E>
  static TreePath of(const E& ep, std::uint32_t rank) {
    const Topology& topology = ep.topology();
    TreePath path;
    std::size_t wider = 0;
    for (std::uint32_t level = 1; level <= topology.levels(); ++level) {
      const auto members = topology.members(level, topology.element(rank, level));
      if (members.size() == wider) continue;  // its parent's only child
      wider = members.size();
      const bool local = std::all_of(members.begin(), members.end(),
                                     [&](std::uint32_t member) { return ep.is_local(member); });
      path.steps[path.depth++] = {.level = level, .leader = members.front(), .cpu = local};
    }
    return path;
  }
};

}  // namespace keyway::locks

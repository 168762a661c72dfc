// WaiterLink: names the agent that waits behind another one, and the use of its node.
//
// *What.* An agent that joins a plain queue stores a link into its predecessor's node. If it may
// leave, the link also has the turn: the number of this use among those in which the node's agent
// may leave. Both are in one word, so that an agent that sees one of them sees the other.
// *Layout,* for nodes whose numbers and 1 take n bits:
//   bits 63..48  rank
//   bits 47..n   turn; 0: it does not leave
//   bits n-1..0  1 + number of the node, so that 0 is no link
// Turns have 33 bits in a store of 64 agents with 256 nodes each, and at least 24.
// *Thread safety.* Immutable.
#pragma once

#include <bit>
#include <cstdint>

#include "keyway/locks/distributed/queue_node.h"

namespace keyway::locks {

struct WaiterLink {
  fabric::Address node;
  std::uint64_t turn = 0;
};

/// The links of a job's nodes, as words and back.
class WaiterLinks {
 public:
  explicit WaiterLinks(const NodeRegion& region)
      : region_(region),
        bits_(static_cast<std::uint32_t>(std::bit_width(region.nodes_per_rank()))) {}

  std::uint64_t word(const WaiterLink& link) const {
    return std::uint64_t{link.node.rank()} << kRankShift | link.turn << bits_ |
           (region_.number(link.node) + 1);
  }
  /// Not of 0. Of a word that is no link the result need not be a node.
  WaiterLink link(std::uint64_t word) const {
    const std::uint64_t number = (word & ((1ULL << bits_) - 1)) - 1;
    const auto rank = static_cast<std::uint32_t>(word >> kRankShift);
    return {region_.numbered(rank, number), word >> bits_ & last_turn()};
  }
  /// The turn after `turn`: from 1 on, and after the last one 1 again.
  std::uint64_t next_turn(std::uint64_t turn) const { return turn >= last_turn() ? 1 : turn + 1; }

 private:
  static constexpr std::uint32_t kRankShift = 48;
  std::uint64_t last_turn() const { return (1ULL << (kRankShift - bits_)) - 1; }

  const NodeRegion& region_;
  std::uint32_t bits_;
};

}  // namespace keyway::locks

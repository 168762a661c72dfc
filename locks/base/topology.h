// The map of the machine: which element each rank belongs to at each level.
//
// Levels count from 1, the whole machine, to N, the smallest element considered
// (HPDC'16, Table 1): e(p, i) is rank p's element at level i. A level is coarser
// than the one after it, and every element lies within one element above.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "keyway/locks/base/status.h"

namespace keyway {

/// Immutable after construction, so free to share between threads.
class Topology {
 public:
  struct Level {
    std::string name;                       // "machine", "rack", "node", "numa", "core"
    std::vector<std::uint32_t> element_of;  // by rank; element ids count from 0
    std::uint32_t elements = 1;
  };

  /// The named levels: machine, rack, node, numa, core. No topology has more.
  static constexpr std::uint32_t kMaxLevels = 5;

  /// All ranks on one node: two levels, machine and node.
  static Topology single_node(std::uint32_t ranks);
  /// From the node of each rank, as the fabric found it. Node ids are renumbered from 0.
  static Topology from_nodes(const std::vector<std::uint32_t>& node_of_rank);
  /// Two levels or more from a configuration text that overrides discovery. Forms:
  ///   "nodes=4"            ranks in equal runs on 4 nodes
  ///   "racks=2,nodes=4"    4 nodes in all, 2 to a rack; likewise "numa=8" below nodes
  ///   "rack:0,0,1,1"       the rack of each *discovered* node, in node order
  /// Fails with one sentence when counts do not divide or nest.
  static Result<Topology> override_with(std::string_view text, const Topology& discovered);

  std::uint32_t ranks() const {
    return static_cast<std::uint32_t>(levels_.front().element_of.size());
  }
  /// N, the number of levels, at least 1.
  std::uint32_t levels() const { return static_cast<std::uint32_t>(levels_.size()); }
  /// Level i, 1 <= i <= levels().
  const Level& level(std::uint32_t i) const {
    KW_CHECK(i >= 1 && i <= levels_.size());
    return levels_[i - 1];
  }
  /// e(p, i): the element of rank p at level i.
  std::uint32_t element(std::uint32_t rank, std::uint32_t i) const {
    return level(i).element_of[rank];
  }
  /// The ranks of an element of level i, ascending. There is at least one.
  std::span<const std::uint32_t> members(std::uint32_t i, std::uint32_t element) const {
    KW_CHECK(i >= 1 && i <= members_.size() && element < level(i).elements);
    const Members& of = members_[i - 1];
    return std::span(of.ranks).subspan(of.first[element],
                                       of.first[element + 1] - of.first[element]);
  }
  /// The first rank of an element; it holds the words that the element's ranks share.
  std::uint32_t leader(std::uint32_t i, std::uint32_t element) const {
    return members(i, element).front();
  }
  /// The level called `name`, or 0 when this machine has none.
  std::uint32_t level_named(std::string_view name) const;
  /// Whether two ranks share a node; ranks share one when no level is called "node".
  bool same_node(std::uint32_t a, std::uint32_t b) const;
  /// One line for people, e.g. "machine:1 rack:2 node:4, 16 ranks".
  std::string describe() const;

 private:
  // The ranks of a level, element by element; element j's begin at first[j].
  struct Members {
    std::vector<std::uint32_t> ranks;
    std::vector<std::size_t> first;
  };

  explicit Topology(std::vector<Level> levels);
  static Result<Topology> make(std::vector<Level> levels);

  std::vector<Level> levels_;
  std::vector<Members> members_;  // by level
};

/// The shape of this host, from hwloc.
struct HostShape {
  std::uint32_t cores = 1;  // hardware threads this process may use
  std::uint32_t numa_nodes = 1;
  std::uint32_t packages = 1;
  std::uint64_t memory_bytes = 0;
};
/// Discovers this host. Falls back to one core, one NUMA node if hwloc fails.
HostShape discover_host();

}  // namespace keyway

#include "keyway/locks/distributed/counter_map.h"

#include <fmt/core.h>

#include <limits>
#include <optional>
#include <span>
#include <utility>

namespace keyway::locks {
namespace {

using Rule = CounterPlacement::Rule;

/// The counters of one node: equal runs of its ranks, with a counter at the first rank of each run.
void share_out(std::span<const std::uint32_t> ranks, std::uint64_t parts,
               std::vector<std::uint32_t>& counter) {
  parts = std::min<std::uint64_t>(parts, ranks.size());
  for (std::uint64_t i = 0; i < ranks.size(); ++i) {
    const std::uint64_t part = i * parts / ranks.size();
    const std::uint64_t first = (part * ranks.size() + parts - 1) / parts;
    counter[ranks[i]] = ranks[first];
  }
}

}  // namespace

Result<CounterPlacement> take_placement(LockParams& params) {
  constexpr std::pair<const char*, Rule> kLevers[] = {{"counters_per_node", Rule::kPerNode},
                                                      {"nodes_per_counter", Rule::kEveryNodes},
                                                      {"t_dc", Rule::kEveryRanks}};
  std::optional<CounterPlacement> chosen;
  for (const auto& [lever, rule] : kLevers) {
    if (!params.has(lever)) continue;
    const auto count = params.take_threshold(lever, 1, std::numeric_limits<std::uint32_t>::max());
    if (!count.ok()) return count.status();
    if (chosen) {
      return Status(
          Code::kInvalidArgument,
          fmt::format("lock {}: give one of counters_per_node, nodes_per_counter and t_dc",
                      params.kind()));
    }
    chosen = CounterPlacement{rule, static_cast<std::uint32_t>(*count)};
  }
  return chosen.value_or(CounterPlacement());
}

std::vector<std::uint32_t> counter_of_ranks(const CounterPlacement& placement,
                                            const Topology& topology) {
  std::vector<std::uint32_t> counter(topology.ranks());
  if (placement.rule == Rule::kEveryRanks) {
    for (std::uint32_t rank = 0; rank < counter.size(); ++rank) {
      counter[rank] = rank / placement.count * placement.count;
    }
    return counter;
  }
  // If no level is called "node", all ranks share one.
  const std::uint32_t level = std::max(topology.level_named("node"), 1u);
  for (std::uint32_t node = 0; node < topology.level(level).elements; ++node) {
    const auto ranks = topology.members(level, node);
    if (placement.rule == Rule::kPerNode) {
      share_out(ranks, placement.count, counter);
    } else {
      const std::uint32_t first = node / placement.count * placement.count;
      for (const std::uint32_t rank : ranks) counter[rank] = topology.leader(level, first);
    }
  }
  return counter;
}

}  // namespace keyway::locks

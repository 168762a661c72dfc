// StateGraph: the states of an exploration, how each was first reached, and the steps between them.
//
// *What.* States are numbered in the order in which they were found; number 0 is the start. Edges
// are added in any order; sort_edges() then puts those of each state side by side.
// *Thread safety.* None.
#pragma once

#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "keyway/locks/base/check.h"
#include "keyway/locks/fabric/sim/explorer_execution.h"

namespace keyway::fabric::sim {

/// A step and its place among all possible steps, which a schedule prints.
struct Choice {
  Action action;
  std::uint16_t taken = 0;
};

using Schedule = std::vector<Choice>;

class StateGraph {
 public:
  using Id = std::uint32_t;
  static constexpr Id kNone = std::numeric_limits<Id>::max();

  struct State {
    Moment moment;
    Id parent = kNone;
    Choice by;  // from the parent
    std::uint32_t depth = 0;
  };
  struct Edge {
    Id to;
    Choice by;
  };

  /// The number of the state with this key, and whether it is new.
  std::pair<Id, bool> insert(std::uint64_t key, const Moment& moment, Id parent, Choice by) {
    const auto [found, is_new] = ids_.try_emplace(key, static_cast<Id>(states_.size()));
    if (is_new) {
      KW_CHECK(states_.size() < kNone);
      states_.push_back({moment, parent, by, parent == kNone ? 0 : states_[parent].depth + 1});
    }
    return {found->second, is_new};
  }
  void add_edge(Id from, Id to, Choice by) { added_.push_back({from, {to, by}}); }
  /// Once, when all edges have been added.
  void sort_edges() {
    first_edge_.assign(states_.size() + 1, 0);
    for (const Added& added : added_) ++first_edge_[added.from + 1];
    std::partial_sum(first_edge_.begin(), first_edge_.end(), first_edge_.begin());
    edges_.resize(added_.size());
    std::vector<std::uint64_t> next(first_edge_.begin(), first_edge_.end() - 1);
    for (const Added& added : added_) edges_[next[added.from]++] = added.edge;
    added_ = {};
  }

  /// Before they are sorted.
  std::uint64_t edges() const { return added_.size(); }
  Id size() const { return static_cast<Id>(states_.size()); }
  const State& state(Id id) const { return states_[id]; }
  std::span<const Edge> edges(Id id) const {
    return std::span(edges_).subspan(first_edge_[id], first_edge_[id + 1] - first_edge_[id]);
  }
  /// The steps by which a state was first reached.
  Schedule path_to(Id id) const {
    Schedule path;
    for (; states_[id].parent != kNone; id = states_[id].parent) path.push_back(states_[id].by);
    return {path.rbegin(), path.rend()};
  }

 private:
  struct Added {
    Id from;
    Edge edge;
  };

  std::unordered_map<std::uint64_t, Id> ids_;
  std::vector<State> states_;
  std::vector<Added> added_;
  std::vector<Edge> edges_;
  std::vector<std::uint64_t> first_edge_;
};

}  // namespace keyway::fabric::sim

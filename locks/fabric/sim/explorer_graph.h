// StateGraph: the states of an exploration, how each was first reached, and the steps between them.
//
// *What.* States are numbered in the order in which they were found; number 0 is the start. The
// edges of state s are added after those of all states before s, so they lie side by side.
// *Thread safety.* None.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "keyway/locks/base/check.h"
#include "keyway/locks/fabric/sim/explorer_execution.h"

namespace keyway::fabric::sim {

/// A step and its place among all that could have been taken: what a schedule prints.
struct Choice {
  Action action;
  std::uint8_t taken = 0;
};

using Path = std::vector<Choice>;

class StateGraph {
 public:
  using Id = std::uint32_t;
  static constexpr Id kNone = std::numeric_limits<Id>::max();

  struct State {
    Moment moment;
    Id parent = kNone;
    Choice by;  // from the parent
    std::uint64_t first_edge = 0;
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
      states_.push_back({moment, parent, by, 0});
    }
    return {found->second, is_new};
  }
  /// Before the edges of a state are added. In the order of the numbers.
  void begin_edges(Id id) {
    KW_CHECK(id == expanded_);
    states_[id].first_edge = edges_.size();
    ++expanded_;
  }
  void add_edge(Id to, Choice by) { edges_.push_back({to, by}); }

  Id size() const { return static_cast<Id>(states_.size()); }
  const State& state(Id id) const { return states_[id]; }
  std::span<const Edge> edges(Id id) const {
    if (id >= expanded_) return {};
    const std::uint64_t end = id + 1 < expanded_ ? states_[id + 1].first_edge : edges_.size();
    return std::span(edges_).subspan(states_[id].first_edge, end - states_[id].first_edge);
  }
  /// The steps by which a state was first reached.
  Path path_to(Id id) const {
    Path path;
    for (; states_[id].parent != kNone; id = states_[id].parent) path.push_back(states_[id].by);
    return {path.rbegin(), path.rend()};
  }

 private:
  std::unordered_map<std::uint64_t, Id> ids_;
  std::vector<State> states_;
  std::vector<Edge> edges_;
  Id expanded_ = 0;
};

}  // namespace keyway::fabric::sim

// Foresight: the state to which a step leads, if that follows from steps that were taken.
//
// *What.* If p leads from state s to t, b from s to u, p from u to v, and p and b are independent,
// then b leads from t to v. So a search need not execute b there, which would replay the whole way
// to t: of the d! orders of d independent steps it executes little more than one way to each state.
// The graph of states is the same, with all of its edges.
// *Thread safety.* None.
// *Source.* As footprints. Other than persistent or sleep sets this leaves nothing out, so that the
// verdicts on waiting, which need every edge, stay what they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "keyway/locks/fabric/sim/explorer_execution.h"
#include "keyway/locks/fabric/sim/explorer_footprint.h"
#include "keyway/locks/fabric/sim/explorer_graph.h"

namespace keyway::fabric::sim {

class Foresight {
 public:
  using Id = StateGraph::Id;

  /// The next new state, in the order of their numbers, and its possible steps.
  void add_state(const std::vector<Action>& actions);
  /// The step `choice` from a state, to one that was added.
  void add_step(Id from, std::uint16_t choice, Id to, const Footprint& footprint);
  /// Where the step `choice` from a state leads, if that follows. It is then added.
  std::optional<Id> foresee(Id from, std::uint16_t choice);
  bool is_known(Id from, std::uint16_t choice) const {
    return is_kept(from) && end_of(from, choice) != StateGraph::kNone;
  }
  Id end_of(Id from, std::uint16_t choice) const { return steps_[first_[from] + choice].to; }
  const Action& action(Id from, std::uint16_t choice) const {
    return steps_[first_[from] + choice].action;
  }

 private:
  using Number = std::uint32_t;
  static constexpr Number kNoStep = ~Number{0};
  /// What is known of more steps is not kept: each takes 24 bytes.
  static constexpr std::size_t kMaxSteps = 1 << 27;
  struct Step {
    Id from = StateGraph::kNone;
    Id to = StateGraph::kNone;   // not known yet
    Number footprint = 0;        // in footprints_
    Number next_into = kNoStep;  // of the known steps that lead to the same state
    Action action;
  };
  struct Hash {
    std::size_t operator()(const Footprint& footprint) const;
  };

  bool is_kept(Id id) const { return id + 1 < first_.size(); }
  std::span<const Step> steps_of(Id id) const {
    return std::span(steps_).subspan(first_[id], first_[id + 1] - first_[id]);
  }
  /// The known step of a state by an action; null if there is none.
  const Step* known(Id id, const Action& action) const;
  Number number_of(const Footprint& footprint);

  std::vector<Number> first_{0};   // by state: its first step; and the end of the last one's
  std::vector<Step> steps_;        // by state
  std::vector<Number> last_into_;  // by state: the last known step that leads to it
  std::vector<Footprint> footprints_;
  std::unordered_map<Footprint, Number, Hash> numbers_;
};

}  // namespace keyway::fabric::sim

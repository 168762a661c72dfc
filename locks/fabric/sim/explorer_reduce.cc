// Steps that are taken at once, because no other agent can see or hinder them.
#include <algorithm>

#include "keyway/locks/base/check.h"
#include "keyway/locks/fabric/sim/explorer_execution.h"

namespace keyway::fabric::sim {

void Execution::take_at_once(Agent& agent) {
  if (!rules_.reduce) return;
  taking_at_once_ = true;
  for (std::uint32_t n = 0; n < kMaxAtOnce && !wrong_ && takes_at_once(agent); ++n) {
  }
  taking_at_once_ = false;
}

/// Takes one step of the agent at once, if it has such a step.
bool Execution::takes_at_once(Agent& agent) {
  for (std::size_t k = 0; k < agent.posted.size(); ++k) {
    if (happens_at_once(agent, k)) return true;
  }
  if (drains_at_once(agent)) return true;
  const bool begun = agent.begun == Begun::kRead;
  if (agent.phase != Phase::kOperation || begun || !can_go_on(agent)) return false;
  const Sight sight = program_.sight(agent.number, agent.op);
  if (sight == Sight::kSeen || (sight == Sight::kOwn && !waits_for_own(agent))) return false;
  if (splits(agent.op)) return false;
  step_alone({static_cast<std::uint8_t>(agent.number)});
  return true;
}

/// Whether no operation that the agent has posted could make its own words known to others.
bool Execution::waits_for_own(const Agent& agent) const {
  return std::all_of(agent.posted.begin(), agent.posted.end(), [&](const Posted& posted) {
    return posted.happened || program_.sight(agent.number, posted.op) != Sight::kSeen;
  });
}

/// The oldest store of the buffer. The agent's other stores happen after it, so only operations
/// that it has posted before could make one of its words known first.
bool Execution::drains_at_once(Agent& agent) {
  if (!can_drain(agent)) return false;
  const Sight sight = program_.sight(agent.number, agent.buffer.front().op);
  if (sight == Sight::kSeen || (sight == Sight::kOwn && !waits_for_own(agent))) return false;
  step_alone({static_cast<std::uint8_t>(agent.number), Action::Kind::kPosted, Action::kBuffered});
  return true;
}

bool Execution::happens_at_once(Agent& agent, std::size_t k) {
  const Posted& posted = agent.posted[k];
  if (!can_happen(agent, posted) || posted.begun == Begun::kRead) return false;
  const Sight sight = program_.sight(agent.number, posted.op);
  const bool flushed = agent.phase == Phase::kFlush && posted.op.at.rank() == agent.flushed &&
                       posted.serial > agent.after;
  if (sight == Sight::kSeen || (sight == Sight::kOwn && !(flushed && waits_for_own(agent)))) {
    return false;
  }
  if (splits(posted.op)) return false;
  step_alone({static_cast<std::uint8_t>(agent.number), Action::Kind::kPosted,
              static_cast<std::uint8_t>(k)});
  return true;
}

/// Agents that can try again do so.
void Execution::go_again() {
  taking_at_once_ = true;
  for (Agent& agent : agents_) {
    if (agent.phase != Phase::kRetry || wrong_ || !can_go_on(agent) || can_expire(agent)) continue;
    step_alone({static_cast<std::uint8_t>(agent.number)});
    take_at_once(agent);
    taking_at_once_ = true;
  }
  taking_at_once_ = false;
}

}  // namespace keyway::fabric::sim

#include "keyway/locks/fabric/sim/explorer_foresight.h"

#include <algorithm>

#include "keyway/locks/fabric/sim/explorer_hash.h"

namespace keyway::fabric::sim {
namespace {

/// The footprint of b after p. If both are posted by one agent, b may be what the agent waits for:
/// then it is `last`, the footprint of p after b, that says what followed.
Footprint after(const Footprint& p, const Footprint& b, const Footprint& last) {
  Footprint both = b;
  if ((p.agents & b.agents) == 0) return both;
  both.reads |= last.reads;
  both.writes |= last.writes;
  both.agents |= last.agents;
  both.changes |= last.changes;
  both.tries |= last.tries;
  both.quiet &= last.quiet;
  both.posted &= last.posted;
  both.unchecked &= last.unchecked;
  return both;
}

}  // namespace

std::size_t Foresight::Hash::operator()(const Footprint& footprint) const {
  const auto bit = [](bool is, int place) { return static_cast<std::uint64_t>(is) << place; };
  const std::uint64_t flags = bit(footprint.changes, 0) | bit(footprint.tries, 1) |
                              bit(footprint.quiet, 2) | bit(footprint.posted, 3) |
                              bit(footprint.unchecked, 4);
  return mixed(mixed(footprint.reads, footprint.writes), mixed(footprint.agents, flags));
}

Foresight::Number Foresight::number_of(const Footprint& footprint) {
  const auto [found, is_new] =
      numbers_.try_emplace(footprint, static_cast<Number>(footprints_.size()));
  if (is_new) footprints_.push_back(footprint);
  return found->second;
}

void Foresight::add_state(const std::vector<Action>& actions) {
  if (steps_.size() + actions.size() > kMaxSteps) return;
  const auto id = static_cast<Id>(first_.size() - 1);
  for (const Action& action : actions) {
    Step& step = steps_.emplace_back();
    step.from = id;
    step.action = action;
  }
  first_.push_back(static_cast<Number>(steps_.size()));
  last_into_.push_back(kNoStep);
}

void Foresight::add_step(Id from, std::uint16_t choice, Id to, const Footprint& footprint) {
  if (!is_kept(from) || !is_kept(to)) return;
  const Number number = first_[from] + choice;
  Step& step = steps_[number];
  step.to = to;
  step.footprint = number_of(footprint);
  step.next_into = last_into_[to];
  last_into_[to] = number;
}

const Foresight::Step* Foresight::known(Id id, const Action& action) const {
  if (!is_kept(id)) return nullptr;
  const auto steps = steps_of(id);
  const auto found = std::find_if(steps.begin(), steps.end(),
                                  [&](const Step& step) { return step.action == action; });
  return found != steps.end() && found->to != StateGraph::kNone ? &*found : nullptr;
}

std::optional<Foresight::Id> Foresight::foresee(Id from, std::uint16_t choice) {
  if (!is_kept(from) || is_known(from, choice)) return std::nullopt;
  const Action b = action(from, choice);
  for (Number into = last_into_[from]; into != kNoStep; into = steps_[into].next_into) {
    const Step& p = steps_[into];
    const Step* other = known(p.from, b);
    if (other == nullptr || other == &p) continue;
    const Footprint& print = footprints_[p.footprint];
    const Footprint& other_print = footprints_[other->footprint];
    if (!independent(print, other_print)) continue;
    const Step* last = known(other->to, p.action);
    if (last == nullptr) continue;
    const Id to = last->to;
    add_step(from, choice, to, after(print, other_print, footprints_[last->footprint]));
    return to;
  }
  return std::nullopt;
}

}  // namespace keyway::fabric::sim

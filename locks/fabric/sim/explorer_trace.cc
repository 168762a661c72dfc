// The texts of an execution for people.
#include <fmt/core.h>

#include "keyway/locks/fabric/sim/explorer_execution.h"

namespace keyway::fabric::sim {

std::string Program::value(std::uint64_t word) const { return fmt::format("{:#x}", word); }

std::string Execution::stuck() const {
  std::string text = "deadlock:";
  for (const Agent& agent : agents_) {
    if (agent.phase == Phase::kWait) {
      text += fmt::format(" agent {} waits for {};", agent.number, program_.name(agent.word));
    } else if (agent.phase == Phase::kRetry) {
      text += fmt::format(" agent {} tries again and again;", agent.number);
    }
  }
  text.pop_back();
  return text;
}

std::string Execution::waiting_line(const Action& action) const {
  const Agent& agent = agents_[action.agent];
  const char* what = action.kind == Action::Kind::kExpire ? "waits no longer" : "has waited";
  if (agent.phase == Phase::kRest) return fmt::format("agent {}: comes back", action.agent);
  if (agent.phase == Phase::kRetry) {
    return fmt::format("agent {}: {}", action.agent,
                       action.kind == Action::Kind::kExpire ? "does not try again" : "tries again");
  }
  return fmt::format("agent {}: {} for {}: {}", action.agent, what, program_.name(agent.word),
                     program_.value(agent.answer));
}

std::string Execution::line(const Action& action, const Operation* op, std::uint64_t value) const {
  const char* posted = action.kind != Action::Kind::kPosted ? ""
                       : action.posted == Action::kBuffered ? " (out of its buffer)"
                                                            : " (posted)";
  const std::string what = fmt::format("agent {}: {} {}{} of {}", action.agent,
                                       op->access == OpClass::kCpu ? "cpu" : "rma",
                                       name_of(op->kind), posted, program_.name(op->at));
  const auto shown = [this](std::uint64_t word) { return program_.value(word); };
  switch (op->kind) {
    case OpKind::kLoad: return fmt::format("{}: {}", what, shown(value));
    case OpKind::kStore:
      return fmt::format("{}: {} over {}", what, shown(op->operand), shown(value));
    case OpKind::kRead:
    case OpKind::kWrite: return fmt::format("{}: {} bytes", what, op->bytes);
    case OpKind::kCompareSwap:
      if (value != op->expected) {
        return fmt::format("{}: {} stays, {} was expected", what, shown(value),
                           shown(op->expected));
      }
      [[fallthrough]];
    default: return fmt::format("{}: {} becomes {}", what, shown(value), shown(op->leaves(value)));
  }
}

}  // namespace keyway::fabric::sim

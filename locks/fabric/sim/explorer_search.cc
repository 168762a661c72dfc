// How the explorer goes through many executions, and tells of one.
#include <fmt/format.h>

#include <string_view>

#include "keyway/locks/base/check.h"
#include "keyway/locks/base/rng.h"
#include "keyway/locks/fabric/sim/explorer.h"

namespace keyway::fabric::sim {
namespace {

constexpr std::string_view kDigits =
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

}  // namespace

std::string Explorer::stuck() const {
  std::string text = "deadlock:";
  for (std::uint32_t i = 0; i < agents_.size(); ++i) {
    const Agent& agent = agents_[i];
    if (agent.phase == Phase::kWait) {
      text += fmt::format(" agent {} waits for {};", i, program_.name(agent.word));
    } else if (agent.phase == Phase::kRetry) {
      text += fmt::format(" agent {} tries again and again;", i);
    }
  }
  text.pop_back();
  return text;
}

std::string Explorer::line(const Action& action, const Operation* op, std::uint64_t value) const {
  const Agent& agent = agents_[action.agent];
  const char* posted = action.posted == Action::kOwn ? "" : " (posted)";
  if (op == nullptr) {
    if (agent.phase == Phase::kRetry) return fmt::format("agent {}: tries again", action.agent);
    return fmt::format("agent {}: has waited for {}: {:#x}", action.agent,
                       program_.name(agent.word), value);
  }
  const std::string what = fmt::format("agent {}: {} {}{} of {}", action.agent,
                                       op->access == OpClass::kCpu ? "cpu" : "rma",
                                       name_of(op->kind), posted, program_.name(op->at));
  switch (op->kind) {
    case OpKind::kLoad: return fmt::format("{}: {:#x}", what, value);
    case OpKind::kStore: return fmt::format("{}: {:#x} over {:#x}", what, op->operand, value);
    case OpKind::kRead:
    case OpKind::kWrite: return fmt::format("{}: {} bytes", what, op->bytes);
    default: return fmt::format("{}: {:#x} becomes {:#x}", what, value, op->leaves(value));
  }
}

// --- many executions

void Explorer::report(ExploreReport& report, const std::vector<Choice>& path) {
  if (!wrong_) return;
  Violation violation{*wrong_, {}, {}};
  for (const Choice& choice : path) violation.schedule += kDigits[choice.taken];
  report.violation = std::move(violation);
}

ExploreReport Explorer::exhaust(std::uint64_t most_states) {
  ExploreReport report;
  visited_.clear();
  steps_ = 0;
  std::vector<Choice> path;
  while (true) {
    ++report.executions;
    start();
    for (const Choice& choice : path) step(choice.actions[choice.taken]);
    while (!over() && visited_.insert(key()).second) {
      Choice& choice = path.emplace_back();
      enabled(choice.actions);
      KW_CHECK(choice.actions.size() <= kDigits.size());
      step(choice.actions.front());
    }
    this->report(report, path);
    abandon();
    if (report.violation || visited_.size() >= most_states) break;
    while (!path.empty() && ++path.back().taken == path.back().actions.size()) path.pop_back();
    if (path.empty()) {
      report.complete = true;
      break;
    }
  }
  report.states = visited_.size();
  report.steps = steps_;
  return report;
}

ExploreReport Explorer::random(std::uint64_t seed, std::uint64_t executions) {
  ExploreReport report;
  visited_.clear();
  steps_ = 0;
  Rng rng(seed);
  while (report.executions < executions && !report.violation) {
    ++report.executions;
    start();
    std::vector<Choice> path;
    while (!over()) {
      visited_.insert(key());
      Choice& choice = path.emplace_back();
      enabled(choice.actions);
      choice.taken = rng.below(choice.actions.size());
      step(choice.actions[choice.taken]);
    }
    this->report(report, path);
    abandon();
  }
  report.states = visited_.size();
  report.steps = steps_;
  return report;
}

ExploreReport Explorer::replay(const std::string& schedule) {
  ExploreReport report;
  report.executions = 1;
  std::vector<std::string> trace;
  trace_ = &trace;
  start();
  std::vector<Choice> path;
  for (std::size_t i = 0; !over() && i < schedule.size(); ++i) {
    Choice& choice = path.emplace_back();
    enabled(choice.actions);
    choice.taken = kDigits.find(schedule[i]);
    if (choice.taken >= choice.actions.size()) {
      wrong_ = fmt::format("the schedule is of another program: there is no choice '{}' at step {}",
                           schedule[i], i);
      break;
    }
    step(choice.actions[choice.taken]);
  }
  this->report(report, path);
  abandon();
  trace_ = nullptr;
  if (report.violation) report.violation->trace = std::move(trace);
  return report;
}

}  // namespace keyway::fabric::sim

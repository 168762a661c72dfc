#include "keyway/locks/fabric/sim/explorer.h"

#include <fmt/format.h>

#include <algorithm>

#include "keyway/locks/base/check.h"
#include "keyway/locks/base/rng.h"

namespace keyway::fabric::sim {
namespace {

// Leaves the stack of an agent whose execution is over.
struct Abandoned {};

constexpr std::string_view kDigits =
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  std::uint64_t state = hash ^ (value + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2));
  return splitmix64(state);
}

// What an operation tells its agent, beyond a word.
std::uint64_t hash_of(const std::byte* bytes, std::uint64_t n) {
  std::uint64_t hash = n;
  for (std::uint64_t i = 0; i < n; ++i)
    hash = mixed(hash, std::to_integer<std::uint64_t>(bytes[i]));
  return hash;
}

}  // namespace

Explorer::Explorer(Program& program)
    : Engine(program.ranks(), program.segment_bytes()), program_(program) {
  agents_.resize(program.agents());
  for (std::uint32_t i = 0; i < agents_.size(); ++i) {
    // One stack serves all executions: making one is dearer than an execution.
    agents_[i].fiber = std::make_unique<FiberContext>([this, i] {
      while (!closing_) {
        try {
          program_.run(i);
        } catch (const Abandoned&) {
        }
        agents_[i].phase = Phase::kDone;
        agents_[i].fiber->suspend();
      }
    });
  }
}

Explorer::~Explorer() {
  abandon();
  closing_ = true;
  for (Agent& agent : agents_) agent.fiber->resume();
}

// --- what agents call

std::uint64_t Explorer::perform(std::uint32_t number, const Operation& op) {
  if (at_once_) return memory().apply(op);
  Agent& agent = agents_[number];
  if (agent.abandoned) return 0;  // a destructor, on the way out
  agent.op = op;
  agent.phase = Phase::kOperation;
  pause(agent);
  return agent.answer;
}

void Explorer::post(std::uint32_t number, const Operation& op, ResultSlot* result) {
  if (at_once_) {
    const std::uint64_t value = memory().apply(op);
    if (result != nullptr) result->value = value;
    return;
  }
  if (!agents_[number].abandoned) agents_[number].posted.push_back({op, result});
}

void Explorer::flush(std::uint32_t number, std::uint32_t rank) {
  if (at_once_) return;
  Agent& agent = agents_[number];
  const auto of_rank = [rank](const Posted& posted) { return posted.op.at.rank() == rank; };
  if (agent.abandoned || std::none_of(agent.posted.begin(), agent.posted.end(), of_rank)) return;
  agent.flushed = rank;
  agent.phase = Phase::kFlush;
  if (!can_go_on(agent)) pause(agent);
  for (const Posted& posted : agent.posted) {
    if (of_rank(posted)) agent.history = mixed(agent.history, posted.value);
  }
  std::erase_if(agent.posted, of_rank);
}

WaitResult Explorer::wait(std::uint32_t number, Address word, PredicateRef predicate, Deadline) {
  Agent& agent = agents_[number];
  if (agent.abandoned) return {};
  if (at_once_) {
    const std::uint64_t value = memory().load(word);
    KW_CHECK_MSG(predicate(value), "a wait while no agent runs", "it would be for ever");
    return {value, false};
  }
  agent.word = word;
  agent.predicate = predicate;
  agent.phase = Phase::kWait;
  pause(agent);
  return {agent.answer, false};
}

void Explorer::attempt_begins(std::uint32_t number) {
  Agent& agent = agents_[number];
  agent.attempting = true;
  agent.mark = agent.history;
  agent.seen_changes = others_changes(agent);
}

bool Explorer::attempt_failed(std::uint32_t number, std::uint64_t, Deadline) {
  KW_CHECK_MSG(!at_once_, "an attempt that failed while no agent runs", "it would be for ever");
  Agent& agent = agents_[number];
  if (agent.abandoned) return false;
  KW_CHECK_MSG(agent.posted.empty(), "a failed attempt", "it left posted operations behind");
  agent.history = agent.mark;
  agent.phase = Phase::kRetry;
  pause(agent);
  return true;
}

void Explorer::fail(std::uint32_t number, std::string what) {
  if (!wrong_) wrong_ = std::move(what);
  agents_[number].abandoned = true;
  throw Abandoned();
}

void Explorer::pause(Agent& agent) {
  agent.fiber->suspend();
  if (agent.abandoned) throw Abandoned();
}

// --- one execution

void Explorer::start() {
  at_once_ = true;
  memory().clear();
  program_.reset(*this);
  at_once_ = false;
  wrong_.reset();
  for (Agent& agent : agents_) {
    agent.history = agent.mark = agent.own_changes = agent.seen_changes = 0;
    agent.posted.clear();
    agent.attempting = agent.abandoned = false;
  }
  const std::uint64_t before = memory().changes();
  for (Agent& agent : agents_) resume(agent);  // up to its first operation
  KW_CHECK(memory().changes() == before);
}

void Explorer::abandon() {
  for (Agent& agent : agents_) {
    if (agent.phase == Phase::kDone) continue;
    agent.abandoned = true;
    resume(agent);
  }
  at_once_ = true;
}

void Explorer::resume(Agent& agent) {
  agent.fiber->resume();
  KW_CHECK(!agent.fiber->finished());
}

std::uint64_t Explorer::others_changes(const Agent& agent) const {
  return memory().changes() - agent.own_changes;
}

bool Explorer::can_go_on(const Agent& agent) const {
  switch (agent.phase) {
    case Phase::kOperation: return true;
    case Phase::kFlush:
      return std::all_of(agent.posted.begin(), agent.posted.end(), [&](const Posted& posted) {
        return posted.happened || posted.op.at.rank() != agent.flushed;
      });
    case Phase::kWait: return agent.predicate(memory().load(agent.word));
    case Phase::kRetry: return others_changes(agent) != agent.seen_changes;
    case Phase::kDone: return false;
  }
  return false;
}

void Explorer::enabled(std::vector<Action>& actions) const {
  actions.clear();
  for (std::uint32_t i = 0; i < agents_.size(); ++i) {
    const Agent& agent = agents_[i];
    // A flush goes on by itself with the last operation that it waits for.
    if (agent.phase != Phase::kFlush && can_go_on(agent)) actions.push_back({i, Action::kOwn});
    for (std::uint32_t k = 0; k < agent.posted.size(); ++k) {
      if (!agent.posted[k].happened) actions.push_back({i, k});
    }
  }
}

std::uint64_t Explorer::apply(Agent& agent, const Operation& op) {
  const std::uint64_t before = memory().changes();
  const std::uint64_t value = memory().apply(op);
  agent.own_changes += memory().changes() - before;
  return op.kind == OpKind::kRead ? hash_of(op.out, op.bytes) : value;
}

void Explorer::happen(Agent& agent, Posted& posted) {
  posted.value = apply(agent, posted.op);
  if (posted.result != nullptr) posted.result->value = posted.value;
  posted.happened = true;
}

void Explorer::own_step(Agent& agent) {
  switch (agent.phase) {
    case Phase::kOperation: agent.answer = apply(agent, agent.op); break;
    case Phase::kWait: agent.answer = memory().load(agent.word); break;
    default: agent.answer = 0; break;
  }
  agent.history = mixed(agent.history, agent.answer);
}

void Explorer::step(const Action& action) {
  ++steps_;
  Agent& agent = agents_[action.agent];
  if (action.posted != Action::kOwn) {
    Posted& posted = agent.posted[action.posted];
    happen(agent, posted);
    if (trace_ != nullptr) trace_->push_back(line(action, &posted.op, posted.value));
    if (agent.phase == Phase::kFlush && can_go_on(agent)) resume(agent);
    return;
  }
  const Operation op = agent.op;
  const Phase phase = agent.phase;
  if (phase == Phase::kRetry) {
    agent.history = agent.mark;  // an attempt begins where the last one did
  } else {
    own_step(agent);
  }
  if (trace_ != nullptr) {
    trace_->push_back(line(action, phase == Phase::kOperation ? &op : nullptr, agent.answer));
  }
  resume(agent);
}

std::uint64_t Explorer::key() const {
  std::uint64_t key = memory().hash();
  for (const Agent& agent : agents_) {
    key = mixed(key, agent.history);
    // Whether the attempt under way, should it fail, can be made again at once.
    const bool again = agent.attempting && others_changes(agent) != agent.seen_changes;
    key = mixed(key, static_cast<std::uint64_t>(agent.phase) << 1 | (again ? 1 : 0));
    for (const Posted& posted : agent.posted) {
      key = mixed(key, posted.happened ? mixed(1, posted.value) : 0);
    }
  }
  return key;
}

/// Whether the execution has ended, well or not.
bool Explorer::over() {
  if (wrong_) return true;
  std::vector<Action> actions;
  enabled(actions);
  if (!actions.empty()) return false;
  const auto done = [](const Agent& agent) { return agent.phase == Phase::kDone; };
  if (!std::all_of(agents_.begin(), agents_.end(), done)) {
    wrong_ = stuck();
    return true;
  }
  at_once_ = true;
  if (std::string verdict = program_.verdict(); !verdict.empty()) wrong_ = std::move(verdict);
  at_once_ = false;
  return true;
}

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
      Choice& choice = path.emplace_back();
      enabled(choice.actions);
      choice.taken = rng.below(choice.actions.size());
      step(choice.actions[choice.taken]);
    }
    this->report(report, path);
    abandon();
  }
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

#include "keyway/locks/fabric/sim/explorer.h"

#include <algorithm>

#include "keyway/locks/base/check.h"
#include "keyway/locks/base/rng.h"

namespace keyway::fabric::sim {
namespace {

// Leaves the stack of an agent whose execution is over.
struct Abandoned {};

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

Explorer::Explorer(Program& program, const ExploreOptions& options)
    : Engine(program.ranks(), program.segment_bytes()), program_(program), options_(options) {
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
  halfway_.clear();
  for (Agent& agent : agents_) {
    agent.history = agent.mark = agent.own_changes = agent.seen_changes = 0;
    agent.posted.clear();
    agent.begun = agent.attempting = agent.abandoned = false;
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
    case Phase::kOperation: return !kept_out(agent.op, agent.begun);
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
      const Posted& posted = agent.posted[k];
      if (!posted.happened && !kept_out(posted.op, posted.begun)) actions.push_back({i, k});
    }
  }
}

std::uint64_t Explorer::apply(Agent& agent, const Operation& op) {
  const std::uint64_t before = memory().changes();
  const std::uint64_t value = memory().apply(op);
  agent.own_changes += memory().changes() - before;
  return op.kind == OpKind::kRead ? hash_of(op.out, op.bytes) : value;
}

/// Whether another operation of the `rma` class is between its read and its write of the word.
bool Explorer::kept_out(const Operation& op, bool begun) const {
  return !begun && op.access == OpClass::kRma &&
         std::find(halfway_.begin(), halfway_.end(), op.at) != halfway_.end();
}

/// One step of an operation; true when that was its last.
bool Explorer::happen(Agent& agent, const Operation& op, bool& begun, std::uint64_t& value) {
  const bool split = options_.split_rma && op.access == OpClass::kRma && op.reads_and_writes();
  if (!split) {
    value = apply(agent, op);
    return true;
  }
  if (!begun) {
    value = memory().load(op.at);
    if (op.leaves(value) == value) return true;  // nothing to write
    begun = true;
    halfway_.push_back(op.at);
    return false;
  }
  apply(agent, {.kind = OpKind::kStore, .at = op.at, .operand = op.leaves(value)});
  std::erase(halfway_, op.at);
  begun = false;
  return true;
}

/// False when the agent's operation has another step to come.
bool Explorer::own_step(Agent& agent) {
  switch (agent.phase) {
    case Phase::kOperation:
      if (!happen(agent, agent.op, agent.begun, agent.answer)) return false;
      break;
    case Phase::kWait: agent.answer = memory().load(agent.word); break;
    default: agent.answer = 0; break;
  }
  agent.history = mixed(agent.history, agent.answer);
  return true;
}

void Explorer::step(const Action& action) {
  ++steps_;
  Agent& agent = agents_[action.agent];
  if (action.posted != Action::kOwn) {
    Posted& posted = agent.posted[action.posted];
    if (!happen(agent, posted.op, posted.begun, posted.value)) return;
    posted.happened = true;
    if (posted.result != nullptr) posted.result->value = posted.value;
    if (trace_ != nullptr) trace_->push_back(line(action, &posted.op, posted.value));
    if (agent.phase == Phase::kFlush && can_go_on(agent)) resume(agent);
    return;
  }
  const Operation op = agent.op;
  const Phase phase = agent.phase;
  if (phase == Phase::kRetry) {
    agent.history = agent.mark;  // an attempt begins where the last one did
  } else if (!own_step(agent)) {
    return;
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
    // What follows is told by what stands before it, so that no two states read alike.
    key = mixed(key, static_cast<std::uint64_t>(agent.phase) << 2 | (agent.begun ? 2 : 0) |
                         (again ? 1 : 0));
    if (agent.begun) key = mixed(key, agent.answer);
    key = mixed(key, agent.posted.size());
    for (const Posted& posted : agent.posted) {
      key = mixed(key, (posted.happened ? 2 : 0) | (posted.begun ? 1 : 0));
      if (posted.happened || posted.begun) key = mixed(key, posted.value);
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

}  // namespace keyway::fabric::sim

// One execution: the possible next steps, and the effect of a step.
#include "keyway/locks/fabric/sim/explorer_execution.h"

#include <cxxabi.h>

#include <algorithm>

#include "keyway/locks/base/check.h"
#include "keyway/locks/fabric/sim/explorer_hash.h"

namespace keyway::fabric::sim {
namespace {

/// Deadlines from here on are patience: an execution does not see them pass.
constexpr std::uint64_t kPatienceNs = 1'000'000'000;
constexpr std::uint64_t kExpired = 0x9d5f3c1be7a86420ULL;  // a time-out, in a history

}  // namespace

Execution::Execution(Program& program, const ExecutionRules& rules)
    : Engine(program.ranks(), program.segment_bytes()), program_(program), rules_(rules) {
  KW_CHECK(program.agents() <= kMaxExplored);
  agents_.resize(program.agents());
  for (std::uint32_t i = 0; i < agents_.size(); ++i) {
    agents_[i].number = i;
    // One stack serves all executions: making one is dearer than an execution.
    agents_[i].fiber = std::make_unique<FiberContext>([this, i] {
      while (!closing_) {
        try {
          program_.run(i);
        } catch (const abi::__forced_unwind&) {  // leave()
        }
        agents_[i].phase = Phase::kDone;
        agents_[i].fiber->suspend();
      }
    });
  }
}

Execution::~Execution() {
  abandon();
  closing_ = true;
  for (Agent& agent : agents_) agent.fiber->resume();
}

// --- one execution

void Execution::start() {
  idle_ = true;
  memory().clear();
  wrong_.reset();
  halfway_.clear();
  for (Agent& agent : agents_) {
    agent.history = agent.mark = agent.own_changes = agent.seen_changes = agent.clock_ns = 0;
    agent.serial = 0;
    agent.posted.clear();
    agent.buffer.clear();
    agent.ordered.assign(program_.ranks(), 0);
    agent.begun = Begun::kNot;
    agent.attempting = agent.abandoned = agent.expired = false;
  }
  program_.reset(*this);
  idle_ = false;
  for (Agent& agent : agents_) resume(agent);  // up to its first operation
  for (Agent& agent : agents_) take_at_once(agent);
}

void Execution::abandon() {
  for (Agent& agent : agents_) {
    if (agent.phase == Phase::kDone) continue;
    agent.abandoned = true;
    resume(agent);
  }
  idle_ = true;
}

void Execution::resume(Agent& agent) {
  footprint_.posted = false;  // the agent continues
  agent.fiber->resume();
  KW_CHECK(!agent.fiber->finished());
}

bool Execution::can_go_on(const Agent& agent) const {
  switch (agent.phase) {
    case Phase::kOperation: {
      const std::uint32_t rank = agent.op.at.rank();
      return !kept_out(agent.op, agent.begun) &&
             !held_back(agent, rank, agent.ordered_behind(rank)) &&
             !behind_buffer(agent, agent.op, ~0ULL);
    }
    case Phase::kFlush:
      return std::all_of(agent.posted.begin(), agent.posted.end(), [&](const Posted& posted) {
        return posted.happened || posted.op.at.rank() != agent.flushed ||
               posted.serial <= agent.after;
      });
    case Phase::kDrain: return agent.buffer.empty();
    case Phase::kWait: {
      const std::uint32_t rank = agent.word.rank();
      // O5: a value that a wait has seen is not undone.
      if (rules_.double_stores && halfway(agent.word)) return false;
      return agent.predicate(seen(agent, agent.word)) &&
             !held_back(agent, rank, agent.ordered_behind(rank));
    }
    case Phase::kRetry: return others_changes(agent) != agent.seen_changes;
    case Phase::kRest: return true;
    case Phase::kDone: return false;
  }
  return false;
}

bool Execution::can_expire(const Agent& agent) const {
  if (agent.phase != Phase::kRetry && agent.phase != Phase::kWait) return false;
  if (agent.until_ns - std::min(agent.until_ns, agent.clock_ns) >= kPatienceNs) return false;
  return agent.phase == Phase::kRetry || !can_go_on(agent);
}

bool Execution::can_happen(const Agent& agent, const Posted& posted) const {
  return !posted.happened && !kept_out(posted.op, posted.begun) &&
         !held_back(agent, posted.op.at.rank(), posted.behind) &&
         !behind_buffer(agent, posted.op, posted.serial);
}

void Execution::enabled(std::vector<Action>& actions) const {
  actions.clear();
  const auto agents = static_cast<std::uint8_t>(agents_.size());
  for (std::uint8_t i = 0; i < agents; ++i) {
    const Agent& agent = agents_[i];
    // A flush continues by itself after the last operation that it waits for.
    const bool flushes = agent.phase == Phase::kFlush || agent.phase == Phase::kDrain;
    if (!flushes && can_go_on(agent)) actions.push_back({i});
    if (can_expire(agent)) actions.push_back({i, Action::Kind::kExpire});
    const auto posted = static_cast<std::uint8_t>(agent.posted.size());
    for (std::uint8_t k = 0; k < posted; ++k) {
      if (can_happen(agent, agent.posted[k])) actions.push_back({i, Action::Kind::kPosted, k});
    }
    if (can_drain(agent)) actions.push_back({i, Action::Kind::kPosted, Action::kBuffered});
  }
}

bool Execution::could_go_on(std::uint32_t number) const {
  const Agent& agent = agents_[number];
  return agent.phase != Phase::kRest && agent.phase != Phase::kFlush &&
         agent.phase != Phase::kDrain && can_go_on(agent);
}

std::uint64_t Execution::thread(const Action& action) const {
  const Agent& agent = agents_[action.agent];
  std::uint64_t serial = 0;
  if (action.kind == Action::Kind::kExpire) serial = agent.serial;
  if (action.kind == Action::Kind::kPosted) {
    serial = action.posted == Action::kBuffered ? agent.buffer.front().serial
                                                : agent.posted[action.posted].serial;
  }
  return serial << 16 | static_cast<std::uint64_t>(action.kind) << 8 | action.agent;
}

/// False when the agent's operation has another step to come.
bool Execution::own_step(Agent& agent) {
  if (agent.phase == Phase::kRest) return true;  // its history determines its state
  if (agent.phase == Phase::kOperation) {
    if (!happen(agent, agent.op, agent.begun, agent.answer)) return false;
    agent.history = mixed(agent.history, observed(agent.op, agent.answer));
  } else {
    agent.answer = seen(agent, agent.word);
    note_read(agent.word);
    observe(agent, {.kind = OpKind::kLoad, .at = agent.word}, agent.answer);
    agent.history = mixed(agent.history, agent.answer);
  }
  return true;
}

/// The oldest store of the buffer happens.
void Execution::buffered_step(Agent& agent, const Action& action) {
  const Operation op = agent.buffer.front().op;
  agent.buffer.erase(agent.buffer.begin());
  const std::uint64_t old = apply(agent, op);
  observe(agent, op, old);
  if (trace_ != nullptr) trace_->push_back(line(action, &op, old));
  if (agent.phase == Phase::kDrain && can_go_on(agent)) resume(agent);
}

void Execution::posted_step(Agent& agent, const Action& action) {
  if (action.posted == Action::kBuffered) return buffered_step(agent, action);
  Posted& posted = agent.posted[action.posted];
  const std::uint64_t own_changes = agent.own_changes;
  const bool is_over = happen(agent, posted.op, posted.begun, posted.value);
  // To an attempt, an operation that was posted before it is news, as one of another agent is.
  if (agent.attempting && action.posted < agent.had_posted) agent.own_changes = own_changes;
  if (!is_over) return;
  posted.happened = true;
  if (posted.result != nullptr) posted.result->value = posted.value;
  if (trace_ != nullptr) trace_->push_back(line(action, &posted.op, posted.value));
  if (agent.phase == Phase::kFlush && can_go_on(agent)) resume(agent);
}

void Execution::step(const Action& action) {
  const std::uint64_t before = noting_ ? remembered() : 0;
  const std::uint64_t changes = memory().changes();
  const std::uint64_t begun = steps_;
  footprint_ = {};
  footprint_.posted = action.kind == Action::Kind::kPosted && action.posted != Action::kBuffered;
  footprint_.unchecked =
      footprint_.posted && is_torn(agents_[action.agent].posted[action.posted].op);
  step_alone(action);
  take_at_once(agents_[action.agent]);
  if (rules_.reduce) go_again();
  if (!noting_) return;
  if (steps_ != begun + 1) footprint_.posted = false;
  footprint_.changes = memory().changes() != changes;
  footprint_.quiet = remembered() == before;
  footprint_.unchecked = footprint_.unchecked && footprint_.posted;
  for (const Agent& agent : agents_) {
    if ((footprint_.agents >> agent.number & 1) != 0) note_pending(agent);
  }
}

/// What the program's checks know beyond the agents' results.
std::uint64_t Execution::remembered() const {
  std::uint64_t hash = program_.remembered();
  for (const Agent& agent : agents_) {
    hash = mixed(hash, static_cast<std::uint64_t>(program_.standing(agent.number)));
  }
  return hash;
}

/// Whether a pending operation can be taken at once may depend on its word: on a write's
/// (program.h), and on any while an operation of two steps is halfway.
void Execution::note_pending(const Agent& agent) {
  const bool all = rules_.split_rma || rules_.double_stores;
  const auto note = [&](const Operation& op) {
    if (all || op.kind == OpKind::kWrite) note_words(footprint_.reads, op);
  };
  if (agent.phase == Phase::kOperation) note(agent.op);
  for (const Posted& posted : agent.posted) {
    if (!posted.happened) note(posted.op);
  }
}

void Execution::note_words(std::uint64_t& bits, const Operation& op) const {
  if (!noting_) return;
  if (op.is_word()) {
    bits |= Footprint::bit_of(op.at);
    return;
  }
  const std::uint64_t end = op.at.offset() + op.bytes;
  for (std::uint64_t at = op.at.offset() / 8 * 8; at < end; at += 8) {
    bits |= Footprint::bit_of({op.at.rank(), at});
  }
}

void Execution::step_alone(const Action& action) {
  ++steps_;
  Agent& agent = agents_[action.agent];
  footprint_.agents |= 1ULL << action.agent;
  if (agent.phase == Phase::kRetry) footprint_.tries = true;
  if (action.kind == Action::Kind::kPosted) return posted_step(agent, action);
  if (action.kind == Action::Kind::kExpire) {
    agent.expired = true;
    program_.expired(agent.number);
    agent.clock_ns = std::max(agent.clock_ns, agent.until_ns);
    agent.answer = agent.phase == Phase::kWait ? seen(agent, agent.word) : 0;
    if (agent.phase == Phase::kWait) note_read(agent.word);
    agent.history = mixed(mixed(agent.history, kExpired), agent.answer);
  } else if (agent.phase == Phase::kRetry) {
    agent.history = agent.mark;  // an attempt begins where the last one did
  } else if (const Operation op = agent.op; !own_step(agent)) {
    return;
  } else if (trace_ != nullptr && agent.phase == Phase::kOperation) {
    trace_->push_back(line(action, &op, agent.answer));
  }
  if (trace_ != nullptr && agent.phase != Phase::kOperation)
    trace_->push_back(waiting_line(action));
  resume(agent);
}

std::uint64_t Execution::key() const {
  std::uint64_t key = mixed(memory().hash(), program_.remembered());
  for (const Agent& agent : agents_) {
    key = mixed(key, agent.history);
    // Whether the attempt in progress, if it fails, can be made again at once.
    const bool again = agent.attempting && others_changes(agent) != agent.seen_changes;
    // Each part of the key tells how to read the next, so that no two states read alike.
    key = mixed(key, static_cast<std::uint64_t>(program_.standing(agent.number)) << 8 |
                         static_cast<std::uint64_t>(agent.phase) << 3 |
                         static_cast<std::uint64_t>(agent.begun) << 1 | (again ? 1 : 0));
    if (agent.begun != Begun::kNot) key = mixed(key, observed(agent.op, agent.answer));
    key = mixed(key, agent.posted.size());
    for (const Posted& posted : agent.posted) {
      key = mixed(key, (posted.happened ? 4 : 0) | static_cast<std::uint64_t>(posted.begun));
      if (posted.happened || posted.begun != Begun::kNot) {
        key = mixed(key, observed(posted.op, posted.value));
      }
    }
    if (rules_.store_buffers) key = mixed(key, agent.buffer.size());
    for (const Posted& store : agent.buffer) {
      key = mixed(mixed(key, store.op.at.word()), store.op.operand);
      // An order() lies behind it: later operations on its rank wait for it.
      key = mixed(key, store.serial <= agent.ordered_behind(store.op.at.rank()) ? 1 : 0);
    }
  }
  return key;
}

Moment Execution::moment() const {
  Moment moment;
  for (const Agent& agent : agents_) {
    const std::uint32_t i = agent.number;
    moment.set(i, program_.standing(i));
    const std::uint64_t bit = 1ULL << i;
    // Cards serve atomics on a word in turn: an agent that only waits for the end of another's
    // atomic continues.
    const bool in_turn = agent.phase == Phase::kOperation && kept_out(agent.op, agent.begun);
    if (in_turn || could_go_on(i) || can_expire(agent)) moment.can_go |= bit;
    const auto flies = [&](const Posted& posted) {
      return can_happen(agent, posted) || (!posted.happened && kept_out(posted.op, posted.begun));
    };
    if (can_drain(agent) || std::any_of(agent.posted.begin(), agent.posted.end(), flies)) {
      moment.in_flight |= bit;
    }
  }
  return moment;
}

void Execution::next(std::vector<Action>& actions) {
  actions.clear();
  if (wrong_) return;
  enabled(actions);
  const auto comes_back = [this](const Action& action) {
    return action.kind == Action::Kind::kOwn && agents_[action.agent].phase == Phase::kRest;
  };
  if (std::all_of(actions.begin(), actions.end(), comes_back)) conclude();
  if (wrong_) actions.clear();
}

/// No agent has anything to do, except those that may come back or not.
void Execution::conclude() {
  bool all_done = true;
  for (const Agent& agent : agents_) {
    if (agent.phase != Phase::kDone && agent.phase != Phase::kRest) {
      wrong_ = stuck();
      return;
    }
    all_done = all_done && agent.phase == Phase::kDone;
  }
  if (!all_done) return;
  idle_ = true;
  try {
    if (std::string verdict = program_.verdict(); !verdict.empty()) wrong_ = std::move(verdict);
  } catch (const EndlessWait&) {
    wrong_ = "L2: all agents have gone, and the next one would wait for ever";
  }
  idle_ = false;
}

}  // namespace keyway::fabric::sim

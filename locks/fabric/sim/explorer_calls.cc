// The calls of agents during their execution.
#include <algorithm>

#include "keyway/locks/base/check.h"
#include "keyway/locks/fabric/sim/explorer_execution.h"
#include "keyway/locks/fabric/sim/explorer_hash.h"

namespace keyway::fabric::sim {
namespace {

constexpr std::uint64_t kPoison = 0xdeaddeaddeaddeadULL;

}  // namespace

std::uint64_t Execution::perform(std::uint32_t number, const Operation& op) {
  if (idle_) return memory().apply(op);
  Agent& agent = agents_[number];
  // A destructor, on the way out. Some try until a compare-and-swap succeeds.
  if (agent.abandoned) return op.kind == OpKind::kCompareSwap ? op.expected : 0;
  if (rules_.store_buffers && op.access == OpClass::kCpu && op.kind == OpKind::kStore) {
    agent.buffer.push_back({op, nullptr, ++agent.serial, agent.ordered_behind(op.at.rank())});
    return 0;
  }
  if (tears(op)) {
    const std::uint64_t before = agent.serial;
    post_words(agent, op);
    complete(agent, op.at.rank(), before);
    return 0;
  }
  agent.op = op;
  pause(agent, Phase::kOperation);
  return agent.answer;
}

/// Posts an operation on bytes as one for each word.
void Execution::post_words(Agent& agent, const Operation& op) {
  for (std::uint64_t done = 0; done < op.bytes;) {
    Operation part = op;
    part.at = op.at + done;
    part.bytes = std::min(op.bytes - done, 8 - part.at.offset() % 8);
    if (op.out != nullptr) part.out += done;
    if (op.in != nullptr) part.in += done;
    done += part.bytes;
    KW_CHECK(agent.posted.size() < 255);  // Action::posted
    agent.posted.push_back({part, nullptr, ++agent.serial, agent.ordered_behind(op.at.rank())});
  }
}

void Execution::post(std::uint32_t number, const Operation& op, ResultSlot* result) {
  if (idle_) {
    const std::uint64_t value = memory().apply(op);
    if (result != nullptr) result->value = value;
    return;
  }
  Agent& agent = agents_[number];
  if (agent.abandoned) return;
  if (tears(op)) return post_words(agent, op);
  KW_CHECK(agent.posted.size() < 255);  // Action::posted
  agent.posted.push_back({op, result, ++agent.serial, agent.ordered_behind(op.at.rank())});
}

/// Not a step: it only limits what later operations may overtake. (Its place follows from the
/// agent's history, so it is not part of the key.)
void Execution::order(std::uint32_t number, std::uint32_t rank) {
  if (!idle_) agents_[number].ordered[rank] = agents_[number].serial;
}

void Execution::flush(std::uint32_t number, std::uint32_t rank) {
  if (!idle_) complete(agents_[number], rank, 0);
}

/// Waits until what the agent has posted to the rank after this serial has happened.
void Execution::complete(Agent& agent, std::uint32_t rank, std::uint64_t after) {
  const auto of_rank = [rank, after](const Posted& posted) {
    return posted.op.at.rank() == rank && posted.serial > after;
  };
  if (agent.abandoned || std::none_of(agent.posted.begin(), agent.posted.end(), of_rank)) return;
  agent.flushed = rank;
  agent.after = after;
  agent.phase = Phase::kFlush;
  if (!can_go_on(agent)) pause(agent, Phase::kFlush);
  for (const Posted& posted : agent.posted) {
    if (of_rank(posted)) agent.history = mixed(agent.history, observed(posted.op, posted.value));
  }
  std::erase_if(agent.posted, of_rank);
}

void Execution::fence(std::uint32_t number) {
  flush_all(number);
  drain(number);
}

void Execution::drain(std::uint32_t number) {
  Agent& agent = agents_[number];
  if (idle_ || agent.abandoned || agent.buffer.empty()) return;
  pause(agent, Phase::kDrain);
}

WaitResult Execution::wait(std::uint32_t number, Address word, PredicateRef predicate,
                           Deadline deadline) {
  Agent& agent = agents_[number];
  if (agent.abandoned) return {};
  if (idle_) {
    const std::uint64_t value = memory().load(word);
    if (!predicate(value)) throw EndlessWait();
    return {value, false};
  }
  agent.word = word;
  agent.predicate = predicate;
  set_deadline(agent, deadline);
  pause(agent, Phase::kWait);
  return {agent.answer, agent.expired};
}

void Execution::attempt_begins(std::uint32_t number) {
  Agent& agent = agents_[number];
  agent.attempting = true;
  footprint_.tries = true;
  agent.mark = agent.history;
  agent.seen_changes = others_changes(agent);
  agent.had_posted = agent.posted.size();
}

bool Execution::attempt_failed(std::uint32_t number, std::uint64_t, Deadline deadline) {
  if (idle_) throw EndlessWait();
  Agent& agent = agents_[number];
  if (agent.abandoned) return false;
  KW_CHECK_MSG(agent.posted.size() == agent.had_posted, "a failed attempt",
               "it left posted operations behind, or flushed what was posted before it");
  agent.history = agent.mark;
  footprint_.tries = true;
  set_deadline(agent, deadline);
  pause(agent, Phase::kRetry);
  if (agent.expired) agent.attempting = false;
  return !agent.expired;
}

void Execution::rest(std::uint32_t number, std::uint64_t digest) {
  Agent& agent = agents_[number];
  if (agent.abandoned) return;
  KW_CHECK_MSG(agent.posted.empty(), "an agent at rest", "it left posted operations behind");
  agent.history = agent.mark = mixed(0, digest);
  agent.clock_ns = 0;
  pause(agent, Phase::kRest);
}

void Execution::forget(std::uint32_t number, std::uint64_t digest) {
  Agent& agent = agents_[number];
  if (!rules_.reduce || idle_ || agent.abandoned) return;
  std::uint64_t history = mixed(1, digest);
  for (const Posted& posted : agent.posted) {
    const Operation& op = posted.op;
    const auto before = [&](const Posted& other) {  // must happen before this one
      return other.serial <= posted.behind && other.op.at.rank() == op.at.rank();
    };
    history = mixed(
        history, static_cast<std::uint64_t>(op.kind) << 8 | static_cast<std::uint64_t>(op.access));
    history = mixed(mixed(mixed(history, op.at.word()), op.operand), op.expected);
    history = mixed(history, std::count_if(agent.posted.begin(), agent.posted.end(), before));
    history = mixed(history, posted.serial <= agent.ordered_behind(op.at.rank()) ? 1 : 0);
    const auto issued_before = [&](const Posted& store) { return store.serial < posted.serial; };
    history =
        mixed(history, std::count_if(agent.buffer.begin(), agent.buffer.end(), issued_before));
    history = mixed(history, std::count_if(agent.buffer.begin(), agent.buffer.end(), before));
  }
  for (const Posted& store : agent.buffer) {
    const auto before = [&](const Posted& other) {
      return other.serial <= store.behind && other.op.at.rank() == store.op.at.rank();
    };
    history = mixed(history, std::count_if(agent.posted.begin(), agent.posted.end(), before));
  }
  agent.history = agent.mark = history;
  agent.clock_ns = 0;
}

void Execution::poison(Address word) {
  const std::uint64_t before = memory().changes();
  memory().store(word, kPoison);
  footprint_.writes |= Footprint::bit_of(word);
  for (Agent& agent : agents_) agent.own_changes += memory().changes() - before;
}

std::uint64_t Execution::look(Address word) {
  note_read(word);
  return memory().load(word);
}

void Execution::fail(std::uint32_t number, std::string what) {
  if (!wrong_) wrong_ = std::move(what);
  agents_[number].abandoned = true;
  leave(agents_[number]);
}

void Execution::set_deadline(Agent& agent, Deadline deadline) {
  agent.until_ns = deadline.started(agent.clock_ns).absolute_ns();
  agent.expired = false;
  ++agent.serial;
}

void Execution::pause(Agent& agent, Phase phase) {
  agent.phase = phase;
  agent.fiber->suspend();
  if (agent.abandoned) leave(agent);
}

/// The agent's execution is over.
void Execution::leave(Agent& agent) { agent.unwinding.leave(); }

}  // namespace keyway::fabric::sim

// The operations of an execution change memory here: when each may happen, and in how many steps.
#include <fmt/core.h>

#include <algorithm>

#include "keyway/locks/fabric/sim/explorer_execution.h"
#include "keyway/locks/fabric/sim/explorer_hash.h"

namespace keyway::fabric::sim {
namespace {

// A hash of the bytes that an operation shows its agent.
std::uint64_t hash_of(const std::byte* bytes, std::uint64_t n) {
  std::uint64_t hash = n;
  for (std::uint64_t i = 0; i < n; ++i)
    hash = mixed(hash, std::to_integer<std::uint64_t>(bytes[i]));
  return hash;
}

}  // namespace

/// Whether something posted to `rank` up to the serial `behind` has yet to happen.
bool Execution::held_back(const Agent& agent, std::uint32_t rank, std::uint64_t behind) const {
  const auto before = [&](const Posted& posted) {
    return !posted.happened && posted.serial <= behind && posted.op.at.rank() == rank;
  };
  return behind != 0 && (std::any_of(agent.posted.begin(), agent.posted.end(), before) ||
                         std::any_of(agent.buffer.begin(), agent.buffer.end(), before));
}

/// Whether the oldest store of the buffer can happen.
bool Execution::can_drain(const Agent& agent) const {
  if (agent.buffer.empty()) return false;
  const Posted& oldest = agent.buffer.front();
  return !held_back(agent, oldest.op.at.rank(), oldest.behind);
}

/// Whether the operation, issued as `serial`, must come after stores that are still in the buffer.
bool Execution::behind_buffer(const Agent& agent, const Operation& op, std::uint64_t serial) const {
  if (agent.buffer.empty() || agent.buffer.front().serial > serial) return false;
  const bool loads = op.kind == OpKind::kLoad;
  return !loads && !(op.kind == OpKind::kRead && op.access == OpClass::kRma);
}

/// A word as the agent's processor sees it.
std::uint64_t Execution::seen(const Agent& agent, Address word) const {
  for (auto store = agent.buffer.rbegin(); store != agent.buffer.rend(); ++store) {
    if (store->op.at == word) return store->op.operand;
  }
  return memory().load(word);
}

bool Execution::within_memory(const Operation& op) const {
  return op.at.rank() < memory().ranks() && op.at.offset() + op.bytes <= memory().segment_bytes() &&
         (!op.is_word() || op.at.offset() % 8 == 0);
}

void Execution::observe(const Agent& agent, const Operation& op, std::uint64_t old) {
  if (wrong_) return;
  if (std::string objection = program_.observe(agent.number, op, old); !objection.empty()) {
    wrong_ = std::move(objection);
  }
}

std::uint64_t Execution::apply(Agent& agent, const Operation& op) {
  if (!within_memory(op)) {
    if (!wrong_) {
      wrong_ = fmt::format("footprint: agent {} accesses rank {} +{:#x}, which has no memory",
                           agent.number, op.at.rank(), op.at.offset());
    }
    return 0;
  }
  note_words(footprint_.reads, op);
  if (op.kind == OpKind::kLoad && op.access == OpClass::kCpu) return seen(agent, op.at);
  const std::uint64_t before = memory().changes();
  const std::uint64_t value = memory().apply(op);
  if (op.is_word() && op.kind != OpKind::kLoad) {
    memory().store(op.at, program_.kept(op.at, memory().load(op.at)));
  }
  if (memory().changes() != before) note_words(footprint_.writes, op);
  agent.own_changes += memory().changes() - before;
  return op.kind == OpKind::kRead ? hash_of(op.out, op.bytes) : value;
}

/// Whether an operation of the `rma` class is between its two steps at the word.
bool Execution::halfway(Address word) const {
  return std::find(halfway_.begin(), halfway_.end(), word) != halfway_.end();
}

/// Whether that keeps this operation from happening.
bool Execution::kept_out(const Operation& op, Begun begun) const {
  return begun == Begun::kNot && op.access == OpClass::kRma && halfway(op.at);
}

/// One step of an operation; true when that was its last.
bool Execution::happen(Agent& agent, const Operation& op, Begun& begun, std::uint64_t& value) {
  // Others are kept from a word at which one step of two has been made.
  if (splits(op) || stores_twice(op)) note_words(footprint_.writes, op);
  const Operation write{.kind = OpKind::kStore, .at = op.at, .operand = op.leaves(value)};
  if (begun == Begun::kWritten) {  // once more; stores between the two are undone
    apply(agent, write);
    std::erase(halfway_, op.at);
    begun = Begun::kNot;
    return true;
  }
  if (begun == Begun::kRead) {
    if (memory().load(op.at) != value && !wrong_) {
      if (std::string objection = program_.undoes(agent.number, op); !objection.empty()) {
        wrong_ = std::move(objection);
      }
    }
    apply(agent, write);
    std::erase(halfway_, op.at);
  } else if (!splits(op) || !within_memory(op)) {
    value = apply(agent, op);
  } else {
    value = memory().load(op.at);
    if (op.leaves(value) != value) {
      begun = Begun::kRead;
      halfway_.push_back(op.at);
      return false;
    }
  }
  begun = Begun::kNot;
  if (!is_torn(op)) observe(agent, op, value);
  const bool stored = op.kind != OpKind::kCompareSwap || value == op.expected;
  if (!stores_twice(op) || !stored || wrong_) return true;
  begun = Begun::kWritten;
  halfway_.push_back(op.at);
  return false;
}

}  // namespace keyway::fabric::sim

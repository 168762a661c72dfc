// The stages of an operation after its agent has issued it.
#include "keyway/locks/fabric/sim/timed_engine.h"

namespace keyway::fabric::sim {

void TimedEngine::launch(const Agent& agent, const Operation& op, ResultSlot* result, bool posted) {
  if (free_flights_.empty()) {
    free_flights_.push_back(static_cast<std::uint32_t>(flights_.size()));
    flights_.emplace_back();
  }
  const std::uint32_t id = free_flights_.back();
  free_flights_.pop_back();
  ++alive_;
  Flight& flight = flights_[id];
  flight = {.op = op, .agent = current_, .posted = posted, .result = result};
  stats_.rma[level_of(agent.home, op.at.rank())].counts.add(op);
  events_.add(network_.send(trip_of(flight), now_), What::kArrive, id);
}

/// Takes its place in the line of its target's card. Only the first of a line has an event.
void TimedEngine::arrive(std::uint32_t id) {
  Flight& flight = flights_[id];
  flight.service = network_.serve(trip_of(flight), now_);
  Line& line = lines_[network_.card_of(flight.op.at.rank())];
  if (line.first == kNothing) {
    line.first = line.last = id;
    events_.add(flight.service.ends, What::kServed, id);
  } else {
    flights_[line.last].next = id;
    line.last = id;
  }
}

void TimedEngine::served(std::uint32_t id) {
  Flight& flight = flights_[id];
  Line& line = lines_[network_.card_of(flight.op.at.rank())];
  line.first = flight.next;
  if (line.first != kNothing) {
    events_.add(flights_[line.first].service.ends, What::kServed, line.first);
  }
  const Operation& op = flight.op;
  if (!flight.has_read) {
    flight.value = apply(op);
  } else if (op.kind != OpKind::kCompareSwap || flight.value == op.expected) {
    // Stores by the processors since the read are lost.
    apply({.kind = OpKind::kStore, .at = op.at, .operand = op.leaves(flight.value)});
  }
  const What back = op.kind == OpKind::kRead ? What::kBack : What::kReturn;
  events_.add(network_.answer(trip_of(flight), now_), back, id);
}

void TimedEngine::came_back(std::uint32_t id) {
  const Picos whole = network_.take_in(trip_of(flights_[id]), now_);
  if (whole == now_) return finish(id);
  events_.add(whole, What::kReturn, id);
}

void TimedEngine::finish(std::uint32_t id) {
  const Flight& flight = flights_[id];
  const std::uint32_t number = flight.agent;
  Agent& agent = agents_[number];
  const std::uint32_t rank = flight.op.at.rank();
  const bool posted = flight.posted;
  if (!posted) {
    agent.answer = flight.value;
  } else if (flight.result != nullptr) {
    flight.result->value = flight.value;
  }
  free_flights_.push_back(id);
  --alive_;
  if (!posted) return go_on(number);
  take_off(agent, rank);
  if (agent.flushed == kNothing || is_out(agent, agent.flushed)) return;
  agent.flushed = kNothing;
  go_on(number);
}

void TimedEngine::take_off(Agent& agent, std::uint32_t rank) {
  for (Outstanding& out : agent.outstanding) {
    if (out.rank != rank || --out.operations > 0) continue;
    out = agent.outstanding.back();
    agent.outstanding.pop_back();
    return;
  }
}

// --- memory and its watchers

/// An access of the `cpu` class is about to happen: an atomic of a card that is past its read has
/// seen the word as it is now. (Only the first of the card's line can be.)
void TimedEngine::read_before(const Operation& op) {
  if (op.kind == OpKind::kLoad || op.kind == OpKind::kRead) return;
  const Line& line = lines_[network_.card_of(op.at.rank())];
  if (line.first == kNothing) return;
  Flight& flight = flights_[line.first];
  if (!flight.op.reads_and_writes() || flight.has_read || now_ < flight.service.reads) return;
  const Address at = flight.op.at;
  const std::uint64_t from = op.at.offset() & ~std::uint64_t{7};
  if (at.rank() != op.at.rank() || at.offset() < from || at.offset() >= op.at.offset() + op.bytes) {
    return;
  }
  flight.value = memory().load(at);
  flight.has_read = true;
}

std::uint64_t TimedEngine::apply(const Operation& op) {
  const std::uint64_t changes = memory().changes();
  const std::uint64_t value = memory().apply(op);
  if (memory().changes() == changes || watchers_.empty()) return value;
  const std::uint64_t first = op.at.offset() & ~std::uint64_t{7};
  for (std::uint64_t at = first; at < op.at.offset() + op.bytes; at += 8) {
    const Address word(op.at.rank(), at);
    watchers_.each(word, [&](std::uint32_t agent) {
      events_.add(processors_.notice(now_), What::kLook, agent, agents_[agent].stay);
    });
  }
  return value;
}

std::size_t TimedEngine::level_of(std::uint32_t a, std::uint32_t b) const {
  if (a == b) return topology_.levels();
  std::uint32_t level = topology_.levels();
  while (level > 1 && topology_.element(a, level) != topology_.element(b, level)) --level;
  return level - 1;
}

}  // namespace keyway::fabric::sim

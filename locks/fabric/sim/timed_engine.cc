#include "keyway/locks/fabric/sim/timed_engine.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "keyway/locks/base/check.h"

namespace keyway::fabric::sim {

TimedEngine::TimedEngine(Machine machine, const Topology& topology, std::uint64_t segment_bytes,
                         std::uint64_t seed)
    : Engine(topology.ranks(), segment_bytes),
      machine_(std::move(machine)),
      topology_(topology),
      rng_(seed),
      issue_free_(topology.ranks()),
      service_free_(topology.ranks()) {
  KW_CHECK_MSG(machine_.paths.size() == topology.levels() + 1, "machine",
               "it must have a path for each level and one of a rank to itself");
  stats_.by_level.resize(machine_.paths.size());
}

void TimedEngine::run(const std::vector<std::uint32_t>& homes,
                      const std::function<void(std::uint32_t)>& body) {
  KW_CHECK_MSG(!running_, "run", "the engine runs already");
  agents_.clear();
  agents_.resize(homes.size());
  for (std::uint32_t i = 0; i < homes.size(); ++i) {
    agents_[i].home = homes[i];
    agents_[i].outstanding.resize(topology_.ranks());
    agents_[i].fiber = std::make_unique<FiberContext>([&body, i] { body(i); });
    schedule(now_, What::kResume, i);
  }
  running_ = true;
  while (!events_.empty()) {
    const Event event = events_.top();
    events_.pop();
    now_ = event.at;
    ++stats_.events;
    handle(event);
  }
  running_ = false;
  for (const Agent& agent : agents_) {
    KW_CHECK_MSG(agent.fiber->finished(), "run", "agents wait for what never comes");
  }
  for (const Agent& agent : agents_) {
    if (agent.fiber->failure()) std::rethrow_exception(agent.fiber->failure());
  }
}

void TimedEngine::schedule(double at, What what, std::uint32_t subject, std::uint64_t stay) {
  events_.push({at, order_++, what, subject, stay});
}

void TimedEngine::handle(const Event& event) {
  switch (event.what) {
    case What::kArrive: arrive(event.subject); break;
    case What::kHappen: happen(event.subject); break;
    case What::kReturn: finish(event.subject); break;
    case What::kResume:
      if (agents_[event.subject].stay == event.stay) go_on(agents_[event.subject]);
      break;
    case What::kLook:
      if (agents_[event.subject].stay == event.stay) look(event.subject);
      break;
  }
}

void TimedEngine::go_on(Agent& agent) {
  ++agent.stay;
  agent.fiber->resume();
}

// --- what agents call

std::uint64_t TimedEngine::perform(std::uint32_t number, const Operation& op) {
  if (!running_) return memory().apply(op);
  Agent& agent = agents_[number];
  ++stats_.operations;
  if (op.access == OpClass::kCpu) {
    // The access happens when its time has passed: until then others may come first.
    spend(number, cpu_ns(op));
    return apply(op);
  }
  launch(number, op, nullptr, /*posted=*/false);
  stop(agent);
  return agent.answer;
}

void TimedEngine::post(std::uint32_t number, const Operation& op, ResultSlot* result) {
  if (!running_ || op.access == OpClass::kCpu) {
    const std::uint64_t value = perform(number, op);
    if (result != nullptr) result->value = value;
    return;
  }
  ++stats_.operations;
  ++agents_[number].outstanding[op.at.rank()];
  launch(number, op, result, /*posted=*/true);
}

void TimedEngine::flush(std::uint32_t number, std::uint32_t rank) {
  if (!running_ || agents_[number].outstanding[rank] == 0) return;
  agents_[number].flushed = rank;
  stop(agents_[number]);
  agents_[number].flushed = kNothing;
}

void TimedEngine::spend(std::uint32_t number, double ns) {
  schedule(now_ + ns, What::kResume, number, agents_[number].stay);
  stop(agents_[number]);
}

bool TimedEngine::attempt_failed(std::uint32_t agent, std::uint64_t wait_ns, Deadline deadline) {
  KW_CHECK_MSG(running_, "an attempt that failed while no agent runs", "it would be for ever");
  const std::uint64_t until = deadline.started(now_ns(agent)).absolute_ns();
  if (now_ns(agent) >= until) return false;
  // Without back-off an attempt still follows the last one by a look at the own memory.
  const double pause = wait_ns > 0 ? static_cast<double>(wait_ns) : machine_.cpu.poll_ns;
  spend(agent, std::min(pause, static_cast<double>(until) - now_));
  return true;
}

WaitResult TimedEngine::wait(std::uint32_t number, Address word, PredicateRef predicate,
                             Deadline deadline) {
  KW_CHECK_MSG(running_, "a wait while no agent runs", "it would be for ever");
  Agent& agent = agents_[number];
  const std::uint64_t until = deadline.started(now_ns(number)).absolute_ns();
  if (!is_local(agent, word.rank())) {
    while (true) {
      const std::uint64_t value = perform(number, {.kind = OpKind::kLoad, .at = word});
      if (predicate(value)) return {value, false};
      if (now_ns(number) >= until) return {value, true};
    }
  }
  const std::uint64_t seen = memory().load(word);
  if (predicate(seen)) return {seen, false};
  agent.watched = word;
  agent.predicate = predicate;
  agent.until_ns = until;
  watchers_[word.word()].push_back(number);
  if (deadline.started(0).absolute_ns() != Deadline::never().absolute_ns()) {
    // Not before now: a deadline may have passed, and time does not go back.
    schedule(std::max(now_, static_cast<double>(until)), What::kLook, number, agent.stay);
  }
  stop(agent);
  return {memory().load(word), agent.expired};
}

// --- the way of an operation

std::uint32_t TimedEngine::launch(std::uint32_t number, const Operation& op, ResultSlot* result,
                                  bool posted) {
  std::uint32_t id = static_cast<std::uint32_t>(flights_.size());
  if (free_flights_.empty()) {
    flights_.emplace_back();
  } else {
    id = free_flights_.back();
    free_flights_.pop_back();
  }
  flights_[id] = {op, number, result, 0, posted};
  const std::uint32_t home = agents_[number].home;
  const std::size_t path = path_of(home, op.at.rank());
  ++stats_.by_level[path];
  double& free = issue_free_[home];
  free = std::max(now_, free) + machine_.card.issue_ns;
  const double bytes = op.kind == OpKind::kWrite ? static_cast<double>(op.bytes) : 0;
  const Path& way = machine_.paths[path];
  schedule(free + way.latency_ns + bytes * way.ns_per_byte, What::kArrive, id);
  return id;
}

void TimedEngine::arrive(std::uint32_t id) {
  const Operation& op = flights_[id].op;
  double& free = service_free_[op.at.rank()];
  const double begins = std::max(now_, free);
  stats_.waited_ns += begins - now_;
  ++stats_.served;
  free = begins + service_ns(op);
  schedule(free, What::kHappen, id);
}

void TimedEngine::happen(std::uint32_t id) {
  Flight& flight = flights_[id];
  flight.value = apply(flight.op);
  const Path& way = machine_.paths[path_of(agents_[flight.agent].home, flight.op.at.rank())];
  const double bytes = flight.op.kind == OpKind::kRead ? static_cast<double>(flight.op.bytes) : 0;
  schedule(now_ + way.latency_ns + bytes * way.ns_per_byte, What::kReturn, id);
}

void TimedEngine::finish(std::uint32_t id) {
  const Flight flight = flights_[id];
  free_flights_.push_back(id);
  Agent& agent = agents_[flight.agent];
  if (!flight.posted) {
    agent.answer = flight.value;
    return go_on(agent);
  }
  if (flight.result != nullptr) flight.result->value = flight.value;
  const std::uint32_t rank = flight.op.at.rank();
  if (--agent.outstanding[rank] == 0 && agent.flushed == rank) go_on(agent);
}

std::uint64_t TimedEngine::apply(const Operation& op) {
  const std::uint64_t changes = memory().changes();
  const std::uint64_t value = memory().apply(op);
  if (memory().changes() == changes || watchers_.empty()) return value;
  for (std::uint64_t at = 0; at < op.bytes; at += 8) {
    const auto found = watchers_.find((op.at + at).word());
    if (found == watchers_.end()) continue;
    for (const std::uint32_t agent : found->second) {
      schedule(now_ + machine_.cpu.poll_ns, What::kLook, agent, agents_[agent].stay);
    }
  }
  return value;
}

/// A waiting agent looks at its word: after a change of it, or at its deadline.
void TimedEngine::look(std::uint32_t number) {
  Agent& agent = agents_[number];
  const bool holds = agent.predicate(memory().load(agent.watched));
  agent.expired = !holds && now_ns(number) >= agent.until_ns;
  if (!holds && !agent.expired) return;
  watch_ends(number);
  go_on(agent);
}

void TimedEngine::watch_ends(std::uint32_t number) {
  const auto found = watchers_.find(agents_[number].watched.word());
  std::erase(found->second, number);
  if (found->second.empty()) watchers_.erase(found);
}

// --- costs

std::size_t TimedEngine::path_of(std::uint32_t a, std::uint32_t b) const {
  if (a == b) return machine_.paths.size() - 1;
  std::size_t level = topology_.levels();
  while (level > 1 && topology_.element(a, static_cast<std::uint32_t>(level)) !=
                          topology_.element(b, static_cast<std::uint32_t>(level))) {
    --level;
  }
  return level - 1;
}

double TimedEngine::service_ns(const Operation& op) {
  const Card& card = machine_.card;
  double mean = card.write_ns;
  if (op.reads_and_writes()) mean = card.atomic_ns;
  if (op.kind == OpKind::kLoad || op.kind == OpKind::kRead) mean = card.read_ns;
  return card.random_service ? -std::log(1 - rng_.unit()) * mean : mean;
}

double TimedEngine::cpu_ns(const Operation& op) const {
  const Processor& cpu = machine_.cpu;
  if (!op.is_word()) return cpu.load_ns + static_cast<double>(op.bytes) * cpu.ns_per_byte;
  if (op.reads_and_writes()) return cpu.atomic_ns;
  return op.kind == OpKind::kLoad ? cpu.load_ns : cpu.store_ns;
}

}  // namespace keyway::fabric::sim

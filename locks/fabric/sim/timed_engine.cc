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
  for (std::uint32_t level = 1; level <= topology.levels(); ++level) {
    stats_.rma.push_back({topology.level(level).name, {}});
  }
  stats_.rma.push_back({"self", {}});
  const std::uint32_t nodes = topology.level_named("node");
  one_class_ = machine_.semantics.one_node_is_one_class &&
               (nodes == 0 || topology.level(nodes).elements == 1);
}

void OperationCounts::add(const Operation& op) {
  switch (op.kind) {
    case OpKind::kLoad: ++loads; return;
    case OpKind::kStore: ++stores; return;
    case OpKind::kRead: ++reads; break;
    case OpKind::kWrite: ++writes; break;
    default: ++atomics; return;
  }
  bytes += op.bytes;
}

std::uint64_t TimedStats::operations() const {
  std::uint64_t sum = cpu.operations();
  for (const Level& level : rma) sum += level.counts.operations();
  return sum;
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
  current_ = static_cast<std::uint32_t>(&agent - agents_.data());
  agent.fiber->resume();
  current_ = kNothing;
}

// --- what agents call

TimedEngine::Agent& TimedEngine::caller(std::uint32_t number) {
  KW_DCHECK(number == kCaller || number == current_);
  return agents_[current_];
}

std::uint64_t TimedEngine::perform(std::uint32_t number, const Operation& op) {
  if (!running_) return memory().apply(op);
  Agent& agent = caller(number);
  if (op.access == OpClass::kCpu || one_class_) {
    stats_.cpu.add(op);
    // The access happens when its time has passed: until then others may come first.
    spend(number, cpu_ns(op));
    return apply(op);
  }
  launch(current_, op, nullptr, /*posted=*/false);
  stop(agent);
  return agent.answer;
}

void TimedEngine::post(std::uint32_t number, const Operation& op, ResultSlot* result) {
  if (!running_ || op.access == OpClass::kCpu || one_class_) {
    const std::uint64_t value = perform(number, op);
    if (result != nullptr) result->value = value;
    return;
  }
  ++caller(number).outstanding[op.at.rank()];
  launch(current_, op, result, /*posted=*/true);
}

void TimedEngine::flush(std::uint32_t number, std::uint32_t rank) {
  if (!running_ || caller(number).outstanding[rank] == 0) return;
  Agent& agent = caller(number);
  agent.flushed = rank;
  stop(agent);
  agent.flushed = kNothing;
}

void TimedEngine::spend(std::uint32_t number, double ns) {
  Agent& agent = caller(number);
  schedule(now_ + ns, What::kResume, current_, agent.stay);
  stop(agent);
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
  Agent& agent = caller(number);
  number = current_;
  KW_DCHECK(is_local(agent, word.rank()));
  const std::uint64_t until = deadline.started(now_ns(number)).absolute_ns();
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

WaitResult TimedEngine::wait_remote(std::uint32_t number, Address word, PredicateRef predicate,
                                    BackoffSteps& steps, Deadline deadline) {
  if (one_class_) return wait(number, word, predicate, deadline);
  while (true) {
    const std::uint64_t value = perform(number, {.kind = OpKind::kLoad, .at = word});
    if (predicate(value)) return {value, false};
    deadline = deadline.started(now_ns(number));
    if (!attempt_failed(number, steps.next_ns(), deadline)) return {value, true};
  }
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
  const std::uint32_t target = op.at.rank();
  stats_.rma[level_of(home, target)].counts.add(op);
  double& free = issue_free_[node_of(home)];
  free = std::max(now_, free) + card_of(home, target).issue_ns;
  const double bytes = op.kind == OpKind::kWrite ? static_cast<double>(op.bytes) : 0;
  const Path& way = path_of(home, target);
  schedule(free + way.latency_ns + bytes * way.ns_per_byte, What::kArrive, id);
  return id;
}

void TimedEngine::arrive(std::uint32_t id) {
  const Operation& op = flights_[id].op;
  const Card& card = card_of(agents_[flights_[id].agent].home, op.at.rank());
  double& free = service_free_[node_of(op.at.rank())];
  const double begins = std::max(now_, free);
  stats_.waited_ns += begins - now_;
  ++stats_.served;
  free = begins + service_ns(card, op);
  schedule(free, What::kHappen, id);
}

void TimedEngine::happen(std::uint32_t id) {
  Flight& flight = flights_[id];
  flight.value = apply(flight.op);
  const Path& way = path_of(agents_[flight.agent].home, flight.op.at.rank());
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

std::size_t TimedEngine::level_of(std::uint32_t a, std::uint32_t b) const {
  if (a == b) return topology_.levels();
  std::uint32_t level = topology_.levels();
  while (level > 1 && topology_.element(a, level) != topology_.element(b, level)) --level;
  return level - 1;
}

std::uint32_t TimedEngine::node_of(std::uint32_t rank) const {
  const std::uint32_t level = topology_.level_named("node");
  return level == 0 ? 0 : topology_.element(rank, level);
}

const Path& TimedEngine::path_of(std::uint32_t a, std::uint32_t b) const {
  if (topology_.same_node(a, b)) return machine_.loopback;
  const std::uint32_t level = topology_.level_named("rack");
  const bool near = level != 0 && topology_.element(a, level) == topology_.element(b, level);
  return near ? machine_.rack : machine_.machine;
}

const Card& TimedEngine::card_of(std::uint32_t a, std::uint32_t b) const {
  return topology_.same_node(a, b) ? machine_.loopback_card : machine_.card;
}

double TimedEngine::service_ns(const Card& card, const Operation& op) {
  double mean = card.write_ns;
  if (op.reads_and_writes()) mean = card.atomic_ns;
  if (op.kind == OpKind::kLoad || op.kind == OpKind::kRead) mean = card.read_ns;
  return machine_.semantics.random_service ? -std::log(1 - rng_.unit()) * mean : mean;
}

double TimedEngine::cpu_ns(const Operation& op) const {
  const Processor& cpu = machine_.cpu;
  if (!op.is_word()) return cpu.load_ns + static_cast<double>(op.bytes) * cpu.ns_per_byte;
  if (op.reads_and_writes()) return cpu.atomic_ns;
  return op.kind == OpKind::kLoad ? cpu.load_ns : cpu.store_ns;
}

}  // namespace keyway::fabric::sim

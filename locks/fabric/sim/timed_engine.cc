#include "keyway/locks/fabric/sim/timed_engine.h"

#include <algorithm>
#include <string>
#include <utility>

#include "keyway/locks/base/check.h"

namespace keyway::fabric::sim {

TimedEngine::TimedEngine(Machine machine, const Topology& topology, std::uint64_t segment_bytes,
                         std::uint64_t seed)
    : Engine(topology.ranks(), segment_bytes, Memory::Hashing::kOnDemand),
      machine_(std::move(machine)),
      topology_(topology),
      seed_(seed),
      network_(machine_, topology, seed, stats_),
      processors_(machine_.cpu),
      lines_(network_.cards()) {
  for (std::uint32_t level = 1; level <= topology.levels(); ++level) {
    stats_.rma.push_back({topology.level(level).name, {}});
  }
  stats_.rma.push_back({"self", {}});
  one_class_ = machine_.semantics.one_node_is_one_class && network_.cards() == 1;
  if (!machine_.multicore) return;
  KW_CHECK_MSG(network_.cards() == 1, "machine", "a coherent machine is one node");
  CoherentNode::Host& host = *this;
  node_ = std::make_unique<CoherentNode>(*machine_.multicore, host, memory(), seed);
  one_class_ = true;
}

namespace {

// Gives an agent's hardware thread back when its body ends, however that ends.
struct Leaves {
  CoherentNode* node;
  std::uint32_t agent;
  ~Leaves() {
    if (node != nullptr) node->end(agent);
  }
};

}  // namespace

void TimedEngine::run(const std::vector<std::uint32_t>& homes,
                      const std::function<void(std::uint32_t)>& body) {
  KW_CHECK_MSG(!running_, "run", "the engine runs already");
  const auto count = static_cast<std::uint32_t>(homes.size());
  events_.clear();  // alarms of the last run
  watchers_.reset(count);
  agents_.clear();
  agents_.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    agents_[i].home = homes[i];
    agents_[i].fiber = std::make_unique<FiberContext>([this, &body, i] {
      const Leaves leaves{node_.get(), i};
      body(i);
    });
  }
  begin(count);
  alive_ = count;
  running_ = true;
  while (alive_ > 0 && !events_.empty()) {
    ++stats_.events;
    handle(events_.take());
  }
  running_ = false;
  check_ended();
  for (const Agent& agent : agents_) {
    if (agent.fiber->failure()) std::rethrow_exception(agent.fiber->failure());
  }
}

/// On a coherent node an agent begins when it has a hardware thread.
void TimedEngine::begin(std::uint32_t agents) {
  if (node_) {
    for (const std::uint32_t agent : node_->begin(agents)) resume_at(agent, now_);
    return;
  }
  for (std::uint32_t agent = 0; agent < agents; ++agent) events_.add(now_, What::kResume, agent);
}

void TimedEngine::check_ended() const {
  std::uint32_t waiting = 0;
  for (const Agent& agent : agents_) waiting += agent.fiber->finished() ? 0 : 1;
  if (waiting == 0) return;
  const std::string what = std::to_string(waiting) + " of " + std::to_string(agents_.size()) +
                           " agents wait for ever";
  KW_CHECK_MSG(false, "run", what.c_str());
}

/// Whether an event has lost its reason. Void events do not move time: the run may end before.
bool TimedEngine::is_void(const Event& event) {
  if (event.what() < What::kResume) return false;
  Agent& agent = agents_[event.subject];
  if (event.what() != What::kAlarm) return (agent.stay & EventQueue::kStayMask) != event.stay;
  if (event.at != agent.alarm) return true;  // another alarm, due before, took its place
  if (!agent.watching) agent.alarm = kEndOfTime;
  return !agent.watching;
}

void TimedEngine::handle(const Event& event) {
  if (is_void(event)) return;
  now_ = event.at;
  switch (event.what()) {
    case What::kArrive: arrive(event.subject); break;
    case What::kServed: served(event.subject); break;
    case What::kBack: came_back(event.subject); break;
    case What::kReturn: finish(event.subject); break;
    case What::kResume: go_on(event.subject); break;
    case What::kLook: look(event.subject); break;
    case What::kAlarm: ring(event.subject); break;
  }
}

void TimedEngine::go_on(std::uint32_t number) {
  Agent& agent = agents_[number];
  ++agent.stay;
  current_ = number;
  agent.fiber->resume();
  current_ = kNothing;
  if (agent.fiber->finished()) --alive_;
}

// --- calls of agents

TimedEngine::Agent& TimedEngine::caller([[maybe_unused]] std::uint32_t number) {
  KW_DCHECK(number == kCaller || number == current_);
  return agents_[current_];
}

/// Stops the agent until `then`.
void TimedEngine::pass_until(Agent& agent, Picos then) {
  if (then < events_.next()) {  // no event comes before: no need to leave the fiber
    now_ = then;
    ++stats_.events;
    return;
  }
  events_.add(then, What::kResume, current_, agent.stay);
  agent.fiber->suspend();
}

void TimedEngine::spend(std::uint32_t number, double ns) {
  KW_CHECK_MSG(running_, "spend", "no agent runs");
  Agent& agent = caller(number);
  if (node_) return node_->spend(current_, picos(ns));
  pass_until(agent, now_ + picos(ns));
}

std::uint64_t TimedEngine::by_cpu(Agent& agent, const Operation& op) {
  stats_.cpu.add(op);
  if (node_) return node_->perform(current_, op);
  // The access happens when its time has passed: until then others may come first.
  pass_until(agent, processors_.access(op, now_));
  if (!one_class_) read_before(op);
  return apply(op);
}

std::uint64_t TimedEngine::perform(std::uint32_t number, const Operation& op) {
  if (!running_) return memory().apply(op);
  Agent& agent = caller(number);
  if (is_by_cpu(op)) return by_cpu(agent, op);
  launch(agent, op, nullptr, /*posted=*/false);
  agent.fiber->suspend();
  return agent.answer;
}

void TimedEngine::post(std::uint32_t number, const Operation& op, ResultSlot* result) {
  if (!running_ || is_by_cpu(op)) {
    const std::uint64_t value = perform(number, op);
    if (result != nullptr) result->value = value;
    return;
  }
  Agent& agent = caller(number);
  const std::uint32_t rank = op.at.rank();
  const auto known = std::find_if(agent.outstanding.begin(), agent.outstanding.end(),
                                  [rank](const Outstanding& out) { return out.rank == rank; });
  if (known == agent.outstanding.end()) {
    agent.outstanding.push_back({rank, 1});
  } else {
    ++known->operations;
  }
  launch(agent, op, result, /*posted=*/true);
}

bool TimedEngine::is_out(const Agent& agent, std::uint32_t rank) const {
  if (rank == kEveryRank) return !agent.outstanding.empty();
  return std::any_of(agent.outstanding.begin(), agent.outstanding.end(),
                     [rank](const Outstanding& out) { return out.rank == rank; });
}

void TimedEngine::flush(std::uint32_t number, std::uint32_t rank) {
  if (!running_ || !is_out(caller(number), rank)) return;
  Agent& agent = caller(number);
  agent.flushed = rank;
  agent.fiber->suspend();
}

void TimedEngine::flush_all(std::uint32_t number) { flush(number, kEveryRank); }

/// Free where queue pairs keep their order: cards serve what arrives in turn (N1, N2 of network.h).
void TimedEngine::order(std::uint32_t number, std::uint32_t rank) {
  if (!machine_.semantics.ordered) flush(number, rank);
}

bool TimedEngine::attempt_failed(std::uint32_t number, std::uint64_t wait_ns, Deadline deadline) {
  KW_CHECK_MSG(running_, "an attempt that failed while no agent runs", "it would be for ever");
  Agent& agent = caller(number);
  const Picos until = picos_of_ns(deadline.started(now_ns(number)).absolute_ns());
  if (now_ >= until) return false;
  if (node_) {
    node_->rest(current_, std::min(picos_of_ns(wait_ns), until - now_));
    return true;
  }
  // Without back-off an attempt still follows the last one after a poll of the agent's own memory.
  const Picos pause = wait_ns > 0 ? picos_of_ns(wait_ns) : processors_.poll();
  pass_until(agent, now_ + std::min(std::max<Picos>(pause, 1), until - now_));
  return true;
}

WaitResult TimedEngine::wait(std::uint32_t number, Address word, PredicateRef predicate,
                             Deadline deadline) {
  KW_CHECK_MSG(running_, "a wait while no agent runs", "it would be for ever");
  Agent& agent = caller(number);
  KW_DCHECK(topology_.same_node(agent.home, word.rank()));
  if (node_) {
    const Picos until = picos_of_ns(deadline.started(now_ns(number)).absolute_ns());
    return node_->wait(current_, word, predicate, until);
  }
  const std::uint64_t seen = memory().load(word);
  if (predicate(seen)) return {seen, false};
  agent.until_ns = deadline.started(now_ns(number)).absolute_ns();
  if (now_ns(number) >= agent.until_ns) return {seen, true};
  agent.watched = word;
  agent.predicate = predicate;
  agent.watching = true;
  watchers_.add(current_, word);
  arm(current_);
  agent.fiber->suspend();
  return {memory().load(word), agent.expired};
}

WaitResult TimedEngine::wait_remote(std::uint32_t number, Address word, PredicateRef predicate,
                                    BackoffSteps& steps, Deadline deadline) {
  KW_CHECK_MSG(running_, "a wait while no agent runs", "it would be for ever");
  if (one_class_ && !node_) return wait(number, word, predicate, deadline);
  deadline = deadline.started(now_ns(number));
  while (true) {
    const std::uint64_t value = perform(number, {.kind = OpKind::kLoad, .at = word});
    if (predicate(value)) return {value, false};
    if (!attempt_failed(number, steps.next_ns(), deadline)) return {value, true};
  }
}

// --- waiting agents

/// A waiting agent polls its word: after a change of it, or at its deadline.
void TimedEngine::look(std::uint32_t number) {
  Agent& agent = agents_[number];
  const bool holds = agent.predicate(memory().load(agent.watched));
  agent.expired = !holds && now_ns(number) >= agent.until_ns;
  if (!holds && !agent.expired) return;
  watchers_.remove(number);
  agent.watching = false;
  go_on(number);
}

/// Makes a waiting agent check its deadline in time. An agent has one alarm: if one is due earlier,
/// it sets the next.
void TimedEngine::arm(std::uint32_t number) {
  Agent& agent = agents_[number];
  const Picos until = picos_of_ns(agent.until_ns);
  if (until >= agent.alarm) return;
  agent.alarm = until;
  events_.add(until, What::kAlarm, number);
}

void TimedEngine::ring(std::uint32_t number) {
  agents_[number].alarm = kEndOfTime;
  if (now_ns(number) >= agents_[number].until_ns) return look(number);
  arm(number);
}

}  // namespace keyway::fabric::sim

#include "keyway/locks/fabric/sim/cores.h"

#include <algorithm>
#include <cmath>

#include "keyway/locks/base/check.h"

namespace keyway::fabric::sim {

std::uint32_t placed_on(const MulticoreShape& shape, const Placement& placement,
                        std::uint32_t agent) {
  const std::uint32_t n = agent % shape.threads();
  const bool last = placement.siblings_last;
  const std::uint32_t sibling = last ? n / shape.cores() : n % shape.threads_per_core;
  std::uint32_t core = last ? n % shape.cores() : n / shape.threads_per_core;
  if (placement.scatter) {
    const std::uint32_t socket = core % shape.sockets;
    const std::uint32_t in_socket = core / shape.sockets;
    const std::uint32_t numa = in_socket % shape.numa_per_socket;
    const std::uint32_t in_numa = in_socket / shape.numa_per_socket;
    core = (socket * shape.numa_per_socket + numa) * shape.cores_per_numa + in_numa;
  }
  return core * shape.threads_per_core + sibling;
}

std::vector<std::uint32_t> Cores::begin(std::uint32_t n, double now) {
  agents_.assign(n, {});
  threads_.assign(shape_.threads(), {});
  std::vector<std::uint32_t> first;
  for (std::uint32_t agent = 0; agent < n; ++agent) {
    agents_[agent].thread = placed_on(shape_, placement_, agent);
    Thread& thread = threads_[agents_[agent].thread];
    ++thread.live;
    if (thread.running == kNobody) {
      run(thread, agent, now);
      first.push_back(agent);
    } else {
      thread.queue.push_back(agent);
    }
  }
  return first;
}

Cores::Turn Cores::run(Thread& thread, std::uint32_t agent, double from) {
  KW_CHECK(thread.running == kNobody);  // K1
  thread.running = agent;
  thread.quantum_ends = from + costs_.quantum_ns;
  agents_[agent].state = State::kRuns;
  return {agent, from};
}

bool Cores::must_leave(std::uint32_t agent, double now) {
  Thread& thread = threads_[thread_of(agent)];
  if (now < thread.quantum_ends) return false;
  if (!thread.queue.empty()) return true;
  thread.quantum_ends = now + costs_.quantum_ns;
  return false;
}

Cores::Turn Cores::leave(std::uint32_t agent, double now, Leave why) {
  Thread& thread = threads_[thread_of(agent)];
  KW_CHECK(thread.running == agent);
  thread.running = kNobody;
  switch (why) {
    case Leave::kReady: agents_[agent].state = State::kReady; break;
    case Leave::kPoll: agents_[agent].state = State::kPolls; break;
    case Leave::kSleep: agents_[agent].state = State::kSleeps; break;
    case Leave::kEnd:
      agents_[agent].state = State::kEnded;
      --thread.live;
      break;
  }
  agents_[agent].ready_at = now;
  if (why == Leave::kReady || why == Leave::kPoll) thread.queue.push_back(agent);
  return next(thread, agent, now);
}

/// The first of the queue that is ready; a polling agent polls without success on its turn and goes
/// to the tail.
Cores::Turn Cores::next(Thread& thread, std::uint32_t left, double now) {
  double from = now;
  for (std::size_t turns = thread.queue.size(); turns > 0; --turns) {
    const std::uint32_t agent = thread.queue.front();
    thread.queue.pop_front();
    if (agents_[agent].state == State::kReady) {
      const bool alone = agent == left && from == now;
      if (!alone) ++switches_;
      from += alone ? costs_.yield_ns : costs_.switch_ns;
      return run(thread, agent, std::max(from, agents_[agent].ready_at));
    }
    if (agent != left) {
      from += costs_.switch_ns;
      ++switches_;
    }
    thread.queue.push_back(agent);
  }
  thread.all_poll_since = now;
  return {};
}

Cores::Turn Cores::changed(std::uint32_t agent, double now) {
  Thread& thread = threads_[thread_of(agent)];
  Agent& who = agents_[agent];
  KW_CHECK(who.state == State::kPolls || who.state == State::kSleeps);
  const bool polled = who.state == State::kPolls;
  who.state = State::kReady;
  who.ready_at = polled ? now : now + costs_.wake_ns;
  if (polled) return thread.running == kNobody ? poll_turn(thread, agent, now) : Turn{};
  if (thread.running == kNobody) return run(thread, agent, who.ready_at);  // K3
  thread.queue.push_back(agent);                                           // K2
  return {};
}

/// All on this thread poll, in the order of the queue: the agent's next turn from `now` on.
Cores::Turn Cores::poll_turn(Thread& thread, std::uint32_t agent, double now) {
  const auto place = std::find(thread.queue.begin(), thread.queue.end(), agent);
  KW_CHECK(place != thread.queue.end());  // K2
  const double agents = static_cast<double>(thread.queue.size());
  const double turn_ns = thread.queue.size() == 1 ? costs_.yield_ns : costs_.switch_ns;
  const double first =
      thread.all_poll_since + turn_ns * static_cast<double>(place - thread.queue.begin() + 1);
  const double round_ns = turn_ns * agents;
  const double rounds = round_ns > 0 ? std::max(0.0, std::ceil((now - first) / round_ns)) : 0;
  std::rotate(thread.queue.begin(), place, thread.queue.end());
  thread.queue.pop_front();
  if (!thread.queue.empty()) ++switches_;
  return run(thread, agent, std::max(now, first + rounds * round_ns));
}

}  // namespace keyway::fabric::sim

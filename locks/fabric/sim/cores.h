// Cores: the schedule of agents on hardware threads, with more agents than threads.
//
// *What.* Agents are pinned to hardware threads in the order of their numbers, by a Placement; with
// more agents than threads they start over. A thread runs one agent at a time and keeps the others
// in a queue:
//   - an agent that yields, or at the end of its quantum while others queue, goes to the tail, and
//     the first of the queue runs switch_ns later; a yield with an empty queue takes yield_ns;
//   - an agent that polls yields between its polls. The polls change nothing, so they are not
//     simulated: a turn without success costs the next agent another switch_ns. On a thread with
//     polling agents only they take turns, switch_ns each (yield_ns for a single one), and an agent
//     sees a change at its next turn;
//   - an agent that sleeps leaves the queue. After it is woken, it is ready wake_ns later and must
//     get the thread.
// *Limits.* Agents do not move between threads, all have one priority, and a woken agent does not
// preempt the running one. Siblings of one core do not slow each other down.
// *Thread safety.* None: one thread simulates. No fibers and no clock: the caller passes the time.
// *Invariants.* K1: a thread runs at most one agent. K2: every ready agent is in its thread's
// queue, or runs. K3: a thread does not stay without a running agent while one is ready.
// *Source.* Round robin with a quantum, and a yield that goes to the tail: sched_yield(2) under
// SCHED_RR; Linux' default scheduler may select another agent. The costs of futexes: Amer et al.
// (TOPC), section 4.1.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "keyway/locks/fabric/sim/multicore.h"

namespace keyway::fabric::sim {

/// The hardware thread of the n-th agent.
std::uint32_t placed_on(const MulticoreShape& shape, const Placement& placement,
                        std::uint32_t agent);

class Cores {
 public:
  static constexpr std::uint32_t kNobody = ~0u;
  /// The next agent on a hardware thread, and its start time.
  struct Turn {
    std::uint32_t agent = kNobody;
    double from = 0;
  };
  enum class Leave : std::uint8_t {
    kReady,  // it could continue at once: its quantum has ended, or it has yielded
    kPoll,   // it yields until changed()
    kSleep,  // it sleeps until changed()
    kEnd,    // for ever
  };

  Cores(const MulticoreShape& shape, const Placement& placement, const CoreCosts& costs)
      : shape_(shape), placement_(placement), costs_(costs) {}

  /// Places agents 0 .. n - 1; returns those that run from `now` on. The others queue.
  std::vector<std::uint32_t> begin(std::uint32_t n, double now);

  std::uint32_t thread_of(std::uint32_t agent) const { return agents_[agent].thread; }
  bool runs(std::uint32_t agent) const { return threads_[thread_of(agent)].running == agent; }
  /// Whether other agents live on the agent's thread.
  bool shares(std::uint32_t agent) const { return threads_[thread_of(agent)].live > 1; }
  /// When the running agent's quantum ends; only for an agent that shares its thread.
  double quantum_ends(std::uint32_t agent) const { return threads_[thread_of(agent)].quantum_ends; }
  /// Whether the running agent must leave: its quantum has ended and others queue. Starts the next
  /// quantum if none do.
  bool must_leave(std::uint32_t agent, double now);
  /// The running agent leaves. The turn that follows may be its own.
  Turn leave(std::uint32_t agent, double now, Leave why);
  /// A polling or sleeping agent has a change to see from `now` on. Returns its turn, or none if
  /// another runs: then it queues.
  Turn changed(std::uint32_t agent, double now);

  std::uint64_t switches() const { return switches_; }

 private:
  enum class State : std::uint8_t { kRuns, kReady, kPolls, kSleeps, kEnded };
  struct Agent {
    std::uint32_t thread = 0;
    State state = State::kReady;
    double ready_at = 0;
  };
  struct Thread {
    std::uint32_t running = kNobody;
    std::uint32_t live = 0;
    double quantum_ends = 0;
    double all_poll_since = 0;        // while no agent runs
    std::deque<std::uint32_t> queue;  // ready or polling
  };

  Turn run(Thread& thread, std::uint32_t agent, double from);
  Turn next(Thread& thread, std::uint32_t left, double now);
  Turn poll_turn(Thread& thread, std::uint32_t agent, double now);

  MulticoreShape shape_;
  Placement placement_;
  CoreCosts costs_;
  std::vector<Agent> agents_;
  std::vector<Thread> threads_;
  std::uint64_t switches_ = 0;
};

}  // namespace keyway::fabric::sim

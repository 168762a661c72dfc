// Runs the agents of this process as threads, on the fabrics of real memory.
//
// *What.* A thread for each agent. Warm-up and measured part are kept apart by a barrier of all
// agents of the job.
// *Thread safety.* A call of run_threads() is one thread's; it starts and joins its own.
#pragma once

#include <barrier>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "benches/all.h"
#include "keyway/locks/distributed/lock_agent.h"
#include "measured.h"
#include "pin.h"
#include "work.h"
#include "worker.h"

namespace keyway::lockbench {

/// The host of an agent that is a thread. Grants are ordered by the host's clock: a holder reads it
/// while no other agent can be granted, so the order of exclusive grants is right.
class ThreadHost {
 public:
  void work(std::uint64_t ns) { keep_busy(ns); }
  std::uint64_t order(std::uint64_t now_ns) { return now_ns; }
  bool entered(std::uint32_t, bool) { return false; }  // a check would change the measurement
  void left(std::uint32_t, bool) {}
  /// Only a lock that lost an agent takes this long.
  Deadline deadline() { return Deadline::within(std::chrono::seconds(60)); }
};

/// Whether threads are pinned to the cores in turn, or left where the launcher has put the process.
enum class Pinning { kInTurn, kAsLaunched };

namespace detail {

template <class L, class E>
struct ThreadAgent {
  template <class Inner>
  ThreadAgent(Inner endpoint, const Plan& plan, const LockTable& table, const L& lock,
              std::uint32_t number)
      : ep(std::move(endpoint)),
        agent(ep, table.nodes()),
        worker(plan, table, lock, agent, host, number, latencies) {}

  E ep;
  locks::LockAgent<E> agent;
  ThreadHost host;
  Latencies latencies;
  Worker<L, E, ThreadHost> worker;
};

}  // namespace detail

/// Runs agents first .. first + plan.threads * homes - 1, `plan.threads` at each rank from
/// `first_rank` on. `barrier`() is called by one thread while all others of this process wait: if
/// agents of other processes take part, it is their barrier.
template <class E, class L, class Fabric, class Barrier>
Result<Team> run_threads(const Plan& plan, const LockTable& table, const L& lock, Fabric& fabric,
                         std::uint32_t first_rank, std::uint32_t homes, Pinning pinning,
                         const Barrier& barrier) {
  using Agent = detail::ThreadAgent<L, E>;
  std::vector<std::unique_ptr<Agent>> agents;
  for (std::uint32_t i = 0; i < homes * plan.threads; ++i) {
    auto endpoint = fabric.endpoint(first_rank + i / plan.threads);
    if (!endpoint.ok()) return endpoint.status();
    agents.push_back(std::make_unique<Agent>(std::move(*endpoint), plan, table, lock,
                                             first_rank * plan.threads + i));
  }
  std::barrier together(static_cast<std::ptrdiff_t>(agents.size()), [&]() noexcept { barrier(); });
  const auto body = [&](std::uint32_t i) {
    if (pinning == Pinning::kInTurn) pin_to_core(i);
    Agent& me = *agents[i];
    together.arrive_and_wait();
    me.worker.warm_up();
    together.arrive_and_wait();
    with_bench(plan.options.bench, [&](auto bench) { me.worker.measure(bench); });
    together.arrive_and_wait();
  };
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t i = 0; i < agents.size(); ++i) threads.emplace_back(body, i);
  }
  Team team;
  for (auto& agent : agents) {
    team.agents.push_back(agent->worker.take_result());
    team.latencies.merge(agent->latencies);
  }
  return team;
}

}  // namespace keyway::lockbench

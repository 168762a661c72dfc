// Runs the agents of a simulated machine as fibers, in virtual time.
//
// *What.* Warm-up and measured part are two runs of the fabric, so the barrier between them takes
// no time. Inside records, outside of virtual time, which agents are inside which lock: an agent is
// never interrupted between a grant and its record, so every overlap is detected, at no cost in
// virtual time.
// *Thread safety.* None: one thread simulates.
#pragma once

#include <memory>
#include <vector>

#include "benches/all.h"
#include "keyway/locks/distributed/lock_agent.h"
#include "keyway/locks/fabric/sim/sim_fabric.h"
#include "measured.h"
#include "worker.h"

namespace keyway::lockbench {

/// State that the agents of one simulated run share.
class Inside {
 public:
  explicit Inside(std::uint32_t locks) : locks_(locks) {}

  std::uint64_t next_order() { return ++order_; }
  /// False if an agent is inside that excludes this one.
  bool enter(std::uint32_t lock, bool exclusive) {
    Lock& at = locks_[lock];
    const bool free = at.writers == 0 && (!exclusive || at.readers == 0);
    ++(exclusive ? at.writers : at.readers);
    return free;
  }
  void leave(std::uint32_t lock, bool exclusive) {
    --(exclusive ? locks_[lock].writers : locks_[lock].readers);
  }

 private:
  struct Lock {
    std::uint32_t readers = 0;
    std::uint32_t writers = 0;
  };
  std::vector<Lock> locks_;
  std::uint64_t order_ = 0;
};

/// The host of an agent that is a fiber. Its order is that of virtual time, ties included.
class FiberHost {
 public:
  FiberHost(fabric::SimFabric& fabric, Inside& inside, std::uint32_t number)
      : fabric_(fabric), inside_(inside), number_(number) {}

  void work(std::uint64_t ns) { fabric_.spend(number_, static_cast<double>(ns)); }
  std::uint64_t order(std::uint64_t) { return inside_.next_order(); }
  bool entered(std::uint32_t lock, bool exclusive) { return !inside_.enter(lock, exclusive); }
  void left(std::uint32_t lock, bool exclusive) { inside_.leave(lock, exclusive); }
  /// The engine reports when no agent can continue.
  Deadline deadline() { return Deadline::never(); }

 private:
  fabric::SimFabric& fabric_;
  Inside& inside_;
  std::uint32_t number_;
};

template <class E, class L>
Result<Team> run_fibers(const Plan& plan, const LockTable& table, const L& lock,
                        fabric::SimFabric& fabric) {
  struct Agent {
    Agent(fabric::SimEndpoint endpoint, const Plan& p, const LockTable& t, const L& l,
          fabric::SimFabric& f, Inside& inside, std::uint32_t number, Latencies& latencies)
        : ep(std::move(endpoint)),
          agent(ep, t.nodes()),
          host(f, inside, number),
          worker(p, t, l, agent, host, number, latencies) {}
    E ep;
    locks::LockAgent<E> agent;
    FiberHost host;
    Worker<L, E, FiberHost> worker;
  };
  Team team;
  Inside inside(table.size());
  std::vector<std::unique_ptr<Agent>> agents;
  std::vector<std::uint32_t> homes;
  for (std::uint32_t i = 0; i < plan.agents(); ++i) {
    homes.push_back(i / plan.threads);
    auto endpoint = fabric.endpoint(homes.back());
    if (!endpoint.ok()) return endpoint.status();
    agents.push_back(std::make_unique<Agent>(std::move(*endpoint), plan, table, lock, fabric,
                                             inside, i, team.latencies));
  }
  fabric.run(homes, [&](std::uint32_t i) { agents[i]->worker.warm_up(); });
  with_bench(plan.options.bench, [&](auto bench) {
    fabric.run(homes, [&](std::uint32_t i) { agents[i]->worker.measure(bench); });
  });
  for (auto& agent : agents) team.agents.push_back(agent->worker.take_result());
  return team;
}

}  // namespace keyway::lockbench

// World: how a check gets its ranks and runs its agents. One world per fabric and way of running.
//
// A world is a class with
//   using Fabric                         what makes endpoints
//   World(shape, setting)                opens the fabric; `ranks` for the plan
//   run_agents(n, body)                  runs body(0) .. body(n - 1) at the same time
//   agents_here(agents)                  the agents that this process runs
//   agree(outcome)                       one outcome for all processes; everybody is done after it
//   static constexpr kName               as in the tests' names
// A new fabric brings a world and gets the whole suite (lock_conformance.h).
#pragma once

#include <mutex>
#include <thread>
#include <vector>

#include "keyway/locks/fabric/fiber.h"
#include "tests/conformance/check_agent.h"

namespace keyway::conformance {

/// Agents as threads.
struct Threads {
  template <class Body>
  static void run_agents(std::size_t n, Body&& body) {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < n; ++i) threads.emplace_back([&body, i] { body(i); });
  }
};

/// Agents as fibers of the calling thread.
struct Fibers {
  template <class Body>
  static void run_agents(std::size_t n, Body&& body) {
    fabric::run_fibers(n, [&body](std::size_t i) { body(i); });
  }
};

/// A world with all ranks in this process.
template <class F, class Runner>
class InProcess : public Runner {
 public:
  using Fabric = F;

  InProcess(const Shape& shape, const Setting& setting)
      : plan_(Plan::of(shape, shape.ranks)), fabric_(open(plan_, setting)) {}

  const Plan& plan() const { return plan_; }
  Fabric& fabric() { return fabric_; }
  static std::vector<std::uint32_t> agents_here(std::uint32_t agents) {
    std::vector<std::uint32_t> all(agents);
    for (std::uint32_t i = 0; i < agents; ++i) all[i] = i;
    return all;
  }
  static Outcome agree(Outcome outcome) { return outcome; }

 private:
  static Fabric open(const Plan& plan, const Setting& setting) {
    typename Fabric::Options options;
    options.ranks = plan.ranks;
    options.segment_bytes = plan.segment_bytes;
    options.agents_per_rank = plan.agents_per_rank;
    if constexpr (requires { options.seed; }) options.seed = setting.seed;
    return std::move(*Fabric::create(options));
  }

  Plan plan_;
  Fabric fabric_;
};

/// Runs `body(agent)` for every agent of the shape on a fresh world; the first thing that any of
/// them found broken, if anything.
template <class World, class Body>
Outcome run_check(const Shape& shape, const Setting& setting, Body&& body) {
  World world(shape, setting);
  const auto here = world.agents_here(shape.agents);
  std::mutex mutex;
  Outcome first;  // guarded by mutex
  world.run_agents(here.size(), [&](std::size_t i) {
    CheckAgent agent(world.fabric(), world.plan(), shape, setting, here[i]);
    try {
      agent.arrive_and_wait();
      body(agent);
    } catch (const GaveUp&) {
      return;  // the agent that made us give up has reported
    } catch (const std::exception& broken) {
      {
        const std::lock_guard guard(mutex);
        if (!first) first = broken.what();
      }
      agent.report_failure();
    }
  });
  return world.agree(std::move(first));
}

}  // namespace keyway::conformance

// The world of the simulated machine: agents in virtual time, the order of events by the seed.
//
// *What.* Two nodes of two ranks each, so that agents meet on one rank's memory, on one node's and
// across nodes. Every operation is delayed by up to several times its duration, so that posted ones
// overtake one another. Deadlines and delays pass in virtual time; nothing here reads the host's
// clock, so a seed replays a failure on every build.
#pragma once

#include <numeric>

#include "keyway/locks/fabric/sim/sim_fabric.h"
#include "tests/conformance/world.h"
#include "tests/support/shaken_machine.h"

namespace keyway::conformance {

class Simulated {
 public:
  using Fabric = fabric::SimFabric;
  static constexpr std::string_view kName = "sim";
  static constexpr std::uint32_t kRanks = 4;
  static constexpr std::uint32_t kRanksPerNode = 2;

  Simulated(const Shape& shape, const Setting& setting)
      : plan_(Plan::of(shape, kRanks)), fabric_(open(plan_, setting)) {}

  const Plan& plan() const { return plan_; }
  Fabric& fabric() { return fabric_; }
  template <class Body>
  void run_agents(std::size_t n, Body&& body) {
    std::vector<std::uint32_t> homes(n);
    for (std::uint32_t i = 0; i < n; ++i) homes[i] = i % kRanks;
    fabric_.run(homes, [&](std::uint32_t i) { body(i); });
  }
  static std::vector<std::uint32_t> agents_here(std::uint32_t agents) {
    std::vector<std::uint32_t> all(agents);
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  static Outcome agree(Outcome outcome) { return outcome; }

 private:
  static constexpr double kJitterNs = 5000;

  static Fabric open(const Plan& plan, const Setting& setting) {
    return std::move(*Fabric::create({.machine = test::shaken_machine(kRanksPerNode, kJitterNs),
                                      .ranks = plan.ranks,
                                      .segment_bytes = plan.segment_bytes,
                                      .agents_per_rank = plan.agents_per_rank,
                                      .seed = setting.seed}));
  }

  Plan plan_;
  Fabric fabric_;
};

}  // namespace keyway::conformance

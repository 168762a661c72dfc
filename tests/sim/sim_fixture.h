// SimFixture: a small simulated machine with figures that are easy to add up, and agents made of
// lambdas.
#pragma once

#include <functional>
#include <vector>

#include "keyway/locks/base/topology.h"
#include "keyway/locks/fabric/segment.h"
#include "keyway/locks/fabric/sim/sim_endpoint.h"
#include "keyway/locks/fabric/sim/timed_engine.h"

namespace keyway::test {

/// A card's figures for loopback are its own, and no two figures are alike.
inline fabric::sim::Machine plain_machine() {
  return {.machine = {.latency_ns = 1000, .ns_per_byte = 0.5},
          .rack = {.latency_ns = 700, .ns_per_byte = 0.25},
          .loopback = {.latency_ns = 100},
          .card = {.issue_ns = 40, .atomic_ns = 200, .read_ns = 60, .write_ns = 50},
          .loopback_card = {.issue_ns = 45, .atomic_ns = 250, .read_ns = 65, .write_ns = 55},
          .cpu = {.load_ns = 2, .store_ns = 3, .atomic_ns = 20, .ns_per_byte = 0.1, .poll_ns = 70}};
}

/// A word of a rank.
inline fabric::Address word_of(std::uint32_t rank, std::uint32_t k = 0) {
  return {rank, fabric::kReservedBytes + 8 * k};
}

class SimFixture {
 public:
  struct Part {
    std::uint32_t home;
    std::function<void(fabric::SimEndpoint&)> body;
  };

  SimFixture(fabric::sim::Machine machine, Topology topology, std::uint64_t seed = 1)
      : topology_(std::move(topology)),
        engine_(std::move(machine), topology_, fabric::kReservedBytes + 4096, seed) {}
  /// Ranks on the nodes given.
  SimFixture(fabric::sim::Machine machine, const std::vector<std::uint32_t>& nodes,
             std::uint64_t seed = 1)
      : SimFixture(std::move(machine), Topology::from_nodes(nodes), seed) {}

  /// Runs the parts at once; the virtual time at which all had ended.
  double run(const std::vector<Part>& parts) {
    std::vector<std::uint32_t> homes;
    for (const Part& part : parts) homes.push_back(part.home);
    engine_.run(homes, [&](std::uint32_t i) {
      fabric::SimEndpoint ep(engine_, i, {homes[i], i}, topology_);
      parts[i].body(ep);
    });
    return engine_.time_ns();
  }
  /// From a running part: lets virtual time pass.
  void spend(double ns) { engine_.spend(fabric::sim::Engine::kCaller, ns); }
  std::uint64_t word(fabric::Address a) { return engine_.memory().load(a); }
  fabric::sim::TimedEngine& engine() { return engine_; }
  const fabric::sim::TimedStats& stats() const { return engine_.stats(); }

 private:
  Topology topology_;
  fabric::sim::TimedEngine engine_;
};

}  // namespace keyway::test

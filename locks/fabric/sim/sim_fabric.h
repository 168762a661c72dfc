// The sim fabric: ranks of a simulated machine, with agents that run in virtual time.
//
// *What.* SimFabric is to sim::TimedEngine what ShmFabric is to memory: it owns the segments and
// makes endpoints. run() runs agents as fibers; outside of it operations happen at once and take no
// time, for the setup of a lock or a store and for checks afterwards. An endpoint acts for the
// agent that calls it; the agent's home must be the endpoint's rank. So a body may make its own
// with endpoint(home), or take one that was made before.
// *Thread safety.* None: one thread simulates. The fabric outlives its endpoints.
// *Invariants.* E1..E6 of endpoint.h, in the order that virtual time gives.
// *Source.* Design section 8.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "keyway/locks/base/status.h"
#include "keyway/locks/base/topology.h"
#include "keyway/locks/fabric/agent_slots.h"
#include "keyway/locks/fabric/segment.h"
#include "keyway/locks/fabric/sim/machine.h"
#include "keyway/locks/fabric/sim/sim_endpoint.h"
#include "keyway/locks/fabric/sim/timed_engine.h"

namespace keyway::fabric {

class SimFabric {
 public:
  using Endpoint = SimEndpoint;

  struct Options {
    sim::Machine machine;  // costs and shape
    std::uint32_t ranks = 1;
    std::uint64_t segment_bytes = 0;  // SegmentLayout::size()
    std::uint32_t agents_per_rank = kDefaultAgentsPerRank;
    std::uint64_t seed = 1;
    std::string topology;  // Topology::override_with; "" is the machine's own shape
  };

  /// Segments are zeroed. Fails when an option is out of bounds or the machine contradicts itself.
  static Result<SimFabric> create(const Options& options);
  SimFabric(SimFabric&&) noexcept = default;
  SimFabric& operator=(SimFabric&&) noexcept = default;

  /// An endpoint for a new agent with home `rank`.
  Result<SimEndpoint> endpoint(std::uint32_t rank);

  /// Runs body(0) .. body(n - 1) as fibers at once, body i for an agent with home homes[i], until
  /// all have returned. Virtual time continues. Rethrows an exception of a body.
  void run(const std::vector<std::uint32_t>& homes, const std::function<void(std::uint32_t)>& body);
  /// From a running agent: local work of this many virtual ns.
  void spend(std::uint32_t agent, double ns) { engine_->spend(agent, ns); }

  double time_ns() const { return engine_->time_ns(); }
  const sim::TimedStats& stats() const { return engine_->stats(); }
  const sim::Machine& machine() const { return engine_->machine(); }
  /// The hash of all segments: equal for two runs that did the same.
  std::uint64_t memory_hash() const { return engine_->memory().hash(); }

  std::uint32_t ranks() const { return topology_->ranks(); }
  /// The home rank of a program's agents by default.
  std::uint32_t rank() const { return 0; }
  const Topology& topology() const { return *topology_; }
  std::uint64_t segment_bytes() const { return segment_bytes_; }

 private:
  SimFabric() = default;

  std::unique_ptr<Topology> topology_;
  std::unique_ptr<sim::TimedEngine> engine_;
  std::vector<std::unique_ptr<AgentSlots>> slots_;
  std::uint64_t segment_bytes_ = 0;
};

}  // namespace keyway::fabric

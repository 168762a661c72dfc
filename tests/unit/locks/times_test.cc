// LockTimes: which waits and holds are timed, and that they are what the clock says.
#include <catch2/catch.hpp>

#include "keyway/locks/distributed/any_lock.h"
#include "keyway/locks/distributed/lock_agent.h"
#include "keyway/locks/fabric/sim/machine_file.h"
#include "keyway/locks/fabric/sim/sim_fabric.h"
#include "keyway/workloads/machine_files.h"

namespace keyway::locks {
namespace {

using fabric::SimEndpoint;
using fabric::SimFabric;

constexpr std::uint64_t kHoldNs = 10'000;

// Two agents on two nodes take one lock a given number of times each, and hold it for a known time.
void take_turns(std::uint32_t every, std::uint32_t rounds, std::vector<LockTimes>& times) {
  fabric::SegmentLayout layout;
  const std::uint64_t line = layout.reserve(kLockLineBytes);
  const auto nodes = NodeRegion::reserve(layout, 1, 4);
  SimFabric::Options options;
  options.machine = *fabric::sim::parse_machine(workloads::machine_text("piz-daint"));
  options.ranks = 2;
  options.segment_bytes = layout.size();
  options.agents_per_rank = 1;
  options.topology = "nodes=2";
  auto fabric = *SimFabric::create(options);
  const auto lock = *AnyLock::make("d-mcs");
  times.assign(2, LockTimes(every));
  fabric.run({0, 1}, [&](std::uint32_t me) {
    SimEndpoint ep = *fabric.endpoint(me);
    LockAgent<SimEndpoint> agent(ep, nodes);
    agent.times = &times[me];
    const LockSite site{.line = {0, line}, .group = {}};
    for (std::uint32_t i = 0; i < rounds; ++i) {
      auto grant = *lock.acquire(agent, site, Mode::kWrite, Deadline::never());
      fabric.spend(me, kHoldNs);
      lock.release(agent, site, grant);
    }
  });
}

}  // namespace

TEST_CASE("each n-th wait and hold is timed, by the fabric's clock") {
  std::vector<LockTimes> times;
  take_turns(1, 12, times);
  for (const LockTimes& of : times) {
    CHECK(of.wait_ns.count() == 12);
    CHECK(of.hold_ns.count() == 12);
    CHECK(of.hold_ns.min() >= kHoldNs);
    CHECK(of.hold_ns.max() < 2 * kHoldNs);            // the release is quicker than that
    CHECK(of.wait_ns.percentile(50) >= kHoldNs / 2);  // the other one held it meanwhile
  }
  take_turns(5, 12, times);
  CHECK(times[0].wait_ns.count() == 2);
  CHECK(times[0].hold_ns.count() == 2);
}

}  // namespace keyway::locks

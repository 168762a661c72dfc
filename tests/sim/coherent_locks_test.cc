// Locks on a coherent node in virtual time: requirements for every kind, and one known shape.
#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

#include "keyway/locks/distributed/any_lock.h"
#include "keyway/locks/distributed/lock_agent.h"
#include "keyway/locks/fabric/segment.h"
#include "keyway/locks/fabric/sim/machine_file.h"
#include "keyway/locks/fabric/sim/sim_fabric.h"
#include "keyway/workloads/machine_files.h"

using namespace keyway;
using fabric::cpu;
using fabric::SimEndpoint;
using fabric::SimFabric;
using namespace fabric::sim;

namespace {

#if defined(KEYWAY_SIM_SMALL)
constexpr std::uint32_t kAcquires = 10;
#else
constexpr std::uint32_t kAcquires = 200;
#endif

Machine from_file(std::string_view name) { return *parse_machine(workloads::machine_text(name)); }

struct Contest {
  double time_ns = 0;
  std::uint64_t events = 0;
  std::uint64_t counter = 0;
  std::uint64_t hash = 0;

  double per_second(std::uint32_t agents) const { return 1e9 * agents * kAcquires / time_ns; }
};

// Agents of one node that all increment one record, by a load and a store under one lock, and take
// their fencing token: work on another line than the lock's, and on the lock's.
Contest contest(const Machine& machine, const char* kind, std::uint32_t agents,
                std::uint64_t seed) {
  fabric::SegmentLayout layout;
  const std::uint64_t group = layout.reserve(locks::kLockLineBytes);
  const std::uint64_t line = layout.reserve(locks::kLockLineBytes);
  const std::uint64_t record = layout.reserve(fabric::kCacheLine);
  const auto nodes = locks::NodeRegion::reserve(layout, agents, 2);
  SimFabric::Options options;
  options.machine = machine;
  options.segment_bytes = layout.size();
  options.agents_per_rank = agents;
  options.seed = seed;
  auto fabric = *SimFabric::create(options);
  const auto lock = *locks::AnyLock::make(kind);
  fabric.run(std::vector<std::uint32_t>(agents, 0), [&](std::uint32_t) {
    SimEndpoint ep = *fabric.endpoint(0);
    locks::LockAgent<SimEndpoint> agent(ep, nodes);
    const locks::LockSite site{.line = {0, line}, .group = {0, group}};
    for (std::uint32_t i = 0; i < kAcquires; ++i) {
      auto grant = lock.acquire(agent, site, locks::Mode::kWrite, Deadline::never());
      const std::uint64_t seen = ep.load(cpu, {0, record});
      ep.store(cpu, {0, record}, seen + 1);
      locks::fencing_token(agent, site, *grant);
      lock.release(agent, site, *grant);
    }
  });
  std::uint64_t counter = 0;
  std::memcpy(&counter, fabric.endpoint(0)->view({0, record}), sizeof counter);
  return {fabric.time_ns(), fabric.stats().events, counter, fabric.memory_hash()};
}

const std::vector<const char*> kKinds = {"fompi-spin", "fompi-rw", "gbh", "gbh:lockall=off",
                                         "d-mcs"};

}  // namespace

TEST_CASE("coherent: no lock loses an update on the Skylake node, and one seed is one run") {
  const Machine skylake = from_file("skylake");
  for (const char* kind : kKinds) {
    CAPTURE(kind);
    const Contest once = contest(skylake, kind, 24, 3);
    const Contest again = contest(skylake, kind, 24, 3);
    CHECK(once.counter == 24 * kAcquires);
    CHECK(once.time_ns == again.time_ns);
    CHECK(once.events == again.events);
    CHECK(once.hash == again.hash);
  }
}

TEST_CASE("coherent: no lock loses an update when agents share hardware threads") {
  Machine machine = from_file("haswell");
  machine.multicore->shape = {.cores_per_numa = 2};
  machine.multicore->core.quantum_ns = 10'000;  // often enough to meet every place in a lock
  for (const bool sleeps : {false, true}) {
    machine.multicore->wait.sleeps = sleeps;
    for (const char* kind : kKinds) {
      CAPTURE(kind, sleeps);
      CHECK(contest(machine, kind, 6, 3).counter == 6 * kAcquires);
    }
  }
}

// David, Guerraoui, Trigonakis (SOSP'13), section 6: under contention spin locks lose throughput
// with every socket, queue locks keep theirs.
TEST_CASE("coherent: across sockets a spin lock's throughput falls, a queue lock's stays") {
  for (const char* name : {"skylake", "haswell"}) {
    CAPTURE(name);
    Machine machine = from_file(name);
    machine.multicore->wait.spin_ns = 1e9;  // their waiters spin and never yield
    const auto throughput = [&](const char* kind, std::uint32_t agents) {
      return contest(machine, kind, agents, 1).per_second(agents);
    };
    const double spin = throughput("fompi-spin", 36) / throughput("fompi-spin", 4);
    const double queue = throughput("d-mcs", 36) / throughput("d-mcs", 4);
    CHECK(spin < 0.5);
    CHECK(queue > 0.5);
    CHECK(queue > 2 * spin);
    CHECK(throughput("d-mcs", 36) > throughput("fompi-spin", 36));
  }
}

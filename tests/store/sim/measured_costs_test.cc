// An agent on a simulated machine measures the costs in the machine's file.
#include <catch2/catch.hpp>

#include "keyway/kvstore/sim/machine_costs.h"
#include "keyway/locks/distributed/measure_costs.h"
#include "keyway/locks/fabric/sim/machine_file.h"
#include "keyway/locks/fabric/sim/sim_fabric.h"
#include "keyway/workloads/machine_files.h"

using namespace keyway;

namespace {

constexpr locks::CostProbe kProbe{.cpu = 4096, .rma = 4104};

locks::PrimitiveCosts measured(const fabric::sim::Machine& machine, std::uint32_t ranks) {
  auto fabric = *fabric::SimFabric::create(
      {.machine = machine, .ranks = ranks, .segment_bytes = 8192, .agents_per_rank = 1});
  locks::PrimitiveCosts costs;
  const std::uint64_t before = fabric.memory_hash();
  fabric.run({0}, [&](std::uint32_t) {
    auto endpoint = *fabric.endpoint(0);
    costs = locks::measure_costs(endpoint, kProbe);
  });
  CHECK(fabric.memory_hash() == before);
  return costs;
}

}  // namespace

TEST_CASE("measured costs: those of a simulated machine are its file's") {
  for (const char* name : {"piz-daint", "alock-cluster"}) {
    CAPTURE(name);
    auto machine = *fabric::sim::parse_machine(workloads::machine_text(name));
    machine.shape.ranks_per_node = 2;
    const auto expected = store::machine_costs(machine, 3);
    const auto found = measured(machine, 6);
    CAPTURE(locks::describe(expected), locks::describe(found));
    // The clock ticks in whole ns, which is a share of a processor's atomic.
    CHECK(found.cpu_atomic_ns == Approx(expected.cpu_atomic_ns).margin(1));
    CHECK(found.loopback_ns == Approx(expected.loopback_ns).epsilon(0.01));
    CHECK(found.rma_atomic_ns == Approx(expected.rma_atomic_ns).epsilon(0.01));
    CHECK(found.posted_ns == Approx(expected.posted_ns).epsilon(0.05));
    // An order is a round trip of a store if the network does not keep it, and free otherwise.
    const double store_ns = expected.rma_atomic_ns - machine.card.atomic_ns + machine.card.write_ns;
    CHECK(found.order_ns == Approx(expected.order_ns > 0 ? store_ns : 0).margin(100));
    CHECK(found.nodes == 3);
    CHECK(found.counters == 3);
  }
}

TEST_CASE("measured costs: one node has no far") {
  auto machine = *fabric::sim::parse_machine(workloads::machine_text("alock-cluster"));
  machine.shape.ranks_per_node = 2;
  const auto found = measured(machine, 2);
  CHECK(found.nodes == 1);
  CHECK(found.rma_atomic_ns == found.loopback_ns);
}

TEST_CASE("measured costs: a fabric that is slow is not measured for long") {
  auto machine = *fabric::sim::parse_machine(workloads::machine_text("piz-daint"));
  machine.shape.ranks_per_node = 1;
  machine.machine.latency_ns = 1e8;
  auto fabric = *fabric::SimFabric::create(
      {.machine = machine, .ranks = 2, .segment_bytes = 8192, .agents_per_rank = 1});
  locks::PrimitiveCosts costs;
  fabric.run({0}, [&](std::uint32_t) {
    auto endpoint = *fabric.endpoint(0);
    costs = locks::measure_costs(endpoint, kProbe);
  });
  CHECK(costs.rma_atomic_ns > 2e8);
  CHECK(fabric.time_ns() < 2e9);  // 256 of each would be 300 s
}

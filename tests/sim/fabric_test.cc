// SimFabric: ranks in the machine's shape, agents that find their endpoints, bad options refused.
#include <catch2/catch.hpp>
#include <vector>

#include "keyway/locks/fabric/sim/machine_file.h"
#include "keyway/locks/fabric/sim/sim_fabric.h"
#include "keyway/workloads/machine_files.h"

using namespace keyway;
using fabric::Address;
using fabric::rma;
using fabric::SimEndpoint;
using fabric::SimFabric;
using namespace fabric::sim;

namespace {

constexpr std::uint64_t kSegment = fabric::kReservedBytes + 64;
const Address kWord{0, fabric::kReservedBytes};

Machine piz_daint() { return *parse_machine(workloads::machine_text("piz-daint")); }

}  // namespace

TEST_CASE("sim fabric: ranks lie as the machine's shape says, or the option") {
  auto fabric = *SimFabric::create({.machine = piz_daint(), .ranks = 40});
  CHECK(fabric.topology().describe() == "machine:1 node:3, 40 ranks");
  CHECK(fabric.topology().same_node(0, 15));
  CHECK_FALSE(fabric.topology().same_node(15, 16));

  Machine racked = piz_daint();
  REQUIRE(set_parameter(racked, "shape.nodes_per_rack", 2).ok());
  fabric = *SimFabric::create({.machine = racked, .ranks = 64});
  CHECK(fabric.topology().describe() == "machine:1 rack:2 node:4, 64 ranks");

  fabric = *SimFabric::create({.machine = piz_daint(), .ranks = 8, .topology = "nodes=4"});
  CHECK(fabric.topology().describe() == "machine:1 node:4, 8 ranks");
}

TEST_CASE("sim fabric: an agent makes its endpoint inside, or takes one made before") {
  constexpr std::uint32_t kAgents = 40;
  for (const bool inside : {true, false}) {
    CAPTURE(inside);
    auto fabric =
        *SimFabric::create({.machine = piz_daint(), .ranks = kAgents, .segment_bytes = kSegment});
    std::vector<std::uint32_t> homes;
    std::vector<SimEndpoint> made;
    for (std::uint32_t i = 0; i < kAgents; ++i) {
      homes.push_back(kAgents - 1 - i);
      if (!inside) made.push_back(*fabric.endpoint(homes[i]));
    }
    auto before = *fabric.endpoint(0);
    before.store(rma, kWord, 5);  // takes no time: nothing runs
    CHECK(fabric.time_ns() == 0);
    fabric.run(homes, [&](std::uint32_t i) {
      auto own = inside ? *fabric.endpoint(homes[i]) : std::move(made[i]);
      REQUIRE(own.rank() == homes[i]);
      own.fetch_add(rma, kWord, 1);
      own.post_fetch_add(rma, kWord, 1);  // happens before the endpoint is gone
    });
    CHECK(before.load(rma, kWord) == 5 + 2 * kAgents);
    CHECK(fabric.time_ns() > 0);
    CHECK(fabric.stats().operations() == 2 * kAgents);
  }
}

TEST_CASE("sim fabric: a machine of one class has one only where all ranks share a node") {
  Machine machine = piz_daint();
  REQUIRE(set_parameter(machine, "semantics.one_node_is_one_class", 1).ok());
  for (const std::uint32_t ranks : {16, 17}) {
    CAPTURE(ranks);
    auto fabric =
        *SimFabric::create({.machine = machine, .ranks = ranks, .segment_bytes = kSegment});
    fabric.run({1}, [&](std::uint32_t) {
      auto ep = *fabric.endpoint(1);
      CHECK(ep.one_class() == (ranks == 16));
      ep.fetch_add(rma, kWord, 1);
    });
    CHECK((fabric.time_ns() == machine.cpu.atomic_ns) == (ranks == 16));
    CHECK(fabric.stats().cpu.atomics == (ranks == 16 ? 1 : 0));
  }
}

TEST_CASE("sim fabric: options out of bounds are refused") {
  const auto refusal = [](const SimFabric::Options& options) {
    auto fabric = SimFabric::create(options);
    REQUIRE_FALSE(fabric.ok());
    return std::string(fabric.status().message());
  };
  CHECK(refusal({.machine = piz_daint(), .ranks = 0}) == "0 ranks: ask for 1 to 65535");
  CHECK(refusal({.machine = piz_daint(), .ranks = 2, .agents_per_rank = 0}) ==
        "0 agents per rank: ask for 1 to 65535");
  CHECK(refusal({.machine = piz_daint(), .ranks = 2, .segment_bytes = 1ULL << 40}) ==
        "2 segments of 1099511627776 bytes: ask for at most 1099511627776 bytes in all");
  CHECK(refusal({.machine = Machine{.shape = {.ranks_per_node = 0}}, .ranks = 2}) ==
        "shape.ranks_per_node is 0: a node holds at least one rank");
  auto fabric = *SimFabric::create({.machine = piz_daint(), .ranks = 2, .agents_per_rank = 1});
  auto taken = *fabric.endpoint(1);
  CHECK(fabric.endpoint(1).code() == Code::kUnavailable);
  CHECK(fabric.endpoint(2).code() == Code::kInvalidArgument);
}

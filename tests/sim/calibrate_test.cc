// Calibrating this host: the file parses and is complete. The values of the figures depend on the
// host.
#include <catch2/catch.hpp>

#include "keyway/locks/fabric/sim/machine_file.h"
#include "keyway/locks/fabric/sim/sim_fabric.h"
#include "keyway/tools/calibrate/calibrate.h"

using namespace keyway;
using fabric::sim::MachineParameter;
using fabric::sim::Nearness;

namespace {

// Enough to run everything once.
calibrate::Options least() {
  return {.effort = {.batches = 3, .batch = 50, .memory_mib = 1, .quantum_ms = 2}, .name = "here"};
}

}  // namespace

TEST_CASE("calibrate: the file is a machine of positive figures, each with its source") {
  const auto text = calibrate::calibrate(least());
  REQUIRE(text.ok());
  const auto machine = fabric::sim::parse_machine(*text);
  if (!machine.ok()) FAIL(machine.status().message());
  CHECK(machine->name == "here");
  REQUIRE(machine->multicore);
  for (const MachineParameter& parameter : parameters(*machine)) {
    CAPTURE(parameter.name, parameter.value);
    CHECK_FALSE(parameter.note.source.empty());
    CHECK(parameter.note.least <= parameter.value);
    CHECK(parameter.value <= parameter.note.most);
    if (parameter.unit == "ns") CHECK(parameter.value > 0);
  }
}

TEST_CASE("calibrate: agents run on the machine that was measured") {
  fabric::SimFabric::Options options;
  options.machine = *fabric::sim::parse_machine(*calibrate::calibrate(least()));
  options.segment_bytes = 8192;
  auto fabric = *fabric::SimFabric::create(options);
  fabric.run({0, 0}, [&](std::uint32_t) {
    auto ep = *fabric.endpoint(0);
    ep.fetch_add(fabric::cpu, {0, 4096}, 1);
  });
  CHECK(fabric.endpoint(0)->load(fabric::cpu, {0, 4096}) == 2);
  CHECK(fabric.time_ns() > 0);
}

TEST_CASE("calibrate: hardware threads are found with their neighbours") {
  const auto host = calibrate::Host::discover();
  CHECK(host.os_index.size() == host.shape.threads());
  for (const std::uint32_t thread : host.usable) CHECK(thread < host.shape.threads());
  for (const Nearness how :
       {Nearness::kSameCore, Nearness::kSameNuma, Nearness::kSameSocket, Nearness::kOtherSocket}) {
    const auto [a, b] = host.pair_at(how);
    if (a != b) CHECK(host.shape.nearness(a, b) == how);
  }
  std::vector<bool> ran(2);
  calibrate::run_pinned(host, {host.usable.front()}, [&](std::size_t me) { ran[me] = true; });
  CHECK(ran[0]);
  CHECK_FALSE(ran[1]);
}

TEST_CASE(
    "calibrate: of many batches the lower quartile stands, between the fastest and the median") {
  const auto spread = calibrate::Spread::of({9, 1, 5, 3, 100, 2, 4, 8});
  CHECK(spread.least == 1);
  CHECK(spread.typical == 3);
  CHECK(spread.most == 5);
  CHECK(spread.map([](double ns) { return 2 * ns; }).typical == 6);
}

// The compiled-in machines behave as the papers report of theirs, where a figure of the file has no
// other purpose.
#include <catch2/catch.hpp>
#include <vector>

#include "keyway/locks/base/rng.h"
#include "keyway/locks/fabric/segment.h"
#include "keyway/locks/fabric/sim/machine_file.h"
#include "keyway/locks/fabric/sim/sim_fabric.h"
#include "keyway/workloads/machine_files.h"

using namespace keyway;
using fabric::Address;
using fabric::rma;
using fabric::SimFabric;
using namespace fabric::sim;

namespace {

constexpr std::uint64_t kLocks = 1000;

// Spinlocks per us that this many threads of one node acquire and release through its card.
double loopback_rate(const Machine& machine, std::uint32_t threads) {
  constexpr std::uint32_t kRounds = 200;
  auto fabric =
      *SimFabric::create({.machine = machine,
                          .ranks = threads,
                          .segment_bytes = fabric::kReservedBytes + kLocks * fabric::kCacheLine});
  std::vector<std::uint32_t> homes(threads);
  for (std::uint32_t i = 0; i < threads; ++i) homes[i] = i;
  fabric.run(homes, [&](std::uint32_t me) {
    auto ep = *fabric.endpoint(me);
    Rng rng(me);
    for (std::uint32_t i = 0; i < kRounds; ++i) {
      const std::uint64_t k = rng.below(kLocks);
      const Address lock(static_cast<std::uint32_t>(k % threads),
                         fabric::kReservedBytes + k * fabric::kCacheLine);
      while (ep.compare_swap(rma, lock, 0, 1) != 0) {
      }
      ep.store(rma, lock, 0);
    }
  });
  return threads * kRounds / (fabric.time_ns() / 1000);
}

}  // namespace

// SPAA'24, figure 1: the peak is at a few threads. The fall after it depends on
// loopback.crowding_ns.
TEST_CASE("alock-cluster: loopback alone peaks at a few threads, then falls") {
  auto machine = *parse_machine(workloads::machine_text("alock-cluster"));
  const double peak = loopback_rate(machine, 6);
  CHECK(peak > 3 * loopback_rate(machine, 1));
  CHECK(peak > 1.2 * loopback_rate(machine, 12));
  REQUIRE(set_parameter(machine, "loopback.crowding_ns", 0).ok());
  CHECK(loopback_rate(machine, 12) > loopback_rate(machine, 6));
}

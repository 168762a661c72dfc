// Conformance of every lock kind on the simulated machine, in virtual time, by several seeds.
#include "tests/conformance/lock_conformance.h"
#include "tests/conformance/sim_world.h"

namespace keyway::conformance {
namespace {

#if defined(KEYWAY_SIM_SMALL)
constexpr std::uint32_t kSimRounds = 30;
constexpr std::uint64_t kSeeds = 1;
#else
constexpr std::uint32_t kSimRounds = 200;
constexpr std::uint64_t kSeeds = 5;
#endif

TEST_CASE("locks in simulation") {
  run_conformance<Simulated>({.seeds = seeds_or_one(kSeeds), .rounds = kSimRounds});
}

}  // namespace
}  // namespace keyway::conformance

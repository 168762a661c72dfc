// The simulated machine kills the mutants of the locks, each by a seed that replays.
#include "tests/conformance/kills.h"
#include "tests/conformance/sim_world.h"

namespace keyway::conformance {
namespace {

const Setting kQuick{.seeds = seeds_or_one(10), .rounds = 100, .patience = std::chrono::seconds(1)};

TEST_CASE("mutants of foMPI-Spin are killed in simulation") {
  kill_mutants_of_spin<Simulated>(kQuick);
}
TEST_CASE("mutants of foMPI-RW are killed in simulation") { kill_mutants_of_rw<Simulated>(kQuick); }
TEST_CASE("D-MCS lives in simulation with what keeps its mutants from hanging") {
  let_live_mcs<Simulated>(kQuick);
}
TEST_CASE("mutants of D-MCS are killed in simulation") { kill_mutants_of_mcs<Simulated>(kQuick); }

}  // namespace
}  // namespace keyway::conformance

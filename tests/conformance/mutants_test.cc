// The conformance suite's own test: every mutant is killed. On fibers with a seeded schedule, so
// the same seed kills every time.
#include "tests/conformance/deferred_fabric.h"
#include "tests/conformance/kills.h"

namespace keyway::conformance {
namespace {

struct World : InProcess<DeferredFabric, Fibers> {
  static constexpr std::string_view kName = "deferred shm with fibers";
  using InProcess::InProcess;
};

const Setting kQuick{.rounds = 400, .patience = std::chrono::seconds(2)};

TEST_CASE("mutants of foMPI-Spin are killed") { kill_mutants_of_spin<World>(kQuick); }
TEST_CASE("mutants of foMPI-RW are killed") { kill_mutants_of_rw<World>(kQuick); }
// Shows only if a posted write is later than nine operations after it: here, not in simulation.
TEST_CASE("a mutant of foMPI-RW that leaves the master word early is killed") {
  const Setting& setting = kQuick;
  KILLED(check_lockall_load, mutants::FompiRwMasterLeftEarly, "");
}
TEST_CASE("D-MCS lives with what keeps its mutants from hanging") { let_live_mcs<World>(kQuick); }
TEST_CASE("mutants of D-MCS are killed") { kill_mutants_of_mcs<World>(kQuick); }

}  // namespace
}  // namespace keyway::conformance

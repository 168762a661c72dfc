// The explorer's own test, on known defects. sim_lockcheck (lockcheck --mutants) explores all
// mutants: each must be killed by the property that it violates, in an order that replays to the
// same trace, and its real kind must be clean in the same shape.
#include <catch2/catch.hpp>

#include "keyway/locks/fabric/sim/explorer.h"
#include "keyway/tools/lockcheck/mutant.h"

using namespace keyway;
using namespace keyway::lockcheck;

namespace {

constexpr std::uint64_t kMaxStates = 2'000'000;

const Mutant& mutant_of(std::string_view name) {
  for (const Mutant& mutant : all_mutants()) {
    if (mutant.name == name) return mutant;
  }
  FAIL("no mutant " << name);
  throw name;
}

}  // namespace

// lockcheck --mutants only runs random schedules of these.
TEST_CASE("explore: the real kind is clean in the large shapes of its mutants", "[.long][real]") {
  std::size_t explored = 0;
  for (const Mutant* mutant : distinct_reals()) {
    if (mutant->why_slow.empty()) continue;
    ++explored;
    INFO("lockcheck --mutant " << mutant->name << " --real");
    const auto program = mutant->real(mutant->shape);
    fabric::sim::Explorer explorer(*program, mutant->explorer);
    const auto report = explorer.exhaust(60'000'000);
    INFO((report.violation ? report.violation->what : ""));
    CHECK_FALSE(report.violation);
    CHECK(report.complete);
  }
  CHECK(explored > 0);
}

TEST_CASE("explore: random schedules and few preemptions kill mutants as well") {
  for (const Mutant& mutant : all_mutants()) {
    if (mutant.name != "d-mcs/lost-link" && mutant.name != "fompi-rw/release-stores-zero") continue;
    CAPTURE(mutant.name);
    const auto program = mutant.make(mutant.shape);
    fabric::sim::Explorer explorer(*program);
    CHECK(explorer.random(1, 20'000).violation);
    CHECK(explorer.pct(1, 20'000, 3).violation);
    CHECK(explorer.bounded(2, kMaxStates).violation);
  }
}

TEST_CASE("explore: a lost wake-up shows where one is patient, not where all have deadlines") {
  const Mutant& mutant = mutant_of("mcs-wp/front-forgets-patient");
  LockShape shape = mutant.shape;
  shape.manners.clear();
  shape.manner = Manner::kTimed;
  const auto program = mutant.make(shape);
  const auto report = fabric::sim::Explorer(*program).random(1, 20'000);
  CHECK_FALSE(report.violation);  // the mutants' test kills it in its own shape
}

// Without its option the exploration is the one that missed the defect.
TEST_CASE("explore: a missing fence needs store buffers, and a single store double stores") {
  std::size_t buffers = 0, twice = 0;
  for (const Mutant& mutant : all_mutants()) {
    const auto& its = mutant.explorer;
    if (!its.store_buffers && !its.double_stores) continue;
    CAPTURE(mutant.name);
    (its.store_buffers ? buffers : twice) += 1;
    const auto program = mutant.make(mutant.shape);
    const auto report = fabric::sim::Explorer(*program).exhaust(kMaxStates);
    INFO((report.violation ? report.violation->what : ""));
    CHECK(report.complete);
    CHECK_FALSE(report.violation);
  }
  CHECK(buffers >= 4);
  CHECK(twice >= 2);
}

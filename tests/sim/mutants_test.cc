// The explorer's own test: each defect that plain use can show is found. The mutants are those of
// the conformance suite; a kill prints the order that shows the defect.
#include <catch2/catch.hpp>
#include <cstdio>

#include "keyway/tools/lockcheck/lock_program.h"
#include "tests/conformance/mutants/mutant_mcs.h"
#include "tests/conformance/mutants/mutant_rw.h"
#include "tests/conformance/mutants/mutant_spin.h"

using namespace keyway;
using namespace keyway::lockcheck;
using namespace keyway::conformance;

namespace {

constexpr std::uint64_t kMostStates = 2'000'000;

/// A reader and a writer where readers share, else two writers.
template <class L>
fabric::sim::ExploreReport explored() {
  const bool share = L().traits().readers_share;
  LockProgram<L> program(L(), {.readers = share ? 1u : 0u, .writers = share ? 1u : 2u});
  fabric::sim::Explorer explorer(program);
  program.attach(explorer);
  auto report = explorer.exhaust(kMostStates);
  if (report.violation) {
    const auto again = explorer.replay(report.violation->schedule);
    REQUIRE(again.violation);
    CHECK(again.violation->what == report.violation->what);
  }
  return report;
}

/// The explorer goes depth first, so which of a defect's symptoms it meets first is known.
template <class L>
void killed(const char* name, std::string_view symptom) {
  const auto report = explored<L>();
  CAPTURE(name, report.states);
  REQUIRE(report.violation);
  CHECK_THAT(report.violation->what, Catch::StartsWith(std::string(symptom)));
  std::printf("killed %-40s %s, order %s\n", name, report.violation->what.c_str(),
              report.violation->schedule.c_str());
}
#define KILLED(mutant, symptom) killed<mutant>(#mutant, symptom)

}  // namespace

TEST_CASE("explore: faithful copies live") {
  CHECK(explored<MutantSpin<SpinDefect::kNone>>().complete);
  CHECK(explored<MutantRw<RwDefect::kNone>>().complete);
  CHECK(explored<MutantMcs<McsDefect::kNone>>().complete);
}

TEST_CASE("explore: mutants of foMPI-Spin are killed") {
  using D = SpinDefect;
  KILLED(MutantSpin<D::kEntersAfterOneRetry>, "L3");
  KILLED(MutantSpin<D::kReleaseSkipsFlush>, "L3");
  KILLED(MutantSpin<D::kFlushAfterRelease>, "L3");
  KILLED(MutantSpin<D::kTokenStaysSame>, "L4");
  KILLED(MutantSpin<D::kReleaseForgets>, "deadlock");
}

TEST_CASE("explore: mutants of foMPI-RW are killed") {
  using D = RwDefect;
  KILLED(MutantRw<D::kReleaseStoresZero>, "L2");
  KILLED(MutantRw<D::kReaderDoesNotBackOut>, "L2");
  KILLED(MutantRw<D::kReaderIgnoresWriter>, "L1");
  KILLED(MutantRw<D::kWriterIgnoresReaders>, "L1");
}

TEST_CASE("explore: mutants of D-MCS are killed") {
  using D = McsDefect;
  KILLED(MutantMcs<D::kLostLink>, "deadlock");
  KILLED(MutantMcs<D::kFlagAfterSwap>, "deadlock");
  KILLED(MutantMcs<D::kDoesNotWait>, "L3");
  KILLED(MutantMcs<D::kReleaseSkipsFlush>, "L3");
}

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

template <class L>
fabric::sim::ExploreReport explored(const LockShape& shape) {
  LockProgram<L> program(L(), shape);
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

template <class L>
void killed(const char* name, const LockShape& shape, std::string_view reason) {
  const auto report = explored<L>(shape);
  CAPTURE(name, report.states);
  REQUIRE(report.violation);
  INFO(report.violation->what);
  CHECK(report.violation->what.find(reason) != std::string::npos);
  std::printf("killed %-40s %s, order %s\n", name, report.violation->what.c_str(),
              report.violation->schedule.c_str());
}
#define KILLED(mutant, shape, reason) killed<mutant>(#mutant, shape, reason)

constexpr LockShape kTwoWriters{.readers = 0, .writers = 2};
constexpr LockShape kThreeWriters{.readers = 0, .writers = 3};
constexpr LockShape kOneEach{.readers = 1, .writers = 1};
constexpr LockShape kTwoReaders{.readers = 2, .writers = 1};

}  // namespace

TEST_CASE("explore: faithful copies live") {
  CHECK(explored<MutantSpin<SpinDefect::kNone>>(kTwoWriters).complete);
  CHECK(explored<MutantRw<RwDefect::kNone>>(kOneEach).complete);
  CHECK(explored<MutantMcs<McsDefect::kNone>>(kTwoWriters).complete);
}

TEST_CASE("explore: mutants of foMPI-Spin are killed") {
  using D = SpinDefect;
  KILLED(MutantSpin<D::kEntersAfterOneRetry>, kTwoWriters, "L");
  KILLED(MutantSpin<D::kReleaseSkipsFlush>, kTwoWriters, "L");
  KILLED(MutantSpin<D::kFlushAfterRelease>, kTwoWriters, "L");
  KILLED(MutantSpin<D::kTokenStaysSame>, kTwoWriters, "L4");
  KILLED(MutantSpin<D::kReleaseForgets>, kTwoWriters, "deadlock");
}

TEST_CASE("explore: mutants of foMPI-RW are killed") {
  using D = RwDefect;
  KILLED(MutantRw<D::kReleaseStoresZero>, kOneEach, "");
  KILLED(MutantRw<D::kReaderDoesNotBackOut>, kOneEach, "");
  KILLED(MutantRw<D::kReaderIgnoresWriter>, kOneEach, "L1");
  KILLED(MutantRw<D::kWriterIgnoresReaders>, kOneEach, "L1");
}

TEST_CASE("explore: mutants of D-MCS are killed") {
  using D = McsDefect;
  KILLED(MutantMcs<D::kLostLink>, kTwoWriters, "deadlock");
  KILLED(MutantMcs<D::kFlagAfterSwap>, kTwoWriters, "");
  KILLED(MutantMcs<D::kDoesNotWait>, kTwoWriters, "L");
  KILLED(MutantMcs<D::kReleaseSkipsFlush>, kTwoWriters, "L");
}

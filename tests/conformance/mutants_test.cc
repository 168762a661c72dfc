// The conformance suite's own test: a lock with a known defect fails the check that guards
// against it, and a faithful copy of the lock passes every check. On fibers with a seeded
// schedule, so the same seed kills every time.
#include <string>

#include "tests/conformance/deferred_fabric.h"
#include "tests/conformance/lock_conformance.h"
#include "tests/conformance/mutants/mutant_mcs.h"
#include "tests/conformance/mutants/mutant_rw.h"
#include "tests/conformance/mutants/mutant_spin.h"

namespace keyway::conformance {
namespace {

struct World : InProcess<DeferredFabric, Fibers> {
  static constexpr std::string_view kName = "deferred shm with fibers";
  using InProcess::InProcess;
};

/// The check must fail, and where a reason is given, say so.
template <class L>
void require_killed(const L& lock, std::string_view check, std::string_view reason = "") {
  const Setting setting{.rounds = 400, .patience = std::chrono::seconds(2)};
  const Outcome outcome = run_check<World>(lock, check, setting);
  INFO("check '" << check << "', expected reason '" << reason
                 << "', outcome: " << outcome.value_or("passed: the mutant lives") << ", seed "
                 << setting.seed);
  CHECK((outcome.has_value() && outcome->find(reason) != std::string::npos));
}

TEST_CASE("faithful copies pass every check") {
  SECTION("spin") { require_conforming<World>(MutantSpin<SpinDefect::kNone>(), "mutant-spin"); }
  SECTION("rw") { require_conforming<World>(MutantRw<RwDefect::kNone>(), "mutant-rw"); }
  SECTION("mcs") { require_conforming<World>(MutantMcs<McsDefect::kNone>(), "mutant-mcs"); }
}

TEST_CASE("a check that does not exist does not pass") {
  CHECK(run_check<World>(MutantSpin<SpinDefect::kNone>(), "no such check", {}).has_value());
}

TEST_CASE("mutants of foMPI-Spin are killed") {
  using D = SpinDefect;
  require_killed(MutantSpin<D::kEntersAfterOneRetry>(), "exclusion", "L1");
  require_killed(MutantSpin<D::kEntersAfterOneRetry>(), "try", "L1");
  require_killed(MutantSpin<D::kReleaseSkipsFlush>(), "release completes", "L3");
  require_killed(MutantSpin<D::kReleaseSkipsFlush>(), "exclusion");
  require_killed(MutantSpin<D::kFlushAfterRelease>(), "exclusion");
  require_killed(MutantSpin<D::kTokenStaysSame>(), "tokens", "L4");
  require_killed(MutantSpin<D::kTokenStaysSame>(), "exclusion", "L4");
  require_killed(MutantSpin<D::kTryTakesOver>(), "try", "L1");
  require_killed(MutantSpin<D::kTryTakesOver>(), "mixed calls", "L1");
  require_killed(MutantSpin<D::kClaimsSharing>(), "readers", "stuck");
  require_killed(MutantSpin<D::kClaimsFifo>(), "fifo", "stuck");
  require_killed(MutantSpin<D::kReleaseForgets>(), "try", "L2");
  require_killed(MutantSpin<D::kReleaseForgets>(), "guards", "guard");
  require_killed(MutantSpin<D::kReleaseForgets>(), "many locks", "stuck");
  require_killed(MutantSpin<D::kReaderCountsAsWriter>(), "stats", "stats");
  require_killed(MutantSpin<D::kTimeoutCountsAsTry>(), "stats", "stats");
  require_killed(MutantSpin<D::kNamelessHolder>(), "dump", "does not name the holder");
  require_killed(MutantSpin<D::kTimeoutSaysNothing>(), "dump", "a timeout does not name");
}

TEST_CASE("mutants of foMPI-RW are killed") {
  using D = RwDefect;
  require_killed(MutantRw<D::kReleaseStoresZero>(), "exclusion");
  require_killed(MutantRw<D::kReleaseStoresZero>(), "mixed calls");
  require_killed(MutantRw<D::kReaderDoesNotBackOut>(), "try");
  require_killed(MutantRw<D::kReaderDoesNotBackOut>(), "giving up");
  require_killed(MutantRw<D::kReaderIgnoresWriter>(), "try", "L1");
  require_killed(MutantRw<D::kReaderIgnoresWriter>(), "exclusion", "L1");
  require_killed(MutantRw<D::kWriterIgnoresReaders>(), "readers", "L1");
  require_killed(MutantRw<D::kWriterIgnoresReaders>(), "exclusion", "L1");
  require_killed(MutantRw<D::kWriterKeepsMaster>(), "lockall");
  require_killed(MutantRw<D::kAllDoesNotBackOut>(), "lockall");
  require_killed(MutantRw<D::kAllIgnoresWriters>(), "lockall", "G3");
  require_killed(MutantRw<D::kAllIgnoresWriters>(), "lockall load");
  require_killed(MutantRw<D::kMasterLeftEarly>(), "lockall load");
  require_killed(MutantRw<D::kReaderReleaseSkipsFlush>(), "release completes", "L3");
}

TEST_CASE("mutants of D-MCS are killed") {
  using D = McsDefect;
  require_killed(MutantMcs<D::kLostLink>(), "pair");
  require_killed(MutantMcs<D::kFlagAfterSwap>(), "pair");
  require_killed(MutantMcs<D::kGivesUpWithoutCas>(), "expiry race");
  require_killed(MutantMcs<D::kReusesAbandoned>(), "node supply", "N1");
  require_killed(MutantMcs<D::kDoesNotWait>(), "try", "L1");
  require_killed(MutantMcs<D::kDoesNotWait>(), "exclusion", "L1");
  require_killed(MutantMcs<D::kReleaseSkipsFlush>(), "release completes", "L3");
  require_killed(MutantMcs<D::kGrantsAbandoned>(), "giving up");
  require_killed(MutantMcs<D::kGrantsAbandoned>(), "slot reuse");
  require_killed(MutantMcs<D::kForgetsIdle>(), "node supply");
  require_killed(MutantMcs<D::kForgetsIdle>(), "giving up");
  require_killed(MutantMcs<D::kRejoins>(), "fifo");
  require_killed(MutantMcs<D::kTryQueues>(), "adaptors", "Lockable");
}

}  // namespace
}  // namespace keyway::conformance

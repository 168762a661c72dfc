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

const Setting kQuick{.rounds = 400, .patience = std::chrono::seconds(2)};

/// The check must fail, and where a reason is given, say so.
void require_killed(const Outcome& outcome, std::string_view what, std::string_view reason) {
  INFO(what << ", expected reason '" << reason << "', outcome: "
            << outcome.value_or("passed: the mutant lives") << ", seed " << kQuick.seed);
  CHECK((outcome.has_value() && outcome->find(reason) != std::string::npos));
}
#define KILLED(check, mutant, reason) \
  require_killed(check<World>(mutant(), kQuick), #check " of " #mutant, reason)

template <class L>
void require_faithful(const L& lock, std::string_view kind) {
  run_checks<World>(lock, kind, all_checks<World, L>(), Setting());
}

TEST_CASE("faithful copies pass every check") {
  SECTION("spin") { require_faithful(MutantSpin<SpinDefect::kNone>(), "spin"); }
  SECTION("rw") {
    using Copy = MutantRw<RwDefect::kNone>;
    require_faithful(Copy(), "rw");
    run_checks<World>(Copy(), "rw", lockall_checks<World, Copy>(), Setting());
  }
  SECTION("mcs") { require_faithful(MutantMcs<McsDefect::kNone>(), "mcs"); }
}

TEST_CASE("mutants of foMPI-Spin are killed") {
  using D = SpinDefect;
  KILLED(check_exclusion, MutantSpin<D::kEntersAfterOneRetry>, "L1");
  KILLED(check_try, MutantSpin<D::kEntersAfterOneRetry>, "L1");
  KILLED(check_release_completes, MutantSpin<D::kReleaseSkipsFlush>, "L3");
  KILLED(check_exclusion, MutantSpin<D::kReleaseSkipsFlush>, "");
  KILLED(check_exclusion, MutantSpin<D::kFlushAfterRelease>, "");
  KILLED(check_tokens, MutantSpin<D::kTokenStaysSame>, "L4");
  KILLED(check_exclusion, MutantSpin<D::kTokenStaysSame>, "L4");
  KILLED(check_try, MutantSpin<D::kTryTakesOver>, "L1");
  KILLED(check_mixed_calls, MutantSpin<D::kTryTakesOver>, "L1");
  KILLED(check_readers, MutantSpin<D::kClaimsSharing>, "stuck");
  KILLED(check_fifo, MutantSpin<D::kClaimsFifo>, "stuck");
  KILLED(check_try, MutantSpin<D::kReleaseForgets>, "L2");
  KILLED(check_guards, MutantSpin<D::kReleaseForgets>, "guard");
  KILLED(check_many_locks, MutantSpin<D::kReleaseForgets>, "stuck");
  KILLED(check_stats, MutantSpin<D::kReaderCountsAsWriter>, "stats");
  KILLED(check_stats, MutantSpin<D::kTimeoutCountsAsTry>, "stats");
  KILLED(check_dump, MutantSpin<D::kNamelessHolder>, "does not name the holder");
  KILLED(check_dump, MutantSpin<D::kTimeoutSaysNothing>, "a timeout does not name");
}

TEST_CASE("mutants of foMPI-RW are killed") {
  using D = RwDefect;
  KILLED(check_exclusion, MutantRw<D::kReleaseStoresZero>, "");
  KILLED(check_mixed_calls, MutantRw<D::kReleaseStoresZero>, "");
  KILLED(check_try, MutantRw<D::kReaderDoesNotBackOut>, "");
  KILLED(check_giving_up, MutantRw<D::kReaderDoesNotBackOut>, "");
  KILLED(check_try, MutantRw<D::kReaderIgnoresWriter>, "L1");
  KILLED(check_exclusion, MutantRw<D::kReaderIgnoresWriter>, "L1");
  KILLED(check_readers, MutantRw<D::kWriterIgnoresReaders>, "L1");
  KILLED(check_exclusion, MutantRw<D::kWriterIgnoresReaders>, "L1");
  KILLED(check_lockall, MutantRw<D::kWriterKeepsMaster>, "");
  KILLED(check_lockall, MutantRw<D::kAllDoesNotBackOut>, "");
  KILLED(check_lockall, MutantRw<D::kAllIgnoresWriters>, "G3");
  KILLED(check_lockall_load, MutantRw<D::kAllIgnoresWriters>, "");
  KILLED(check_lockall_load, MutantRw<D::kMasterLeftEarly>, "");
  KILLED(check_release_completes, MutantRw<D::kReaderReleaseSkipsFlush>, "L3");
}

TEST_CASE("mutants of D-MCS are killed") {
  using D = McsDefect;
  KILLED(check_pair, MutantMcs<D::kLostLink>, "");
  KILLED(check_pair, MutantMcs<D::kFlagAfterSwap>, "");
  KILLED(check_expiry_race, MutantMcs<D::kGivesUpWithoutCas>, "");
  KILLED(check_node_supply, MutantMcs<D::kReusesAbandoned>, "N1");
  KILLED(check_try, MutantMcs<D::kDoesNotWait>, "L1");
  KILLED(check_exclusion, MutantMcs<D::kDoesNotWait>, "L1");
  KILLED(check_release_completes, MutantMcs<D::kReleaseSkipsFlush>, "L3");
  KILLED(check_giving_up, MutantMcs<D::kGrantsAbandoned>, "");
  KILLED(check_slot_reuse, MutantMcs<D::kGrantsAbandoned>, "");
  KILLED(check_node_supply, MutantMcs<D::kForgetsIdle>, "");
  KILLED(check_giving_up, MutantMcs<D::kForgetsIdle>, "");
  KILLED(check_fifo, MutantMcs<D::kRejoins>, "");
  KILLED(check_adaptors, MutantMcs<D::kTryQueues>, "Lockable");
}

}  // namespace
}  // namespace keyway::conformance

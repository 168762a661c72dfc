// Which check kills which mutant, on any world: a lock with a known defect fails the check that
// guards against it, and a faithful copy of the lock passes every check.
#pragma once

#include <string>

#include "tests/conformance/lock_conformance.h"
#include "tests/conformance/mutants/mutant_mcs.h"
#include "tests/conformance/mutants/mutant_rw.h"
#include "tests/conformance/mutants/mutant_spin.h"

namespace keyway::conformance {

/// run(setting) is a check of a mutant. By one of the setting's seeds it must fail, and where a
/// reason is given, say so.
template <class Run>
void require_killed(Run&& run, std::string_view what, std::string_view reason,
                    const Setting& setting) {
  Outcome last;
  for (Setting one = setting; one.seed < setting.seed + setting.seeds; ++one.seed) {
    last = run(one);
    if (last && last->find(reason) != std::string::npos) {
      SUCCEED(what << ": seed " << one.seed);
      return;
    }
  }
  FAIL_CHECK(what << ", expected reason '" << reason << "', outcome: "
                  << last.value_or("passed: the mutant lives") << ", from seed " << setting.seed);
}
#define KILLED(check, mutant, reason)                                            \
  require_killed([](const Setting& one) { return check<World>(mutant(), one); }, \
                 #check " of " #mutant, reason, setting)

template <class World, class L>
void require_faithful(const L& lock, std::string_view kind) {
  run_checks<World>(lock, kind, all_checks<World, L>(), Setting());
}

/// Its sections belong to the test case that calls it.
template <class World>
void faithful_copies_pass() {
  SECTION("spin") { require_faithful<World>(MutantSpin<SpinDefect::kNone>(), "spin"); }
  SECTION("rw") {
    using Copy = MutantRw<RwDefect::kNone>;
    require_faithful<World>(Copy(), "rw");
    run_checks<World>(Copy(), "rw", lockall_checks<World, Copy>(), Setting());
  }
  SECTION("mcs") { require_faithful<World>(MutantMcs<McsDefect::kNone>(), "mcs"); }
}

template <class World>
void kill_mutants_of_spin(const Setting& setting) {
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

template <class World>
void kill_mutants_of_rw(const Setting& setting) {
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
  KILLED(check_release_completes, MutantRw<D::kReaderReleaseSkipsFlush>, "L3");
}

template <class World>
void kill_mutants_of_mcs(const Setting& setting) {
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

}  // namespace keyway::conformance

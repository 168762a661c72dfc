// Which check kills which mutant, on any world: a lock with a known defect fails the check that
// guards against it. Mutants are made from the real kinds (tests/mutants), which pass every check.
#pragma once

#include <string>

#include "tests/conformance/lock_conformance.h"
#include "tests/mutants/made/d_mcs_mutants.h"
#include "tests/mutants/made/fompi_rw_mutants.h"
#include "tests/mutants/made/fompi_spin_mutants.h"

namespace keyway::conformance {

/// run(setting) is a check of a mutant. With one of the setting's seeds it must fail, with the
/// reason if one is given.
template <class Run>
void require_killed(Run&& run, std::string_view what, std::string_view reason,
                    const Setting& setting) {
  Outcome last;
  for (Setting one = setting; one.seed < setting.seed + setting.seeds; ++one.seed) {
    last = run(one);
    if (last && last->find(reason) != std::string::npos) {
      SUCCEED(what << ": seed " << one.seed << ": " << *last);
      return;
    }
  }
  FAIL_CHECK(what << ", expected reason '" << reason << "', outcome: "
                  << last.value_or("passed: the mutant lives") << ", from seed " << setting.seed);
}
/// By none of the seeds.
template <class Run>
void require_alive(Run&& run, std::string_view what, const Setting& setting) {
  for (Setting one = setting; one.seed < setting.seed + setting.seeds; ++one.seed) {
    const Outcome outcome = run(one);
    INFO(what << ": seed " << one.seed << ": " << outcome.value_or(""));
    CHECK_FALSE(outcome.has_value());
  }
}
#define LIVES(check, mutant)                                                    \
  require_alive([](const Setting& one) { return check<World>(mutant(), one); }, \
                #check " of " #mutant, setting)
#define KILLED(check, mutant, reason)                                            \
  require_killed([](const Setting& one) { return check<World>(mutant(), one); }, \
                 #check " of " #mutant, reason, setting)

template <class World>
void kill_mutants_of_spin(const Setting& setting) {
  KILLED(check_exclusion, mutants::FompiSpinEntersAfterOneRetry, "L1");
  KILLED(check_try, mutants::FompiSpinEntersAfterOneRetry, "L1");
  KILLED(check_release_completes, mutants::FompiSpinReleaseSkipsFlush, "L3");
  KILLED(check_exclusion, mutants::FompiSpinReleaseSkipsFlush, "");
  KILLED(check_exclusion, mutants::FompiSpinFlushAfterRelease, "");
  KILLED(check_tokens, mutants::FompiSpinTokenStaysSame, "L4");
  KILLED(check_exclusion, mutants::FompiSpinTokenStaysSame, "L4");
  KILLED(check_try, mutants::FompiSpinTryTakesOver, "L1");
  KILLED(check_mixed_calls, mutants::FompiSpinTryTakesOver, "L1");
  KILLED(check_readers, mutants::FompiSpinClaimsSharing, "stuck");
  KILLED(check_fifo, mutants::FompiSpinClaimsFifo, "stuck");
  KILLED(check_try, mutants::FompiSpinReleaseForgets, "L2");
  KILLED(check_guards, mutants::FompiSpinReleaseForgets, "guard");
  KILLED(check_many_locks, mutants::FompiSpinReleaseForgets, "stuck");
  KILLED(check_stats, mutants::FompiSpinReaderCountsAsWriter, "stats");
  KILLED(check_stats, mutants::FompiSpinTimeoutCountsAsTry, "stats");
  KILLED(check_dump, mutants::FompiSpinNamelessHolder, "does not name the holder");
  KILLED(check_dump, mutants::FompiSpinTimeoutSaysNothing, "a timeout does not name");
}

template <class World>
void kill_mutants_of_rw(const Setting& setting) {
  KILLED(check_exclusion, mutants::FompiRwReleaseStoresZero, "");
  KILLED(check_mixed_calls, mutants::FompiRwReleaseStoresZero, "");
  KILLED(check_try, mutants::FompiRwReaderDoesNotBackOut, "");
  KILLED(check_giving_up, mutants::FompiRwReaderDoesNotBackOut, "");
  KILLED(check_try, mutants::FompiRwReaderIgnoresWriter, "L1");
  KILLED(check_exclusion, mutants::FompiRwReaderIgnoresWriter, "L1");
  KILLED(check_readers, mutants::FompiRwWriterIgnoresReaders, "L1");
  KILLED(check_exclusion, mutants::FompiRwWriterIgnoresReaders, "L1");
  KILLED(check_lockall, mutants::FompiRwWriterKeepsMaster, "");
  KILLED(check_lockall, mutants::FompiRwAllDoesNotBackOut, "");
  KILLED(check_lockall, mutants::FompiRwAllIgnoresWriters, "G3");
  KILLED(check_lockall_load, mutants::FompiRwAllIgnoresWriters, "");
  KILLED(check_release_completes, mutants::FompiRwReaderReleaseSkipsFlush, "L3");
}

/// All D-MCS mutants have edits that keep them from hanging. These alone pass what kills the
/// mutants.
template <class World>
void let_live_mcs(const Setting& setting) {
  LIVES(check_pair, mutants::DMcsNoDefect);
  LIVES(check_expiry_race, mutants::DMcsNoDefect);
  LIVES(check_node_supply, mutants::DMcsNoDefect);
  LIVES(check_try, mutants::DMcsNoDefect);
  LIVES(check_exclusion, mutants::DMcsNoDefect);
  LIVES(check_release_completes, mutants::DMcsNoDefect);
  LIVES(check_giving_up, mutants::DMcsNoDefect);
  LIVES(check_slot_reuse, mutants::DMcsNoDefect);
  LIVES(check_fifo, mutants::DMcsNoDefect);
  LIVES(check_adaptors, mutants::DMcsNoDefect);
}

template <class World>
void kill_mutants_of_mcs(const Setting& setting) {
  KILLED(check_pair, mutants::DMcsLostLink, "");
  KILLED(check_pair, mutants::DMcsFlagAfterSwap, "");
  KILLED(check_expiry_race, mutants::DMcsGivesUpWithoutCas, "");
  KILLED(check_node_supply, mutants::DMcsReusesAbandoned, "N1");
  KILLED(check_try, mutants::DMcsDoesNotWait, "L1");
  KILLED(check_exclusion, mutants::DMcsDoesNotWait, "L1");
  KILLED(check_release_completes, mutants::DMcsReleaseSkipsFlush, "L3");
  KILLED(check_giving_up, mutants::DMcsGrantsAbandoned, "");
  KILLED(check_slot_reuse, mutants::DMcsGrantsAbandoned, "");
  KILLED(check_node_supply, mutants::DMcsForgetsIdle, "");
  KILLED(check_giving_up, mutants::DMcsForgetsIdle, "");
  KILLED(check_fifo, mutants::DMcsRejoins, "stuck");  // its nodes are all in the queue
  KILLED(check_fifo, mutants::DMcsOvertakes, "fifo: agent");
  KILLED(check_adaptors, mutants::DMcsTryQueues, "Lockable");
}

}  // namespace keyway::conformance

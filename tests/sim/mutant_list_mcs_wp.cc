#include "tests/conformance/mutants/mutant_mcs_wp.h"
#include "tests/sim/mutant_list.h"

namespace keyway::lockcheck {

using conformance::MutantMcsWp;
using D = conformance::WpDefect;

void add_mcs_wp_mutants(std::vector<Mutant>& list) {
  const LockShape both{.readers = 1, .writers = 1};
  const LockShape two{.writers = 2};
  const LockShape asking{.writers = 2, .ask_token = true};
  const LockShape two_read{.readers = 2, .writers = 1};
  const LockShape timed{.readers = 1, .writers = 1, .manner = Manner::kTimed};
  list.push_back(mutant<MutantMcsWp<D::kWriterIgnoresReaders>>(
      "mcs-wp/writer-ignores-readers", "the writer at the front enters whoever reads", "L1", both));
  list.push_back(mutant<MutantMcsWp<D::kReaderIgnoresActive>>(
      "mcs-wp/reader-ignores-active", "a reader enters beside a writer", "L1", both));
  list.push_back(mutant<MutantMcsWp<D::kLeavesWithoutClaim>>(
      "mcs-wp/leaves-without-claim", "lost hand-over: the last reader does not let the writer in",
      "deadlock", both));
  list.push_back(mutant<MutantMcsWp<D::kClaimsWithoutCas>>(
      "mcs-wp/claims-without-cas",
      "double hand-over: whoever sees that the readers have left makes the claim", "deadlock",
      two_read));
  list.push_back(mutant<MutantMcsWp<D::kFrontAfterWaits>>(
      "mcs-wp/front-after-waits",
      "wrong order: the writer's name comes after the bit that leads others there", "footprint",
      both));
  list.push_back(mutant<MutantMcsWp<D::kPassesAndClears>>(
      "mcs-wp/passes-and-clears", "the lock is handed on, and its bit is cleared all the same",
      "L1", {.readers = 1, .writers = 2}));
  list.push_back(mutant<MutantMcsWp<D::kGrantsUncounted>>(
      "mcs-wp/grants-uncounted", "a reader grants the next of the list and does not count it", "L2",
      two_read));
  list.push_back(mutant<MutantMcsWp<D::kReaderDoesNotLook>>(
      "mcs-wp/reader-does-not-look",
      "lost wake-up: a reader that is listed does not look for writers again", "deadlock", both));
  list.push_back(mutant<MutantMcsWp<D::kListedBeforeList>>(
      "mcs-wp/listed-before-list",
      "wrong order: a reader is listed, and looks, before it is in the list", "deadlock", both));
  list.push_back(mutant<MutantMcsWp<D::kWriterForgetsList>>(
      "mcs-wp/writer-forgets-list", "lost wake-up: the last writer leaves the list alone",
      "deadlock", both));
  list.push_back(mutant<MutantMcsWp<D::kReaderGivesUpBlindly>>(
      "mcs-wp/reader-gives-up-blindly",
      "a reader that times out does not see that it has been granted", "L2", timed));
  list.push_back(mutant<MutantMcsWp<D::kGrantsAbandoned>>(
      "mcs-wp/grants-abandoned", "a reader that has given up is granted", "L2", timed));
  list.push_back(mutant<MutantMcsWp<D::kIdleBeforeLink>>(
      "mcs-wp/idle-before-link", "a node stepped over is free before its link has been read", "N1",
      timed));
  list.push_back(mutant<MutantMcsWp<D::kForgetsIdle>>(
      "mcs-wp/forgets-idle", "nodes stepped over never come back", "N1",
      {.readers = 1, .writers = 1, .nodes = 1, .manner = Manner::kTimed}));
  list.push_back(mutant<MutantMcsWp<D::kFrontKeepsWaits>>(
      "mcs-wp/front-keeps-waits", "lost back-out: a front that gives up still counts as waiting",
      "L2", timed));
  list.push_back(mutant<MutantMcsWp<D::kFrontGivesUpClaimed>>(
      "mcs-wp/front-gives-up-claimed", "a front that times out does not see that it was let in",
      "L2", timed));
  list.push_back(mutant<MutantMcsWp<D::kFrontLeavesList>>(
      "mcs-wp/front-leaves-list",
      "lost wake-up: a front that gives up leaves the readers in the list", "N1",
      {.readers = 2, .writers = 1, .nodes = 1, .manner = Manner::kTimed}));
  list.push_back(mutant<MutantMcsWp<D::kReaderDoesNotBackOut>>(
      "mcs-wp/reader-does-not-back-out", "lost back-out: a reader that is listed stays counted",
      "L2", both));
  list.push_back(mutant<MutantMcsWp<D::kReleaseSkipsFlush>>(
      "mcs-wp/release-skips-flush", "missing flush: release frees the lock at once", "L3", both));
  list.push_back(mutant<MutantMcsWp<D::kTokenAfterRelease>>(
      "mcs-wp/token-after-release", "the token's word follows when the lock is free again", "L4",
      asking));
}

}  // namespace keyway::lockcheck

#include "tests/conformance/mutants/mutant_mcs.h"
#include "tests/conformance/mutants/mutant_mcs_wp.h"
#include "tests/conformance/mutants/mutant_rma_rw.h"
#include "tests/conformance/mutants/mutant_rw.h"
#include "tests/conformance/mutants/mutant_spin.h"
#include "tests/sim/mutant_list.h"

namespace keyway::lockcheck {

using conformance::MutantMcs;
using D = conformance::McsDefect;

void add_mcs_mutants(std::vector<Mutant>& list) {
  const LockShape two{.writers = 2};
  const LockShape asking{.writers = 2, .ask_token = true};
  const LockShape timed{.writers = 2, .manner = Manner::kTimed};
  const LockShape timed_twice{.writers = 2, .rounds = 2, .manner = Manner::kTimed};
  list.push_back(mutant<MutantMcs<D::kDoesNotWait>>(
      "d-mcs/does-not-wait", "missing wait: a waiter enters as soon as it has linked itself", "L1",
      two));
  list.push_back(mutant<MutantMcs<D::kReleaseSkipsFlush>>(
      "d-mcs/release-skips-flush", "missing flush: release hands the lock on at once", "L3", two));
  list.push_back(mutant<MutantMcs<D::kFlagAfterSwap>>(
      "d-mcs/flag-after-swap",
      "wrong order: a waiter links itself, and then sets the flag that wakes it", "deadlock", two));
  list.push_back(mutant<MutantMcs<D::kLostLink>>(
      "d-mcs/lost-link", "missing wait: release leaves while its successor is linking itself", "N1",
      two));
  list.push_back(mutant<MutantMcs<D::kTryKeepsNode>>(
      "d-mcs/try-keeps-node", "lost back-out: a failed try does not give its node back", "N1",
      {.writers = 2, .rounds = 2, .manner = Manner::kTry}));
  list.push_back(mutant<MutantMcs<D::kGivesUpWithoutCas>>(
      "d-mcs/gives-up-without-cas", "lost back-out: a time-out overwrites a grant that came first",
      "L2", timed));
  list.push_back(mutant<MutantMcs<D::kReusesAbandoned>>(
      "d-mcs/reuses-abandoned", "a node that is still in the queue goes back to its pool", "N1",
      timed));
  list.push_back(mutant<MutantMcs<D::kGrantsAbandoned>>(
      "d-mcs/grants-abandoned", "lost back-out: release hands the lock to who has given up", "L2",
      timed));
  list.push_back(mutant<MutantMcs<D::kForgetsIdle>>(
      "d-mcs/forgets-idle", "lost back-out: an abandoned node never comes back", "N1",
      timed_twice));
  list.push_back(mutant<MutantMcs<D::kIdleBeforeLink>>(
      "d-mcs/idle-before-link", "wrong order: an abandoned node is free before its link is read",
      "N1", timed));
  list.push_back(mutant<MutantMcs<D::kTouchesAfterGrant>>(
      "d-mcs/touches-after-grant", "release writes its successor's node after waking it", "N1",
      two));
  list.push_back(mutant<MutantMcs<D::kOvertakes>>("d-mcs/overtakes",
                                                  "unfair: the second in the queue goes first",
                                                  "starvation", {.writers = 3, .forever = true}));
  list.push_back(mutant<MutantMcs<D::kAnnouncesFirst>>(
      "d-mcs/announces-first", "unfair: the first atomic takes no place in the queue", "bypass",
      {.writers = 2, .forever = true}));
  list.push_back(mutant<MutantMcs<D::kWaitsForEmptyTail>>(
      "d-mcs/waits-for-empty-tail", "unfair: whoever comes waits for an empty queue, not in it",
      "starvation", {.writers = 2, .forever = true}));
  list.push_back(mutant<MutantMcs<D::kTokenAfterRelease>>(
      "d-mcs/token-after-release", "the token's word follows when the lock is free again", "L4",
      asking));
  list.push_back(mutant<MutantMcs<D::kWritesBeside>>(
      "d-mcs/writes-beside", "the holder's node goes to the line behind the lock's", "footprint",
      two));
}

std::vector<Mutant> faithful_copies() {
  using conformance::MutantRmaRw;
  using conformance::MutantRw;
  using conformance::MutantSpin;
  std::vector<Mutant> copies = {
      mutant<MutantSpin<conformance::SpinDefect::kNone>>("fompi-spin", "none", "", {}),
      mutant<MutantRw<conformance::RwDefect::kNone>>("fompi-rw", "none", "", {}),
      mutant<MutantMcs<D::kNone>>("d-mcs", "none", "", {}),
      mutant<conformance::MutantMcsWp<conformance::WpDefect::kNone>>("mcs-wp", "none", "", {}),
      mutant<MutantRmaRw<conformance::RmaRwDefect::kNone>>("rma-rw", "none", "", {})};
  add_alock_copies(copies);
  copies.push_back(faithful_tree());
  return copies;
}

}  // namespace keyway::lockcheck

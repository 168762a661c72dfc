#include "tests/conformance/mutants/mutant_alock.h"
#include "tests/conformance/mutants/mutant_alock_rw.h"
#include "tests/sim/mutant_list.h"

namespace keyway::lockcheck {
namespace {

using conformance::MutantAlock;
using conformance::MutantAlockRw;

void add_queue_mutants(std::vector<Mutant>& list) {
  using D = conformance::AlockDefect;
  const LockShape one_each{.writers = 2};
  list.push_back(mutant<MutantAlock<D::kWaitsForBoth>>(
      "alock/A1-waits-for-both", "a leader waits while the other is there or it is the victim",
      "deadlock", one_each));
  list.push_back(mutant<MutantAlock<D::kNoTurns>>(
      "alock/A2-budget-of-zero", "a budget of 0 passes on the value that means waiting", "deadlock",
      {.writers = 2, .ranks = 1}));
  list.push_back(mutant<MutantAlock<D::kVictimWithTail>>(
      "alock/A3-victim-with-tail", "the victim is posted in one doorbell with the tail's swap",
      "L1", one_each));
  list.push_back(mutant<MutantAlock<D::kVictimSwapped>>(
      "alock/A4-victim-swapped", "the victim is swapped by both classes", "O4", one_each));
  list.back().explorer.split_rma = true;
  list.push_back(mutant<MutantAlock<D::kKeepsTurns>>(
      "alock/keeps-turns", "unfair: a hand-over within the cohort spends no turn", "A6",
      {.writers = 3, .rounds = 2, .homes = {0, 1, 0}, .most_past_leader = {1, 1}}));
  const LockShape timed_local{.writers = 2, .ranks = 1, .manner = Manner::kTimed};
  list.push_back(mutant<MutantAlock<D::kGrantsBlindly>>(
      "alock/grants-blindly", "a granter does not look whether the waiter has left", "L2",
      timed_local));
  list.push_back(mutant<MutantAlock<D::kLeavesBlindly>>(
      "alock/leaves-blindly", "who leaves does not look whether it has been granted", "L2",
      timed_local));
  list.push_back(mutant<MutantAlock<D::kGrantNotOrdered>>(
      "alock/grant-not-ordered", "missing order: a granter may look before it has granted", "L2",
      {.writers = 3, .ranks = 3, .manner = Manner::kTimed}));
}

}  // namespace

void add_alock_mutants(std::vector<Mutant>& list) {
  add_queue_mutants(list);
  using D = conformance::AlockRwDefect;
  const LockShape near{.readers = 1, .writers = 1};
  list.push_back(mutant<MutantAlockRw<D::kIgnoresInside>>(
      "alock-rw/ignores-inside", "a writer does not wait for the readers inside", "L1", near));
  list.push_back(mutant<MutantAlockRw<D::kWriterNotOrdered>>(
      "alock-rw/writer-not-ordered", "missing order: a writer looks at the counts too early", "L1",
      near));
  list.push_back(mutant<MutantAlockRw<D::kReaderNotOrdered>>(
      "alock-rw/reader-not-ordered", "missing order: a reader looks before it is counted", "L1",
      {.readers = 2, .writers = 1}));
  const LockShape for_ever{.readers = 1, .writers = 1, .ranks = 1, .forever = true};
  list.push_back(mutant<MutantAlockRw<D::kAsksNobody>>(
      "alock-rw/asks-nobody", "a writer raises the write word though readers wait", "starvation",
      for_ever));
  list.push_back(mutant<MutantAlockRw<D::kStopsWaiting>>(
      "alock-rw/stops-waiting", "a reader is not counted as waiting while it looks again",
      "starvation", for_ever));
}

void add_alock_copies(std::vector<Mutant>& list) {
  list.push_back(mutant<MutantAlock<conformance::AlockDefect::kNone>>("alock", "none", "", {}));
  list.push_back(
      mutant<MutantAlockRw<conformance::AlockRwDefect::kNone>>("alock-rw", "none", "", {}));
}

}  // namespace keyway::lockcheck

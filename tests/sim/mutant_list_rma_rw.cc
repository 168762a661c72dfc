#include "tests/conformance/mutants/mutant_rma_rw.h"
#include "tests/sim/mutant_list.h"

namespace keyway::lockcheck {

using conformance::CountersAt;
using conformance::MutantRmaRw;
using D = conformance::RmaRwDefect;

/// R1 to R7 are the rows of design section 5, each at the smallest case that shows it.
void add_rma_rw_mutants(std::vector<Mutant>& list) {
  const LockShape both{.readers = 1, .writers = 1};
  const LockShape two_readers{.readers = 2, .writers = 1};
  const LockShape two_writers{.readers = 1, .writers = 2};
  const LockShape timed{.readers = 2, .writers = 1, .manner = Manner::kTimed};
  const LockShape timed_both{.readers = 1, .writers = 1, .manner = Manner::kTimed};
  list.push_back(mutant<MutantRmaRw<D::kSkipsReadersInside>>(
      "rma-rw/R1-skips-readers-inside", "missing wait: a writer closes the counters and enters",
      "L1", both));
  list.push_back(mutant<MutantRmaRw<D::kClosesOneCounter, 1, 1, CountersAt::kEachRank>>(
      "rma-rw/R1-closes-one-counter", "a writer closes one of two counters", "L1", two_readers));
  list.push_back(mutant<MutantRmaRw<D::kResetsInTwoSteps>>(
      "rma-rw/R2-resets-in-two-steps",
      "a reader's reset takes arrive down and then depart: between them the counter looks empty",
      "L1", two_readers));
  list.push_back(mutant<MutantRmaRw<D::kReadsCountsApart, 2>>(
      "rma-rw/R2-reads-counts-apart", "a writer reads arrive, and then depart", "L1", two_readers));
  list.push_back(mutant<MutantRmaRw<D::kResetErasesFlag>>(
      "rma-rw/R3-reset-erases-flag",
      "a reader's reset is a store: a writer that has closed meanwhile is wiped out", "deadlock",
      two_readers));
  list.push_back(mutant<MutantRmaRw<D::kAsksForWritersOnce>>(
      "rma-rw/R4-asks-for-writers-once",
      "missing look: a reader at t_r waits for a writer that has gone", "deadlock", two_readers));
  list.push_back(mutant<MutantRmaRw<D::kResetsTwice>>(
      "rma-rw/R5-resets-twice", "a reader's reset subtracts what may have been subtracted already",
      "deadlock", two_readers));
  list.push_back(mutant<MutantRmaRw<D::kOnlyOneResets>>(
      "rma-rw/R6-only-one-resets", "only the reader that meets exactly t_r resets the counter",
      "deadlock", {.readers = 3, .writers = 0}));
  list.push_back(mutant<MutantRmaRw<D::kReaderBacksOut>>(
      "rma-rw/R7-reader-backs-out", "a reader that meets a closed counter backs out, to come again",
      "starvation", {.readers = 1, .writers = 1, .forever = true}));
  list.push_back(mutant<MutantRmaRw<D::kWaitsForEvenPhase>>(
      "rma-rw/R7-waits-for-even-phase",
      "a registered reader waits until it sees readers' mode, which may be over by then",
      "deadlock", two_writers));
  list.push_back(mutant<MutantRmaRw<D::kResetAfterOpening, 1, 1, CountersAt::kLastRank>>(
      "rma-rw/reset-after-opening",
      "missing flush: the counters are opened before the writer's reset is complete", "deadlock",
      {.readers = 2, .writers = 2}));
  list.push_back(mutant<MutantRmaRw<D::kGivesUpByDeparting>>(
      "rma-rw/gives-up-by-departing",
      "a registered reader that gives up counts itself among those gone: it looks quiet too soon",
      "L1", timed));
  list.push_back(mutant<MutantRmaRw<D::kWriterStaysClosed>>(
      "rma-rw/writer-stays-closed", "lost back-out: a writer that gives up leaves counters closed",
      "L2", timed_both));
  list.push_back(mutant<MutantRmaRw<D::kReleaseSkipsFlush>>(
      "rma-rw/release-skips-flush", "missing flush: a writer's release opens at once", "L3", both));
}

}  // namespace keyway::lockcheck

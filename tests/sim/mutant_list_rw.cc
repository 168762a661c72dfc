#include "tests/conformance/mutants/mutant_rw.h"
#include "tests/sim/mutant_list.h"

namespace keyway::lockcheck {

using conformance::MutantRw;
using D = conformance::RwDefect;

void add_rw_mutants(std::vector<Mutant>& list) {
  const LockShape two{.writers = 2};
  const LockShape asking{.writers = 2, .ask_token = true};
  const LockShape both{.readers = 1, .writers = 1};
  const LockShape all{.alls = 1, .writers = 1};
  const LockShape all_two{.alls = 1, .writers = 2};
  list.push_back(mutant<MutantRw<D::kEntersAfterOneRetry>>(
      "fompi-rw/enters-after-one-retry",
      "missing wait: the second attempt counts as granted, whatever it found", "L1", both));
  list.push_back(mutant<MutantRw<D::kWriterReleaseSkipsFlush>>(
      "fompi-rw/release-skips-flush", "missing flush: a writer's release frees the lock at once",
      "L3", both));
  list.push_back(mutant<MutantRw<D::kFlushAfterRelease>>(
      "fompi-rw/flush-after-release", "wrong order: release frees the lock and then flushes", "L3",
      both));
  list.push_back(mutant<MutantRw<D::kReaderDoesNotBackOut>>(
      "fompi-rw/reader-does-not-back-out", "lost back-out: a failed reader stays counted", "L2",
      both));
  list.push_back(mutant<MutantRw<D::kReleaseStoresZero>>(
      "fompi-rw/release-stores-zero", "a writer's release wipes out a reader that is backing out",
      "L2", both));
  list.push_back(mutant<MutantRw<D::kReaderIgnoresWriter>>(
      "fompi-rw/reader-ignores-writer", "a reader enters whoever is inside", "L1", both));
  list.push_back(mutant<MutantRw<D::kWriterIgnoresReaders>>(
      "fompi-rw/writer-ignores-readers", "a writer enters while readers are inside", "L1", both));
  list.push_back(mutant<MutantRw<D::kTimeoutKeepsCount>>(
      "fompi-rw/timeout-keeps-count", "lost back-out: a reader that gives up stays counted", "L2",
      {.readers = 1, .writers = 1, .manner = Manner::kTimed}));
  list.push_back(mutant<MutantRw<D::kWriterKeepsMaster>>(
      "fompi-rw/writer-keeps-master", "lost back-out: a failed writer stays in the master word",
      "L2", all_two));
  list.push_back(mutant<MutantRw<D::kAllDoesNotBackOut>>(
      "fompi-rw/all-does-not-back-out", "lost back-out: a failed LOCKALL stays counted", "L2",
      all));
  list.push_back(mutant<MutantRw<D::kAllIgnoresWriters>>(
      "fompi-rw/all-ignores-writers", "LOCKALL is granted whoever is inside", "L1", all));
  list.push_back(mutant<MutantRw<D::kMasterLeftEarly>>(
      "fompi-rw/master-left-early",
      "wrong order: a writer leaves the master word before it flushes and frees the lock", "L3",
      all));
  list.push_back(mutant<MutantRw<D::kTokenAfterRelease>>(
      "fompi-rw/token-after-release", "the token's word follows when the lock is free again", "L4",
      asking));
  list.push_back(mutant<MutantRw<D::kWritesBeside>>(
      "fompi-rw/writes-beside", "the holder's name goes to the line behind the lock's", "footprint",
      two));
}

}  // namespace keyway::lockcheck

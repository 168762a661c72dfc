#include "tests/conformance/mutants/mutant_spin.h"
#include "tests/sim/mutant_list.h"

namespace keyway::lockcheck {

using conformance::MutantSpin;
using D = conformance::SpinDefect;

const std::vector<Mutant>& all_mutants() {
  static const std::vector<Mutant> list = [] {
    std::vector<Mutant> made;
    add_spin_mutants(made);
    add_rw_mutants(made);
    add_mcs_mutants(made);
    add_mcs_wp_mutants(made);
    add_stripe_mutants(made);
    add_rma_rw_mutants(made);
    add_alock_mutants(made);
    add_tree_mutants(made);
    return made;
  }();
  return list;
}

void add_spin_mutants(std::vector<Mutant>& list) {
  const LockShape two{.writers = 2};
  const LockShape asking{.writers = 2, .ask_token = true};
  const LockShape timed{.writers = 2, .rounds = 2, .manner = Manner::kTimed};
  list.push_back(mutant<MutantSpin<D::kEntersAfterOneRetry>>(
      "fompi-spin/enters-after-one-retry",
      "missing wait: the second attempt counts as granted, whatever it found", "L1", two));
  list.push_back(mutant<MutantSpin<D::kReleaseSkipsFlush>>(
      "fompi-spin/release-skips-flush", "missing flush: release frees the lock at once", "L3",
      two));
  list.push_back(mutant<MutantSpin<D::kFlushAfterRelease>>(
      "fompi-spin/flush-after-release", "wrong order: release frees the lock and then flushes",
      "L3", two));
  list.push_back(mutant<MutantSpin<D::kAttemptAdds>>(
      "fompi-spin/attempt-adds",
      "lost back-out: an attempt adds one, which a failed one does not take back", "deadlock",
      two));
  list.push_back(mutant<MutantSpin<D::kTimeoutReleases>>(
      "fompi-spin/timeout-releases",
      "wrong back-out: a timed-out acquire frees the lock, which is another's", "L1", timed));
  list.push_back(mutant<MutantSpin<D::kTryTakesOver>>(
      "fompi-spin/try-takes-over", "try_acquire succeeds on a lock that is held", "L1",
      {.writers = 2, .manner = Manner::kTry}));
  list.push_back(mutant<MutantSpin<D::kReleaseForgets>>("fompi-spin/release-forgets",
                                                        "the word stays taken", "deadlock", two));
  list.push_back(mutant<MutantSpin<D::kTokenStaysSame>>(
      "fompi-spin/token-stays-same", "every grant tells the same token", "L4", asking));
  list.push_back(mutant<MutantSpin<D::kTokenAfterRelease>>(
      "fompi-spin/token-after-release", "the token's word follows when the lock is free again",
      "L4", asking));
  list.push_back(mutant<MutantSpin<D::kWritesBeside>>(
      "fompi-spin/writes-beside", "the holder's name goes to the line behind the lock's",
      "footprint", two));
  list.push_back(mutant<MutantSpin<D::kClaimsFifo>>(
      "fompi-spin/claims-fifo", "first come, first served is claimed, and there is no queue",
      "starvation", {.writers = 2, .forever = true}));
}

}  // namespace keyway::lockcheck

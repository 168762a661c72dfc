#include "keyway/tools/lockcheck/switch_program.h"
#include "tests/sim/mutant_list.h"
#include "tests/sim/mutant_stripe.h"

namespace keyway::lockcheck {
namespace {

using D = StripeDefect;

template <D Defect>
Mutant stripe_mutant(std::string name, std::string defect, std::string property,
                     const SwitchShape& shape, const char* second = "d-mcs") {
  return {"switch/" + std::move(name),
          std::move(defect),
          std::move(property),
          {},
          [shape, second](const LockShape&) -> std::unique_ptr<fabric::sim::Program> {
            std::vector<locks::AnyLock> kinds = {*locks::AnyLock::make("gbh:lockall=off"),
                                                 *locks::AnyLock::make(second)};
            return std::make_unique<SwitchProgram<MutantStripe<Defect>>>(
                MutantStripe<Defect>(std::move(kinds)), shape);
          }};
}

}  // namespace

void add_stripe_mutants(std::vector<Mutant>& list) {
  const SwitchShape one{.readers = 0, .writers = 1};
  const SwitchShape two{.readers = 0, .writers = 2};
  // Agent 0 has the second kind in mind: it may be at that lock before the switcher.
  const SwitchShape stale{.readers = 0, .writers = 2, .stale = 0b01};
  // ... agent 1, and its look and its first read go through the network together.
  const SwitchShape stale_far{.readers = 0, .writers = 2, .stale = 0b10};
  list.push_back(stripe_mutant<D::kDoesNotLook>(
      "does-not-look", "whoever has a lock is in, in force or not", "L1", stale));
  list.push_back(stripe_mutant<D::kLooksBefore>(
      "looks-before", "wrong order: looks at the word before it takes the lock", "L1", two));
  list.push_back(stripe_mutant<D::kKeepsStale>(
      "keeps-stale", "lost back-out: moves on without giving the old lock back", "L2", one));
  list.push_back(stripe_mutant<D::kEntersStale>(
      "enters-stale", "learns that the kind has changed, and enters this once", "L1", stale));
  list.push_back(stripe_mutant<D::kWithoutOld>(
      "without-old", "W1: the switcher takes the new lock only", "L4", two));
  list.push_back(stripe_mutant<D::kWithoutNew>(
      "without-new", "W1: the switcher takes the old lock only", "W2", stale_far));
  list.push_back(stripe_mutant<D::kSharesOld>("shares-old",
                                              "W1: the switcher takes the old lock as a reader",
                                              "L1", {.readers = 1, .writers = 1, .stale = 0b10}));
  list.push_back(stripe_mutant<D::kTrustsItself>(
      "trusts-itself", "the switcher does not look whether its kind is in force", "L4",
      {.readers = 0, .writers = 1, .rounds = 4, .switches = 2, .stale = 0b10}));
  list.push_back(stripe_mutant<D::kWordFirst>(
      "word-first", "W1, wrong order: the word changes before the new lock is held", "L4", stale));
  list.push_back(stripe_mutant<D::kReleasesFirst>(
      "releases-first", "W1, wrong order: the old lock is free before the word changes", "L4",
      two));
  list.push_back(stripe_mutant<D::kForgetsToken>("forgets-token",
                                                 "W4: tokens begin anew with the new lock", "L4",
                                                 {.readers = 0, .writers = 1, .rounds = 3}));
  list.push_back(stripe_mutant<D::kTokenAfterRelease>(
      "token-after-release", "W4, wrong order: the token follows when others may be in", "L4",
      stale));
  list.push_back(stripe_mutant<D::kTimeoutKeepsOld>(
      "timeout-keeps-old", "lost back-out: a switch that gives up keeps the lock in force", "L2",
      {.readers = 0, .writers = 1, .stale = 0b1, .manner = Manner::kTimed}));
  list.push_back(stripe_mutant<D::kTryKeepsStale>(
      "try-keeps-stale", "lost back-out: a try keeps the lock that is not in force", "deadlock",
      {.readers = 0, .writers = 1, .stale = 0b1, .manner = Manner::kTry}));
}

std::vector<Mutant> faithful_stripes() {
  const SwitchShape stale{.readers = 0, .writers = 2, .stale = 0b01};
  return {stripe_mutant<D::kNone>("none", "none", "", {}),
          stripe_mutant<D::kNone>("none, met", "none", "", stale)};
}

}  // namespace keyway::lockcheck

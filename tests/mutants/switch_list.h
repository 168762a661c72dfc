// Helpers of the generated list of a stripe lock's mutants.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "keyway/tools/lockcheck/mutant.h"
#include "keyway/tools/lockcheck/switch_program.h"
#include "tests/mutants/erased_lock.h"

namespace keyway::lockcheck {

using MakeSwitch = std::unique_ptr<fabric::sim::Program> (*)(std::vector<ErasedLock> kinds,
                                                             const SwitchShape& shape);

template <class S>
std::unique_ptr<fabric::sim::Program> stripe_of(std::vector<ErasedLock> kinds,
                                                const SwitchShape& shape) {
  return std::make_unique<SwitchProgram<S>>(S(std::move(kinds)), shape);
}

/// A mutant of a stripe's lock, and the real one, both in the same shape. `made.kind`:
/// "gbh > d-mcs", the first kind and the second one.
Mutant switch_of(Mutant made, MakeSwitch mutant, MakeSwitch real, const SwitchShape& shape,
                 const fabric::sim::ExploreOptions& options);

}  // namespace keyway::lockcheck

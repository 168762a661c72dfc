// Helpers of the generated lists of mutants. One template for each lock, and a small one: a mutant
// costs compile time by its own code alone.
#pragma once

#include <string>

#include "keyway/tools/lockcheck/mutant.h"
#include "tests/mutants/erased_lock.h"

namespace keyway::lockcheck {

using MakeLock = ErasedLock (*)(const std::string& kind);

template <class L>
ErasedLock lock_of(const std::string& kind) {
  return ErasedLock::of(*L::make(*locks::LockParams::parse(kind)));
}

/// A mutant, and the real lock of its kind. `made` says what it is; both are explored in the same
/// shape.
Mutant mutant_of(Mutant made, MakeLock mutant, MakeLock real, const LockShape& shape,
                 const fabric::sim::ExploreOptions& options);

}  // namespace keyway::lockcheck

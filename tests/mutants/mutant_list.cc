#include "tests/mutants/mutant_list.h"

#include <fmt/core.h>

#include <memory>
#include <utility>

#include "keyway/tools/lockcheck/lock_program.h"

namespace keyway::lockcheck {
namespace {

Mutant::Make program_of(MakeLock lock, const std::string& kind) {
  return [lock, kind](const LockShape& shape) {
    return std::make_unique<LockProgram<ErasedLock>>(lock(kind), shape);
  };
}

}  // namespace

Mutant mutant_of(Mutant made, MakeLock mutant, MakeLock real, const LockShape& shape,
                 const fabric::sim::ExploreOptions& options) {
  made.shape = shape;
  made.explorer = options;
  made.make = program_of(mutant, made.kind);
  made.real = program_of(real, made.kind);
  // Two mutants of one class and kind, in one shape, share the exploration of the real lock.
  made.real_key =
      fmt::format("{} {}{} {} {} {} {} {} {}", made.lock_class, made.kind, flags_of(shape),
                  shape.most_in_a_row, shape.most_past_leader[0], shape.most_past_leader[1],
                  options.split_rma, options.store_buffers, options.double_stores);
  return made;
}

}  // namespace keyway::lockcheck

#include "tests/mutants/switch_list.h"

#include <fmt/core.h>

#include <string>

#include "keyway/locks/distributed/any_lock.h"

namespace keyway::lockcheck {
namespace {

Mutant::Make program_of(MakeSwitch make, const std::string& kinds, const SwitchShape& shape) {
  return [=](const LockShape&) {
    std::vector<ErasedLock> made;
    const std::size_t between = kinds.find(" > ");
    for (const std::string& kind : {kinds.substr(0, between), kinds.substr(between + 3)}) {
      made.push_back(ErasedLock::of(*locks::AnyLock::make(kind)));
    }
    return make(std::move(made), shape);
  };
}

}  // namespace

Mutant switch_of(Mutant made, MakeSwitch mutant, MakeSwitch real, const SwitchShape& shape,
                 const fabric::sim::ExploreOptions& options) {
  made.explorer = options;
  made.make = program_of(mutant, made.kind, shape);
  made.real = program_of(real, made.kind, shape);
  made.real_key =
      fmt::format("switch {} {} {} {} {} {} {} {} {} {}", made.kind, shape.readers, shape.writers,
                  shape.switchers, shape.rounds, shape.switches, shape.ranks, shape.first,
                  shape.stale, static_cast<int>(shape.manner));
  return made;
}

}  // namespace keyway::lockcheck

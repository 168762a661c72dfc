// The conformance body of Keyway's locks: one body, every kind, every fabric.
//
// A kind that AnyLock lists is checked. A new check adds one line to all_checks(). A new fabric
// brings a world (world.h) and calls run_conformance<World>() in a test case.
#pragma once

#include <catch2/catch.hpp>

#include <string_view>
#include <type_traits>
#include <vector>

#include "keyway/locks/distributed/any_lock.h"
#include "tests/conformance/check_exclusion.h"
#include "tests/conformance/check_handles.h"
#include "tests/conformance/check_order.h"
#include "tests/conformance/check_sharing.h"
#include "tests/conformance/check_timed.h"

namespace keyway::conformance {

/// Every kind, and those with the levers that change its protocol, as the kinds' headers list them.
inline constexpr auto kKinds = locks::AnyLock::kChecked;

template <class L>
struct Check {
  std::string_view name;
  Outcome (*run)(const L& lock, const Setting& setting);
};

template <class World, class L>
std::vector<Check<L>> all_checks() {
  return {
      {"readers", check_readers<World, L>},
      {"try", check_try<World, L>},
      {"guards", check_guards<World, L>},
      {"adaptors", check_adaptors<World, L>},
      {"stats", check_stats<World, L>},
      {"dump", check_dump<World, L>},
      {"release completes", check_release_completes<World, L>},
      {"tokens", check_tokens<World, L>},
      {"giving up", check_giving_up<World, L>},
      {"node supply", check_node_supply<World, L>},
      {"slot reuse", check_slot_reuse<World, L>},
      {"fifo", check_fifo<World, L>},
      {"exclusion", check_exclusion<World, L>},
      {"pair", check_pair<World, L>},
      {"mixed calls", check_mixed_calls<World, L>},
      {"expiry race", check_expiry_race<World, L>},
      {"many locks", check_many_locks<World, L>},
      {"scoped_lock", check_scoped_lock<World, L>},
  };
}

/// For kinds with acquire_all() beside the lock concept.
template <class World, class L>
std::vector<Check<L>> lockall_checks() {
  return {{"lockall", check_lockall<World, L>}, {"lockall load", check_lockall_load<World, L>}};
}

/// Fails the running test case when a check of `lock` fails; prints how to replay it.
template <class World, class L>
void run_checks(const L& lock, std::string_view kind, const std::vector<Check<L>>& checks,
                const Setting& setting) {
  for (const auto& check : checks) {
    DYNAMIC_SECTION(check.name) {
      for (Setting one = setting; one.seed < setting.seed + setting.seeds; ++one.seed) {
        const Outcome outcome = check.run(lock, one);
        INFO(fmt::format("{} on {}: check '{}' failed: {}\nreplay: {}={} TEST -c '{}' -c '{}'",
                         kind, World::kName, check.name, outcome.value_or(""), kSeedVariable,
                         one.seed, kind, check.name));
        CHECK_FALSE(outcome.has_value());
      }
    }
  }
}

/// Every kind through every check on one world.
template <class World>
void run_conformance(const Setting& setting = {}) {
  for (const auto kind : kKinds) {
    DYNAMIC_SECTION(kind) {
      auto lock = locks::AnyLock::make(kind);
      REQUIRE(lock.ok());
      run_checks<World>(*lock, kind, all_checks<World, locks::AnyLock>(), setting);
    }
  }
  for (const std::string_view kind : {"fompi-rw", "gbh"}) {  // LOCKALL is beyond the lock concept
    DYNAMIC_SECTION(kind << " with LOCKALL") {
      auto lock = locks::FompiRw::make(*locks::LockParams::parse(kind));
      REQUIRE(lock.ok());
      run_checks<World>(*lock, kind, lockall_checks<World, locks::FompiRw>(), setting);
    }
  }
}

}  // namespace keyway::conformance

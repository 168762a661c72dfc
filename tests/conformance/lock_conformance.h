// The conformance body of Keyway's locks: one body, every kind, every fabric.
//
// A new kind adds one line to kKinds. A new check adds one line to all_checks(). A new fabric
// brings a world (world.h) and calls run_conformance<World>() in a test case.
#pragma once

#include <catch2/catch.hpp>

#include <array>
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

/// Every kind, with the levers that change its protocol.
inline constexpr std::array<std::string_view, 6> kKinds = {
    "fompi-spin",
    "fompi-spin:backoff_min_ns=50,backoff_max_ns=2000",
    "fompi-rw",
    "gbh",
    "gbh:lockall=off",
    "d-mcs",
};

template <class L>
struct Check {
  std::string_view name;
  Outcome (*run)(const L& lock, const Setting& setting);
};

template <class L, class E>
concept HasLockall = requires(const L& lock, locks::LockAgent<E>& agent, fabric::Address group) {
  lock.release_all(agent, group);
};

template <class World, class L>
std::vector<Check<L>> all_checks() {
  std::vector<Check<L>> checks = {
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
  if constexpr (HasLockall<L, typename World::Fabric::Endpoint>) {
    checks.push_back({"lockall", check_lockall<World, L>});
    checks.push_back({"lockall load", check_lockall_load<World, L>});
  }
  return checks;
}

/// The outcome of the check called `name`; a name that does not exist is a failure as well.
template <class World, class L>
Outcome run_check(const L& lock, std::string_view name, const Setting& setting) {
  for (const auto& check : all_checks<World, L>()) {
    if (check.name == name) return check.run(lock, setting);
  }
  return fmt::format("there is no check '{}'", name);
}

/// Fails the running test case when a check of `lock` fails; prints how to replay it.
template <class World, class L>
void require_conforming(const L& lock, std::string_view kind, const Setting& setting = {}) {
  for (const auto& check : all_checks<World, L>()) {
    DYNAMIC_SECTION(check.name) {
      const Outcome outcome = check.run(lock, setting);
      INFO(fmt::format("{} on {}: check '{}' failed: {}\nreplay: {}={} TEST -c '{}' -c '{}'", kind,
                       World::kName, check.name, outcome.value_or(""), kSeedVariable, setting.seed,
                       kind, check.name));
      CHECK_FALSE(outcome.has_value());
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
      require_conforming<World>(*lock, kind, setting);
    }
  }
  for (const std::string_view kind : {"fompi-rw", "gbh"}) {  // LOCKALL is beyond the lock concept
    DYNAMIC_SECTION(kind << " with LOCKALL") {
      auto lock = locks::FompiRw::make(*locks::LockParams::parse(kind));
      REQUIRE(lock.ok());
      for (const auto name : {"lockall", "lockall load"}) {
        DYNAMIC_SECTION(name) {
          const Outcome outcome = run_check<World>(*lock, name, setting);
          INFO(outcome.value_or("") << "\nreplay: " << kSeedVariable << '=' << setting.seed);
          CHECK_FALSE(outcome.has_value());
        }
      }
    }
  }
}

}  // namespace keyway::conformance

// Explorations for tests: their shapes, and the requirements of each.
#pragma once

#include <fmt/core.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "keyway/locks/distributed/any_lock.h"
#include "keyway/tools/lockcheck/lock_program.h"

namespace keyway::test {

/// Builds that run slowly try less.
#if defined(KEYWAY_SIM_SMALL)
inline constexpr bool kSmall = true;
#else
inline constexpr bool kSmall = false;
#endif

/// With atomics of the two classes that are not atomic with one another.
inline constexpr fabric::sim::ExploreOptions kSplitRma{.split_rma = true};
/// With store buffers; with stores that happen twice.
inline constexpr fabric::sim::ExploreOptions kBuffers{.store_buffers = true};
inline constexpr fabric::sim::ExploreOptions kTwice{.double_stores = true};

inline constexpr lockcheck::Manner kWait = lockcheck::Manner::kWait;
inline constexpr lockcheck::Manner kTimed = lockcheck::Manner::kTimed;

/// A kind, by its text.
template <class L>
L lock_of(std::string_view kind) {
  return *L::make(*locks::LockParams::parse(kind));
}
template <>
inline locks::AnyLock lock_of<locks::AnyLock>(std::string_view kind) {
  return *locks::AnyLock::make(kind);
}

/// The lockcheck command that repeats a finding.
inline std::string replay_of(std::string_view kind, const lockcheck::LockShape& shape,
                             const fabric::sim::ExploreOptions& options,
                             const fabric::sim::ExploreReport& report) {
  return fmt::format(
      "lockcheck --lock {}{}{}{}{}{}{}", kind, lockcheck::flags_of(shape),
      options.split_rma ? " --split-rma" : "", options.store_buffers ? " --store-buffers" : "",
      options.double_stores ? " --double-stores" : "", options.reduce ? "" : " --no-reduction",
      report.violation ? " --replay '" + report.violation->schedule + "'" : "");
}

inline void require_clean(std::string_view kind, const lockcheck::LockShape& shape,
                          const fabric::sim::ExploreOptions& options,
                          const fabric::sim::ExploreReport& report) {
  INFO(replay_of(kind, shape, options, report));
  INFO((report.violation ? report.violation->what : ""));
  CHECK_FALSE(report.violation);
  CHECK(report.steps > 10);
}

/// Every schedule.
template <class L = locks::AnyLock>
fabric::sim::ExploreReport explored(std::string_view kind, const lockcheck::LockShape& shape,
                                    const fabric::sim::ExploreOptions& options = {}) {
  lockcheck::LockProgram<L> program(lock_of<L>(kind), shape);
  fabric::sim::Explorer explorer(program, options);
  auto report = explorer.exhaust(60'000'000);
  require_clean(kind, shape, options, report);
  CHECK(report.complete);
  return report;
}

/// The verdict of all schedules on waiting.
template <class L = locks::AnyLock>
fabric::sim::Waiting waiting_of(std::string_view kind, const lockcheck::LockShape& shape,
                                const fabric::sim::ExploreOptions& options = {}) {
  return explored<L>(kind, shape, options).waiting.value();
}

/// This many uniformly random schedules, and as many with random priorities. Some of the latter
/// need not end: an agent that always goes first may make others back out for ever. If no agent
/// starves, all end.
template <class L = locks::AnyLock>
void random_schedules(std::string_view kind, const lockcheck::LockShape& shape,
                      std::uint64_t executions, fabric::sim::ExploreOptions options = {}) {
  const L lock = lock_of<L>(kind);
  lockcheck::LockProgram<L> program(lock, shape);
  const auto evenly = fabric::sim::Explorer(program, options).random(1, executions);
  require_clean(kind, shape, options, evenly);
  CHECK(evenly.cut == 0);
  // Of 400,000 orders of four agents at rw-ticket with deadlines, the longest takes 2156 steps,
  // also where a million are allowed.
  options.most_steps = (lock.traits().starvation_free ? 1000 : 400) * shape.agents();
  const auto by_priority = fabric::sim::Explorer(program, options).pct(1, executions, 3);
  require_clean(kind, shape, options, by_priority);
  INFO(kind << lockcheck::flags_of(shape));
  if (lock.traits().starvation_free) CHECK(by_priority.cut == 0);
}

}  // namespace keyway::test

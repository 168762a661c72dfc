// Histories in which values expire, by clocks that differ from rank to rank: linearizable for every
// kind of lock, and what one session has found gone stays gone for all.
#include <array>

#include "tests/store/every_lock.h"
#include "tests/store/sim/clocked_session.h"
#include "tests/store/sim/seeds.h"
#include "tests/store/sim/sim_runs.h"
#include "tests/support/shaken_machine.h"

using namespace keyway;
using namespace keyway::test;

namespace {

using ClockedStore = SimStore<ClockedEndpoint>;

constexpr std::uint32_t kRanks = 4;
constexpr std::uint64_t kStartMs = 10'000'000;
/// By how much the clocks of the ranks differ from the test's.
constexpr std::array<std::int64_t, kRanks> kOff = {0, 3, -2, 1};
/// An operation may judge by the latest of these clocks, and another rank's reader by a time that
/// the owner has left long ago.
constexpr Clocks kClocks{.early_ms = 3, .late_ms = 600'000};

/// A millisecond of these clocks is a microsecond of virtual time, so values expire within a few
/// operations.
std::uint64_t clock_ms(ClockedStore& store, std::int64_t off) {
  const auto passed = static_cast<std::int64_t>(store.fabric().time_ns() / 1000);
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(kStartMs) + passed + off);
}

}  // namespace

TEST_CASE("clocks: histories in which values expire are linearizable, for every lock") {
  for (const std::string& lock : every_lock()) {
    DYNAMIC_SECTION(lock) {
      std::uint64_t expired = 0;
      for (const std::uint64_t seed : sim_seeds(3)) {
        INFO(sim_replay(lock, seed));
        ClockedStore store({.lock = lock,
                            .ranks = kRanks,
                            .machine = shaken_machine(2, 2000),
                            .seed = seed,
                            .memory_bytes = kRanks * (64ULL << 10) + store::kMinMemoryBytes,
                            .address_bytes = 1 << 16});
        const DayClock day{
            .now_ms = [&] { return clock_ms(store, 0); }, .span_ms = 200, .waits = false};
        const RecordPlan plan{.rounds = 20,
                              .keys = 4,
                              .operations = 6,
                              .seed = seed,
                              .ranks = kRanks,
                              .expiries = true,
                              .day = &day};
        const History all = recorded(SimTeam(store.fabric()), plan, [&](std::uint32_t me) {
          return store.session(me, [me, &store] { return clock_ms(store, kOff[me]); });
        });
        const auto verdict = LinearizabilityChecker::check(all, kClocks);
        CHECK(verdict.violation.value_or("") == "");
        expired += verdict.expired;
      }
      CHECK(expired > 10);
    }
  }
}

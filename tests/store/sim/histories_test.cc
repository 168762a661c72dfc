// The unchanged store in simulation: with up to 64 ranks, late and overtaking operations and every
// lock kind, histories are linearizable, sums are kept and heaps add up; and a seed is one run, bit
// for bit.
#include <atomic>

#include "keyway/locks/fabric/sim/sim_endpoint.h"
#include "tests/store/sim/seeds.h"
#include "tests/store/sim/sim_runs.h"
#include "tests/support/shaken_machine.h"

using namespace keyway;
using namespace keyway::test;

namespace {

using PlainStore = SimStore<fabric::SimEndpoint>;

constexpr const char* kLocks[] = {"gbh:lockall=off,versions=on", "fompi-rw", "d-mcs"};

struct Size {
  std::uint32_t ranks;
  std::uint32_t ranks_per_node;
  std::uint32_t rounds;
  std::uint32_t actions;  // per teller
};
#if defined(KEYWAY_SIM_SMALL)
constexpr Size kSmall[] = {{4, 2, 4, 8}, {16, 4, 1, 2}};
constexpr Size kLarge{64, 8, 1, 1};
constexpr std::uint64_t kSeeds = 1;
#else
constexpr Size kSmall[] = {{4, 2, 20, 40}, {16, 4, 6, 12}};
constexpr Size kLarge{64, 8, 3, 5};
constexpr std::uint64_t kSeeds = 3;
#endif
constexpr Size kLong[] = {{4, 2, 60, 150}, {16, 4, 20, 50}, {64, 8, 6, 10}};
constexpr std::uint64_t kLongSeeds = 4;
// Several times the latency, so that little arrives in the order of its issue.
constexpr double kJitterNs = 8000;

SimPlan plan_of(const Size& size, const char* lock, std::uint64_t seed) {
  return {.lock = lock,
          .ranks = size.ranks,
          .machine = shaken_machine(size.ranks_per_node, kJitterNs),
          .seed = seed,
          // While it writes, each agent may hold a chunk on every rank.
          .memory_bytes = size.ranks * (64ULL << 10) + store::kMinMemoryBytes,
          // Few enough that addresses displace each other.
          .address_bytes = 4 * store::AddressCache::kSet * store::AddressCache::kBytesPerAddress};
}

SimPrint check_history(const SimPlan& plan, const Size& size) {
  PlainStore store(plan);
  std::atomic<std::uint64_t> ahead = 0;
  RecordPlan record = record_plan(plan, size.rounds);
  record.ahead = &ahead;
  const History all = recorded(SimTeam(store), record, plain_sessions(store));
  // With more ranks a run may be too short for one that knows two places on another rank.
  if (size.ranks <= 4 && size.rounds >= 20) CHECK(ahead > 0);
  REQUIRE(all.size() == std::size_t{size.ranks} * record.rounds * record.operations);
  CHECK(LinearizabilityChecker::violation(all).value_or("") == "");
  const SimPrint print = print_of(store, all);
  check_after(store, plain_sessions(store));
  return print;
}

void check_transfers(const SimPlan& plan, const Size& size) {
  PlainStore store(plan);
  CHECK(transfer_in(store, plan.seed, size.actions, plain_sessions(store)) == "");
  check_after(store, plain_sessions(store));
}

/// Runs `check(plan)` for every lock and seed of one size.
template <class Check>
void for_each_run(const Size& size, std::uint64_t seeds, Check&& check) {
  for (const char* lock : kLocks) {
    const std::string section = fmt::format("{} ranks, {}", size.ranks, lock);
    DYNAMIC_SECTION(section) {
      for (const std::uint64_t seed : sim_seeds(seeds)) {
        INFO(sim_replay(section, seed));
        check(plan_of(size, lock, seed));
      }
    }
  }
}

}  // namespace

TEST_CASE("store in simulation: histories are linearizable") {
  for (const Size& size : kSmall) {
    for_each_run(size, kSeeds, [&](const SimPlan& plan) { check_history(plan, size); });
  }
}

// One slot: if two edits are under way at once, one is one-sided.
TEST_CASE("store in simulation: histories are linearizable where owners make edits") {
  for (const Size& size : kSmall) {
    for_each_run(size, kSeeds, [&](SimPlan plan) {
      plan.call_slots = 1;
      check_history(plan, size);
      check_transfers(plan, size);
    });
  }
}

TEST_CASE("store in simulation: transfers keep the sum, and flags stay equal") {
  for (const Size& size : kSmall) {
    for_each_run(size, kSeeds, [&](const SimPlan& plan) { check_transfers(plan, size); });
  }
}

TEST_CASE("store in simulation: transfers, where reads of several keys take no locks") {
  for (const Size& size : kSmall) {
    for_each_run(size, 1, [&](SimPlan plan) {
      plan.address_bytes = 1 << 16;
      check_transfers(plan, size);
    });
  }
}

TEST_CASE("store in simulation: 64 ranks") {
  for_each_run(kLarge, 1, [](const SimPlan& plan) {
    check_history(plan, kLarge);
    check_transfers(plan, kLarge);
  });
}

TEST_CASE("store in simulation: one seed is one run, and another seed another") {
  for_each_run(kSmall[0], 1, [](const SimPlan& plan) {
    const SimPrint once = check_history(plan, kSmall[0]);
    CHECK(check_history(plan, kSmall[0]) == once);
    SimPlan other = plan;
    ++other.seed;
    CHECK_FALSE(check_history(other, kSmall[0]) == once);
  });
}

TEST_CASE("store in simulation: longer runs by more seeds", "[.long]") {
  for (const Size& size : kLong) {
    for_each_run(size, kLongSeeds, [&](const SimPlan& plan) {
      check_history(plan, size);
      check_transfers(plan, size);
    });
  }
}

// Prints what builds are compared by.
TEST_CASE("store in simulation: prints of some runs", "[.long][print]") {
  for_each_run(kSmall[0], 2, [](const SimPlan& plan) {
    const SimPrint print = check_history(plan, {4, 2, 4, 8});
    WARN(fmt::format("{} seed {}: history {:016x}, {} ns, {} events", plan.lock, plan.seed,
                     print.history, print.time_ns, print.events));
  });
}

// The volume without locks, in orders drawn by seeds: its histories are linearizable. A set that
// only grows is, exactly if an insert that has ended is seen by every find that begins later, no
// find sees one that has not begun, and what one find has seen every later one sees.
#include "keyway/kvstore/atomic_table.h"

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <vector>

#include "keyway/locks/fabric/sim/sim_fabric.h"
#include "seeds.h"
#include "tests/support/shaken_machine.h"

using namespace keyway;
using namespace keyway::store;
using namespace keyway::test;

namespace {

#if defined(KEYWAY_SIM_SMALL)
constexpr std::uint64_t kSeeds = 5;
#else
constexpr std::uint64_t kSeeds = 60;
#endif
constexpr std::uint32_t kRanks = 4;
constexpr std::uint32_t kAgents = 8;
constexpr std::uint64_t kEach = 12;
constexpr fabric::Address kBase{2, 4096};
constexpr AtomicTableShape kShape{.slots = 5, .cells = kAgents * kEach};

// One thread simulates, and an agent is interrupted only in its operations: these are exact.
struct History {
  std::map<std::uint64_t, bool> begun;  // inserts; true when ended, or seen
  std::uint64_t wrong = 0;
};

template <class Table>
void run_agent(Table& table, std::uint32_t me, std::uint64_t seed, History& history) {
  Rng rng(seed * 100 + me);
  std::uint64_t inserted = 0;
  for (std::uint64_t step = 0; step < 3 * kEach; ++step) {
    if (inserted < kEach && rng.below(2) == 0) {
      const std::uint64_t value = me * kEach + ++inserted;
      history.begun[value] = false;
      if (!table.insert(value).ok()) ++history.wrong;
      history.begun[value] = true;
      continue;
    }
    const std::uint64_t value = 1 + rng.below(kAgents * kEach);
    const auto before = history.begun.find(value);
    const bool must = before != history.begun.end() && before->second;
    const bool found = table.find(value);
    if ((must && !found) || (found && !history.begun.contains(value))) ++history.wrong;
    if (found) history.begun[value] = true;
  }
}

}  // namespace

TEST_CASE("atomic table in simulation: histories are linearizable, and the sum is right") {
  for (const std::uint64_t seed : sim_seeds(kSeeds)) {
    INFO(fmt::format("replay: {}={} store_sim 'atomic table in simulation*'", kSimSeedVariable,
                     seed));
    auto fabric =
        std::move(*fabric::SimFabric::create({.machine = shaken_machine(2, 2000),
                                              .ranks = kRanks,
                                              .segment_bytes = kBase.offset() + kShape.bytes(),
                                              .agents_per_rank = kAgents / kRanks + 1,
                                              .seed = seed}));
    std::vector<std::uint32_t> homes;
    std::vector<std::unique_ptr<fabric::SimEndpoint>> endpoints;
    for (std::uint32_t i = 0; i < kAgents; ++i) {
      homes.push_back(i % kRanks);
      endpoints.push_back(
          std::make_unique<fabric::SimEndpoint>(std::move(*fabric.endpoint(homes.back()))));
    }
    History history;
    fabric.run(homes, [&](std::uint32_t i) {
      AtomicTable<fabric::SimEndpoint> table(*endpoints[i], kBase, kShape);
      run_agent(table, i, seed, history);
    });
    REQUIRE(history.wrong == 0);
    auto outsider = std::move(*fabric.endpoint(0));
    AtomicTable<fabric::SimEndpoint> table(outsider, kBase, kShape);
    std::uint64_t expected = 0, sum = 0, count = 0;
    for (const auto& [value, ended] : history.begun) expected += value;
    table.for_each([&](std::uint64_t value) { sum += value, ++count; });
    REQUIRE(count == history.begun.size());
    REQUIRE(sum == expected);
  }
}

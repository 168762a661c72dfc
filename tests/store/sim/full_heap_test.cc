// Full heaps in simulation: many remote writers lease, free and fight for the last blocks, and
// nothing is lost, neither an element nor a byte.
#include <map>

#include "keyway/locks/fabric/sim/sim_endpoint.h"
#include "tests/store/sim/seeds.h"
#include "tests/store/sim/sim_runs.h"
#include "tests/support/shaken_machine.h"

using namespace keyway;
using namespace keyway::test;

namespace {

#if defined(KEYWAY_SIM_SMALL)
constexpr std::uint32_t kWrites = 150;
#else
constexpr std::uint32_t kWrites = 300;
#endif

/// Puts and erases its own keys, of all sizes. Counts the puts that found the heap full.
template <class S>
std::string fill(S& session, std::uint32_t me, Rng rng, std::uint64_t& refused) {
  constexpr std::size_t kSizes[] = {10, 100, 600, 4000, 30'000, 60'000};
  std::map<std::string, std::string> mine;
  for (std::uint32_t i = 0; i < kWrites; ++i) {
    const std::string key = fmt::format("agent {} key {}", me, rng.below(60));
    if (rng.below(4) == 0) {
      if (session.erase(key).ok() != (mine.erase(key) == 1)) return "erase of " + key;
      continue;
    }
    const std::string value(kSizes[rng.below(std::size(kSizes))],
                            static_cast<char>('a' + rng.below(26)));
    const Status status = session.put(key, value, {});
    if (status.ok()) mine[key] = value;
    if (!status.ok() && status.code() != Code::kOutOfSpace) return std::string(status.message());
    refused += !status.ok();
  }
  std::string found;
  for (const auto& [key, value] : mine) {
    if (!session.get(key, found).ok() || found != value) return "lost or changed: " + key;
  }
  return {};
}

}  // namespace

TEST_CASE("store in simulation: full heaps under many remote writers lose nothing") {
  for (const char* lock : {"gbh:lockall=off,versions=on", "d-mcs"}) {
    DYNAMIC_SECTION(lock) {
      for (const std::uint64_t seed : sim_seeds(2)) {
        INFO(sim_replay(lock, seed));
        SimStore<fabric::SimEndpoint> store(
            {.lock = lock, .ranks = 8, .machine = shaken_machine(2, 8000), .seed = seed});
        const SimTeam team(store.fabric());
        auto barrier = team.barrier();
        std::uint64_t refused = 0;
        team.run([&](std::uint32_t me) {
          const auto session = store.session(me);
          const std::string wrong = fill(*session, me, Rng(seed * 100 + me), refused);
          if (!wrong.empty()) barrier.fail(wrong);
        });
        CHECK(barrier.failure() == "");
        CHECK(refused > 0);
        check_after(store, plain_sessions(store));
      }
    }
  }
}

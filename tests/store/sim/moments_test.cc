// Reads of single keys beside writes of several: for a session that reads one key after the other,
// each such write is one moment.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "keyway/kvstore/layout/location.h"
#include "keyway/locks/fabric/sim/sim_endpoint.h"
#include "tests/store/sim/seeds.h"
#include "tests/store/sim/sim_store.h"
#include "tests/support/shaken_machine.h"

using namespace keyway;
using namespace keyway::test;

namespace {

using PlainStore = SimStore<fabric::SimEndpoint>;

#if defined(KEYWAY_SIM_SMALL)
constexpr std::uint64_t kMomentSeeds = 1;
#else
constexpr std::uint64_t kMomentSeeds = 4;
#endif
constexpr std::uint32_t kTellers = 4;
constexpr std::uint64_t kMoments = 30;
constexpr std::uint64_t kReads = 150;
constexpr std::uint64_t kPauseNs = 10'000;

/// How the writer changes all keys in one step.
enum class Step { kPutAll, kAlone };

/// Keys of all ranks, several of each node. A value contains the number of its write, and may have
/// another size.
const std::array<std::string_view, 8> kKeys = {"first", "second key", "the third key", "and 4",
                                               "fifth", "key six",    "seven",         "the 8th"};
std::string text_of(std::uint64_t number, bool moves) {
  return fmt::format("{:0{}}", number, moves ? 20 + number % 3 * 16 : 40);
}

void write(PlainStore::Session& session, std::uint64_t number, Step step, bool moves,
           SimBarrier& barrier) {
  const std::string value = text_of(number, moves);
  Status status;
  if (step == Step::kPutAll) {
    std::array<std::pair<std::string_view, std::string_view>, kKeys.size()> pairs;
    for (std::size_t i = 0; i < kKeys.size(); ++i) pairs[i] = {kKeys[i], value};
    status = session.put_all(pairs, {});
  } else {
    status = session.exclusively([&] {
      const std::string passing = text_of(number + kMoments, moves);  // nobody may see it
      for (const std::string& each : {passing, value}) {
        for (const std::string_view key : kKeys) {
          if (!session.put(key, each, {}).ok()) barrier.fail("a put");
        }
      }
    });
  }
  if (!status.ok()) barrier.fail("a write of all keys");
}

void run(const SimPlan& plan, Step step, bool moves) {
  PlainStore store(plan);
  const SimTeam team(store.fabric());
  auto barrier = team.barrier();
  std::uint64_t accepted = 0, local = 0;
  bool written = false;
  team.run([&](std::uint32_t me) {
    const auto session = store.session(me);
    Rng rng(plan.seed * kTellers + me);
    if (me == 0) write(*session, 0, Step::kPutAll, moves, barrier);
    barrier.arrive_and_wait(me);
    // A write costs rank 0 about as much time as the reads beside it cost the others.
    for (std::uint64_t i = 1; me == 0 && i <= kMoments; ++i)
      write(*session, i, step, moves, barrier);
    if (me == 0) written = true;
    // One session of a node reads all keys, another one only those of its node: all the time, for
    // it need not wait for a session that is alone.
    const bool stays = me % 2 == 1;
    std::vector<std::string_view> keys(kKeys.begin(), kKeys.end());
    if (stays) {
      std::erase_if(keys, [&](std::string_view key) {
        const auto place = store::location_of(store.geometry(), key, store.ranks());
        return !session->endpoint().is_local(place.rank);
      });
    }
    std::uint64_t latest = 0;
    std::string value;
    for (std::uint64_t i = 0; me != 0 && (stays ? !written : i < kReads) && !barrier.failed();
         ++i) {
      if (stays) store.fabric().spend(me, kPauseNs);
      const std::string_view key = keys[rng.below(keys.size())];
      if (!session->get(key, value).ok()) return barrier.fail("a get");
      const std::uint64_t number = std::stoull(value);
      if (number > kMoments) return barrier.fail("a value that was never committed: " + value);
      if (value != text_of(number, moves)) return barrier.fail("torn: " + value);
      if (number < latest) {
        return barrier.fail(fmt::format("'{}' has {} after {} was seen", key, number, latest));
      }
      latest = number;
    }
    accepted += session->optimistic_reads().warm + session->optimistic_reads().cold;
    local += session->local_reads();
  });
  CHECK(barrier.failure() == "");
  CHECK(accepted > kReads / 10);
  CHECK(local > kReads / 10);
}

/// A session that is alone gives a key a value that nobody may see, and then another one, and ends.
/// At each such value a session of another node begins to read the key. Its question whether one is
/// alone may overtake the read, or come after it.
void read_at_the_end(std::uint64_t seed) {
  PlainStore store({.ranks = 2,
                    .machine = shaken_machine(1, 3000),
                    .seed = seed,
                    .memory_bytes = 2 * store::kMinMemoryBytes,
                    .address_bytes = 1 << 12});
  const SimTeam team(store.fabric());
  auto barrier = team.barrier();
  const auto is_of_writer = [&](std::string_view key) {
    return store::location_of(store.geometry(), key, store.ranks()).rank == 0;
  };
  const std::string_view key = *std::find_if(kKeys.begin(), kKeys.end(), is_of_writer);
  std::uint64_t passing = 0, ended = 0, within = 0;
  team.run([&](std::uint32_t me) {
    const auto session = store.session(me);
    Rng rng(seed);
    std::string value;
    for (std::uint64_t number = 1; number <= kMoments; ++number) {
      if (me == 0) write(*session, number, Step::kPutAll, false, barrier);
      if (!barrier.arrive_and_wait(me)) return;
      if (me == 0) {
        const Status status = session->exclusively([&] {
          bool put = session->put(key, text_of(kMoments + 1, false), {}).ok();
          passing = number;
          store.fabric().spend(me, rng.below(kPauseNs));
          put = put && session->put(key, text_of(number, false), {}).ok();
          if (!put) barrier.fail("a put");
        });
        ended = number;
        if (!status.ok()) barrier.fail("to be alone");
      } else {
        // It has read the key before, and has had a permit.
        if (!session->get(key, value).ok()) barrier.fail("a get");
        while (passing != number && !barrier.failed()) store.fabric().spend(me, 100);
        if (ended != number) ++within;
        if (!session->get(key, value).ok()) barrier.fail("a get");
        if (value != text_of(number, false)) return barrier.fail("a value that was replaced");
      }
      if (!barrier.arrive_and_wait(me)) return;
    }
  });
  CHECK(barrier.failure() == "");
  CHECK(within > kMoments / 2);
}

}  // namespace

TEST_CASE("moments: a read does not overtake its question whether a session is alone") {
  for (const std::uint64_t seed : sim_seeds(kMomentSeeds)) {
    INFO(sim_replay("", seed));
    read_at_the_end(seed);
  }
}

TEST_CASE("moments: writes of several keys are moments for reads of one") {
  for (const Step step : {Step::kPutAll, Step::kAlone}) {
    for (const bool moves : {false, true}) {
      const std::string section =
          fmt::format("{}{}", step == Step::kAlone ? "alone" : "put_all", moves ? ", moving" : "");
      DYNAMIC_SECTION(section) {
        for (const std::uint64_t seed : sim_seeds(kMomentSeeds)) {
          INFO(sim_replay(section, seed));
          run({.ranks = kTellers,
               .machine = shaken_machine(2, 3000),
               .seed = seed,
               .memory_bytes = 2 * store::kMinMemoryBytes,
               .address_bytes = 1 << 12},
              step, moves);
        }
      }
    }
  }
}

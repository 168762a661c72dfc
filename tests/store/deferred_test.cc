// The store on a fabric in which posted operations happen at the flush and not before, in any
// order, and every rank but the agent's own is remote: one missing flush, or a buffer that is used
// again too early, shows here. Fibers, so that a seed replays a failure.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <span>
#include <vector>

#include "every_lock.h"
#include "keyway/kvstore/layout/geometry.h"
#include "keyway/locks/base/rng.h"
#include "keyway/locks/distributed/stripe_lock.h"
#include "logs.h"
#include "recorded.h"
#include "restless.h"
#include "team.h"
#include "tests/conformance/deferred_fabric.h"
#include "tests/store/deferred_session.h"
#include "tests/support/linearizability.h"
#include "transfers.h"
#include "volumes.h"

using namespace keyway;
using namespace keyway::test;
using conformance::DeferredEndpoint;
using conformance::DeferredFabric;

namespace {

constexpr std::uint32_t kRanks = 3;

using Kinds = std::vector<locks::AnyLock>;

/// In the order that a geometry wants: those with words on every rank come first.
Kinds kinds_of(std::span<const std::string> names) {
  Kinds kinds;
  for (const std::string& name : names) kinds.push_back(*locks::AnyLock::make(name));
  std::stable_partition(kinds.begin(), kinds.end(),
                        [](const auto& kind) { return kind.traits().satellites; });
  return kinds;
}

struct LazyStore {
  LazyStore(std::span<const std::string> names, std::uint64_t seed,
            std::chrono::nanoseconds timeout = std::chrono::seconds(60))
      : timeout(timeout),
        kinds(kinds_of(names)),
        geometry(
            *store::Geometry::plan({.memory_bytes = 6 << 20,
                                    .buckets = 8,
                                    .stripes = 4,
                                    .agents_per_rank = 4,
                                    .nodes_per_agent = 32,
                                    .lock_kinds = static_cast<std::uint32_t>(kinds.size()),
                                    .satellite_kinds = static_cast<std::uint32_t>(std::count_if(
                                        kinds.begin(), kinds.end(),
                                        [](const auto& kind) { return kind.traits().satellites; })),
                                    .ranks = kRanks})),
        lock(kinds),
        fabric(deferred_fabric(geometry, kRanks, /*agents_per_rank=*/4, seed)) {}
  LazyStore(const std::string& name, std::uint64_t seed,
            std::chrono::nanoseconds timeout = std::chrono::seconds(60))
      : LazyStore(std::span(&name, 1), seed, timeout) {}
  std::unique_ptr<LazySession> session(std::uint32_t agent) {
    return std::make_unique<LazySession>(std::move(*fabric.endpoint(agent % kRanks)), geometry,
                                         lock, store::SessionOptions{.timeout = timeout});
  }
  void check_heap() {
    const auto walker = session(0);
    check_volumes(*walker, kRanks);
  }
  std::uint64_t live_bytes() {
    const auto walker = session(0);
    std::uint64_t live = 0;
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) live += walker->report(rank)->live_bytes;
    return live;
  }

  std::chrono::nanoseconds timeout;
  Kinds kinds;
  store::Geometry geometry;
  locks::StripeLock lock;
  DeferredFabric fabric;
};

constexpr Team kTeam{.threads = 1, .fibers = 5};
/// A reader on another rank may trust a time that the owner has left long ago.
constexpr Clocks kFarClocks{.late_ms = 600'000};

/// All elements, by a scan in steps of `limit`.
std::map<std::string, std::string> scanned(LazySession& session, std::uint64_t limit) {
  std::map<std::string, std::string> shown;
  std::uint64_t cursor = 0;
  do {
    const auto next =
        session.scan(cursor, limit, [&](auto key, auto value) { shown.emplace(key, value); });
    REQUIRE(next.ok());
    cursor = *next;
  } while (cursor != 0);
  return shown;
}

}  // namespace

TEST_CASE("deferred: histories with lazy, remote agents are linearizable, for every lock") {
  for (const std::string& lock : every_lock()) {
    for (std::uint64_t seed = 1; seed <= scaled(5); ++seed) {
      CAPTURE(lock, seed);
      LazyStore store(lock, seed);
      const RecordPlan plan{.rounds = 30, .keys = 3, .operations = 5, .seed = seed};
      const History all =
          recorded(kTeam, plan, [&](std::uint32_t me) { return store.session(me); });
      CHECK(LinearizabilityChecker::violation(all).value_or("") == "");
      store.check_heap();
    }
  }
}

TEST_CASE(
    "deferred: so are those of elements of all sizes that expire, in chains, for every lock") {
  const DayClock day;
  std::uint64_t expired = 0;
  for (const std::string& lock : every_lock()) {
    for (std::uint64_t seed = 1; seed <= scaled(3); ++seed) {
      for (const bool clears : {false, true}) {
        CAPTURE(lock, seed, clears);
        LazyStore store(lock, seed);
        RecordPlan plan = varied_plan(15, seed, kRanks);
        plan.neighbours = !clears;
        plan.clears = clears;
        plan.day = &day;
        const History all =
            recorded(kTeam, plan, [&](std::uint32_t me) { return store.session(me); });
        const auto verdict = LinearizabilityChecker::check(all, kFarClocks);
        CHECK(verdict.violation.value_or("") == "");
        expired += verdict.expired;
        store.check_heap();
      }
    }
  }
  CHECK(expired > 0);
}

TEST_CASE("deferred: an operation that gave up has done nothing, for every lock") {
  constexpr std::chrono::milliseconds kTimeout{2};
  for (const std::string& lock : every_lock()) {
    CAPTURE(lock);
    LazyStore store(lock, 1, kTimeout);
    Haste haste{.timeout = kTimeout};
    RecordPlan plan = varied_plan(std::max(6u, scaled(10)), 14, kRanks);
    plan.neighbours = true;
    plan.haste = &haste;
    const History all = recorded(kTeam, plan, [&](std::uint32_t me) { return store.session(me); });
    CHECK(haste.gave_up > 0);
    CHECK(LinearizabilityChecker::violation(all).value_or("") == "");
    store.timeout = std::chrono::seconds(60);
    store.check_heap();
  }
}

/// The histories' agents remember which kind a stripe had, and come with its lock when it has
/// another one long since.
TEST_CASE("deferred: histories are linearizable while the kinds of far stripes change") {
  const std::vector<std::string> locks = every_lock();
  for (std::size_t i = 0; i < locks.size(); ++i) {
    const std::array<std::string, 2> pair{locks[i], locks[(i + 3) % locks.size()]};
    for (std::uint64_t seed = 1; seed <= scaled(3); ++seed) {
      CAPTURE(pair[0], pair[1], seed);
      LazyStore store(pair, seed);
      const RecordPlan plan{.rounds = 15,
                            .keys = 3,
                            .operations = 6,
                            .seed = seed,
                            .ranks = kRanks,
                            .expiries = true,
                            .neighbours = true};
      const History all = recorded(kTeam, plan, [&](std::uint32_t me) {
        return std::make_unique<Restless<LazySession>>(store.session(me), store.geometry,
                                                       seed * 100 + me);
      });
      CHECK(LinearizabilityChecker::violation(all).value_or("") == "");
      store.check_heap();
    }
  }
}

TEST_CASE("deferred: transfers of lazy, remote agents keep the sum, for every lock") {
  for (const std::string& lock : every_lock()) {
    for (std::uint64_t seed = 1; seed <= scaled(5); ++seed) {
      CAPTURE(lock, seed);
      LazyStore store(lock, seed);
      Barrier barrier(kTeam.agents());
      kTeam.run([&](std::uint32_t me) {
        const auto session = store.session(me);
        Teller<LazySession> teller(*session, me, seed);
        if (me == 0 && !teller.open_accounts().ok()) barrier.fail("opening the accounts");
        barrier.arrive_and_wait();
        for (int i = 0; i < 60 && !barrier.failed(); ++i) {
          if (auto wrong = teller.act()) barrier.fail(*wrong);
        }
      });
      REQUIRE(barrier.failure() == "");
      store.check_heap();
    }
  }
}

TEST_CASE("deferred: parts of values that lazy, remote agents change are all there") {
  for (const char* lock : {"gbh:lockall=off,versions=on", "fompi-rw", "fompi-spin", "d-mcs"}) {
    for (std::uint64_t seed = 1; seed <= scaled(5); ++seed) {
      CAPTURE(lock, seed);
      LazyStore store(lock, seed);
      const auto open = [&](std::uint32_t me) { return store.session(me); };
      CHECK(run_loggers(kTeam, seed, 60, open) == "");
      store.check_heap();
    }
  }
}

/// A session that is alone takes no locks, so no release completes its posted writes.
TEST_CASE("deferred: a lazy session that is alone finds what it has just written, for every lock") {
  for (const std::string& lock : every_lock()) {
    for (std::uint64_t seed = 1; seed <= scaled(3); ++seed) {
      CAPTURE(lock, seed);
      LazyStore store(lock, seed);
      const auto session = store.session(1);
      LazySession& s = *session;
      std::map<std::string, std::string> model;
      Rng rng(seed);
      const auto step = [&] {
        const std::string key = fmt::format("key {}", rng.below(12));
        if (rng.below(4) == 0) {
          CHECK(s.erase(key).ok() == (model.erase(key) == 1));
          return;
        }
        model[key] = std::string(rng.below(3) == 0 ? 30'000 : rng.below(60),
                                 static_cast<char>('a' + rng.below(26)));
        CHECK(s.put(key, model[key], {}).ok());
        std::string found;
        CHECK(s.get(key, found).ok());
        CHECK(found == model[key]);
      };
      const auto look = [&] { CHECK(scanned(s, 1000) == model); };
      for (int i = 0; i < 5; ++i) {
        const auto steps = [&] {
          for (int j = 0; j < 10; ++j) step();
          look();
        };
        REQUIRE(s.exclusively(steps).ok());
        look();
      }
      CHECK(*s.size() == model.size());
    }
  }
}

TEST_CASE("deferred: a value of several chunks takes and releases them as it grows and shrinks") {
  LazyStore store("d-mcs", 1);
  for (const std::uint64_t chunks : {3, 2, 4, 1, 2, 0}) {
    CAPTURE(chunks);
    {
      const auto session = store.session(1);
      const std::string value(chunks * store::kChunkBytes + 100, static_cast<char>('a' + chunks));
      REQUIRE(session->put("the key", value, {}).ok());
      std::string found;
      REQUIRE(session->get("the key", found).ok());
      CHECK(found == value);
    }
    store.check_heap();
    CHECK(store.live_bytes() <= (chunks + 1) * store::kChunkBytes);
  }
}

TEST_CASE("deferred: runs, sweeps, clears and scans of a lazy, remote session") {
  for (std::uint64_t seed = 1; seed <= scaled(10); ++seed) {
    CAPTURE(seed);
    LazyStore store("gbh:lockall=off,versions=on", seed);
    const auto session = store.session(1);
    LazySession& s = *session;
    std::map<std::string, std::string> model;
    for (int i = 0; i < 120; ++i) {
      const std::string key = fmt::format("{} of the keys", i);
      std::string value(static_cast<std::size_t>(i % 10 == 0 ? 30'000 + i : i * 3),
                        static_cast<char>('a' + i % 26));
      REQUIRE(s.put(key, value, {.expires_at_ms = i % 4 == 0 ? 1u : 0u}).ok());
      if (i % 4 != 0) model[key] = value;
    }
    std::uint64_t swept = 0;
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) swept += *s.sweep_expired(rank);
    CHECK(swept == 30);
    CHECK(*s.size() == model.size());
    CHECK(scanned(s, 1000) == model);
    CHECK(scanned(s, 7) == model);  // steps that stop within a bucket
    REQUIRE(s.clear().ok());
    CHECK(*s.size() == 0);
    for (const auto& [key, value] : model) {
      std::string out;
      CHECK(s.get(key, out) == Code::kNotFound);
    }
  }
}

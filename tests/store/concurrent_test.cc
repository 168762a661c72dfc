// Threads and fibers on local:, with every lock kind: linearizable histories, atomic transfers, and
// a heap that adds up when they have gone.
#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

#include "accounting.h"
#include "every_lock.h"
#include "keyway/locks/base/rng.h"
#include "logs.h"
#include "recorded.h"
#include "team.h"
#include "tests/support/linearizability.h"
#include "transfers.h"

using namespace keyway;
using namespace keyway::test;

namespace {

constexpr const char* kLocks[] = {
    "gbh", "gbh:lockall=off,versions=on", "fompi-rw", "fompi-spin", "d-mcs", "auto"};
// Fibers of several threads, so that a fiber is stopped inside an operation and its siblings
// continue.
constexpr Team kTeams[] = {{.threads = 4}, {.threads = 2, .fibers = 3}};

Store open_with(const char* lock, std::uint32_t ranks) {
  return open_local(
      fmt::format("local:?memory=4MiB&sessions=8&locks_per_session=32&ranks={}&buckets=64&"
                  "stripes=16&lock={}&timeout=60s",
                  ranks, lock));
}

/// Few buckets, so that chains are long.
Store open_crowded(const std::string& lock, const char* timeout = "60s") {
  return open_local(
      fmt::format("local:?memory=8MiB&sessions=8&locks_per_session=32&ranks=2&buckets=8&"
                  "stripes=4&lock={}&timeout={}",
                  lock, timeout));
}

/// At rest with one session open, everything is live, free, or with that session.
void check_after(Store& store) {
  Session walker = session_of(store);
  check_heap(store, walker);
  REQUIRE(walker.clear().ok());
  check_heap(store, walker);
  CHECK(*walker.size() == 0);
}

}  // namespace

TEST_CASE("concurrent: histories are linearizable, for every lock, with threads and with fibers") {
  for (const Team& team : kTeams) {
    for (const char* lock : kLocks) {
      for (const std::uint32_t ranks : {1u, 3u}) {
        CAPTURE(lock, ranks, team.fibers);
        Store store = open_with(lock, ranks);
        const RecordPlan plan{.rounds = scaled(400), .keys = 3, .operations = 5, .seed = ranks};
        const History all =
            recorded(team, plan, [&](std::uint32_t) { return std::move(*store.session()); });
        REQUIRE(all.size() == std::size_t{team.agents()} * plan.rounds * plan.operations);
        CHECK(LinearizabilityChecker::violation(all).value_or("") == "");
        check_after(store);
      }
    }
  }
}

TEST_CASE("concurrent: parts of values that many change are all there, for every lock") {
  for (const Team& team : kTeams) {
    for (const char* lock : kLocks) {
      for (const std::uint32_t ranks : {1u, 3u}) {
        CAPTURE(lock, ranks, team.fibers);
        Store store = open_with(lock, ranks);
        const auto open = [&](std::uint32_t) { return std::move(*store.session()); };
        CHECK(run_loggers(team, ranks, scaled(1000), open) == "");
        check_after(store);
      }
    }
  }
}

TEST_CASE(
    "concurrent: so are those of elements of all sizes that expire, in chains, for every lock") {
  const DayClock day;
  std::uint64_t expired = 0;
  for (const Team& team : kTeams) {
    for (const std::string& lock : every_lock()) {
      CAPTURE(lock, team.fibers);
      Store store = open_crowded(lock);
      RecordPlan plan = varied_plan(scaled(60), 11, 2);
      plan.neighbours = true;
      plan.day = &day;
      const History all =
          recorded(team, plan, [&](std::uint32_t) { return std::move(*store.session()); });
      const auto verdict = LinearizabilityChecker::check(all);
      CHECK(verdict.violation.value_or("") == "");
      expired += verdict.expired;
      check_after(store);
    }
  }
  CHECK(expired > 0);
}

TEST_CASE("concurrent: and those in which the whole store is cleared, for every lock") {
  for (const std::string& lock : every_lock()) {
    CAPTURE(lock);
    Store store = open_crowded(lock);
    RecordPlan plan = varied_plan(scaled(60), 12, 2);
    plan.clears = true;
    const History all =
        recorded(kTeams[0], plan, [&](std::uint32_t) { return std::move(*store.session()); });
    CHECK(LinearizabilityChecker::violation(all).value_or("") == "");
    check_after(store);
  }
}

TEST_CASE("concurrent: an operation that gave up has done nothing, for every lock") {
  for (const std::string& lock : every_lock()) {
    CAPTURE(lock);
    Store store = open_crowded(lock, "2ms");
    Haste haste{.timeout = std::chrono::milliseconds(2)};
    RecordPlan plan = varied_plan(std::max(6u, scaled(10)), 13, 2);
    plan.neighbours = true;
    plan.haste = &haste;
    const History all =
        recorded(kTeams[0], plan, [&](std::uint32_t) { return std::move(*store.session()); });
    CHECK(haste.gave_up > 0);
    CHECK(haste.in_doubt == 0);
    CHECK(LinearizabilityChecker::violation(all).value_or("") == "");
    check_after(store);
  }
}

TEST_CASE("concurrent: histories are linearizable while a thread changes the kinds of the locks") {
  for (const Team& team : kTeams) {
    CAPTURE(team.fibers);
    Store store = open_with("auto", 3);
    std::atomic<bool> done{false};
    std::uint64_t switched = 0;
    std::thread stirrer([&] {
      Session session = session_of(store);
      const auto kinds = session.inspector().lock_kinds(0);
      Rng rng(7);
      // relaxed: nothing is published with it; join() comes before anything is looked at.
      while (!done.load(std::memory_order_relaxed) || switched < 10) {
        const auto rank = static_cast<std::uint32_t>(rng.below(store.ranks()));
        const auto& kind = kinds[rng.below(kinds.size())].kind;
        switched += session.inspector().switch_lock(rank, rng.below(16), kind).ok();
      }
    });
    const RecordPlan plan{.rounds = scaled(400), .keys = 3, .operations = 5, .seed = 5};
    const History all =
        recorded(team, plan, [&](std::uint32_t) { return std::move(*store.session()); });
    done.store(true, std::memory_order_relaxed);
    stirrer.join();
    CHECK(LinearizabilityChecker::violation(all).value_or("") == "");
    CHECK(switched >= 10);
    check_after(store);
  }
}

// A store still in its processor's buffer when the next read is made would show here.
TEST_CASE("concurrent: of two sessions that write and then read, one sees the other's write") {
  for (const char* lock : {"fompi-spin", "gbh", "auto"}) {
    CAPTURE(lock);
    Store store = open_with(lock, 1);
    const std::array<std::string, 2> keys = {"the first key", "the second one"};
    const std::uint32_t rounds = scaled(100'000);
    std::array<std::vector<std::string>, 2> seen;
    Barrier barrier(2);
    std::array<Session, 2> sessions = {session_of(store), session_of(store)};
    const auto run = [&](std::size_t me) {
      Session& session = sessions[me];
      const auto text = [](std::uint32_t round) { return fmt::format("{:08}", round); };
      if (!session.put(keys[me], text(0)).ok()) barrier.fail("a put");
      for (std::uint32_t round = 1; round <= rounds && barrier.arrive_and_wait(); ++round) {
        const std::string own = text(round);
        std::string other;
        const bool ok = session.put(keys[me], own).ok() && session.get(keys[1 - me], other).ok();
        if (!ok) barrier.fail("a put or a get");
        seen[me].push_back(other == own ? "" : own);  // empty: it saw the other's write
      }
    };
    std::thread second([&] { run(1); });
    run(0);
    second.join();
    CHECK(barrier.failure() == "");
    REQUIRE(seen[0].size() == seen[1].size());
    for (std::size_t i = 0; i < seen[0].size(); ++i) {
      if (!seen[0][i].empty() && !seen[1][i].empty()) FAIL("both miss round " + seen[0][i]);
    }
  }
}

TEST_CASE("concurrent: transfers across stripes and ranks keep the sum, and flags stay equal") {
  for (const Team& team : kTeams) {
    for (const char* lock : kLocks) {
      for (const std::uint32_t ranks : {1u, 3u}) {
        CAPTURE(lock, ranks, team.fibers);
        Store store = open_with(lock, ranks);
        {
          Session first = session_of(store);
          REQUIRE(Teller<Session>(first, 99, 1).open_accounts().ok());
        }
        Barrier barrier(team.agents());
        team.run([&](std::uint32_t me) {
          Session session = std::move(*store.session());
          Teller<Session> teller(session, me, 1);
          barrier.arrive_and_wait();
          for (std::uint32_t i = 0; i < scaled(1500) && !barrier.failed(); ++i) {
            if (auto wrong = teller.act()) barrier.fail(*wrong);
          }
        });
        REQUIRE(barrier.failure() == "");
        Session last = session_of(store);
        CHECK(Teller<Session>(last, 99, 2).count().value_or("") == "");
      }
    }
  }
}

TEST_CASE("concurrent: increments and appends of many agents all count") {
  for (const char* lock : kLocks) {
    CAPTURE(lock);
    Store store = open_with(lock, 2);
    constexpr std::uint32_t kAgents = 4;
    const std::uint32_t times = scaled(1000);
    Barrier barrier(kAgents);
    Team{.threads = kAgents}.run([&](std::uint32_t me) {
      Session s = std::move(*store.session());
      barrier.arrive_and_wait();
      for (std::uint32_t i = 0; i < times; ++i) {
        if (!s.increment("counter").ok() ||
            !s.append("log", std::string(1, static_cast<char>('a' + me))).ok()) {
          barrier.fail("an increment or an append failed");
        }
      }
    });
    CHECK(barrier.failure() == "");
    Session s = session_of(store);
    CHECK(*s.get("counter") == std::to_string(kAgents * times));
    const std::string log = *s.get("log");
    CHECK(log.size() == kAgents * times);
    for (std::uint32_t me = 0; me < kAgents; ++me) {
      CHECK(std::count(log.begin(), log.end(), static_cast<char>('a' + me)) == times);
    }
  }
}

TEST_CASE("concurrent: a full heap under many writers loses nothing") {
  Store store = open_local(
      "local:?memory=2MiB&sessions=6&locks_per_session=16&ranks=2&buckets=64&lock=gbh:lockall=off");
  constexpr std::uint32_t kAgents = 4;
  Barrier barrier(kAgents);
  std::atomic<std::uint64_t> refused{0};
  Team{.threads = kAgents}.run([&](std::uint32_t me) {
    Session s = std::move(*store.session());
    Rng rng(me);
    std::map<std::string, std::string> mine;  // the keys are private, the heap is shared
    barrier.arrive_and_wait();
    for (std::uint32_t i = 0; i < scaled(4000) && !barrier.failed(); ++i) {
      const std::string key = fmt::format("agent {} key {}", me, rng.below(300));
      constexpr std::size_t kSizes[] = {10, 100, 600, 4000, 30'000};
      if (rng.below(3) == 0) {
        if (s.erase(key).ok() != (mine.erase(key) == 1)) barrier.fail("erase of " + key);
      } else {
        const std::string value = pattern(kSizes[rng.below(std::size(kSizes))], i);
        const Status status = s.put(key, value);
        if (status.ok()) mine[key] = value;
        if (!status.ok() && status.code() != Code::kOutOfSpace)
          barrier.fail(std::string(status.message()));
        // relaxed: read after the threads have ended
        if (!status.ok()) refused.fetch_add(1, std::memory_order_relaxed);
      }
    }
    for (const auto& [key, value] : mine) {
      const auto found = s.get(key);
      if (!found.ok() || *found != value) barrier.fail("lost or changed: " + key);
    }
  });
  CHECK(barrier.failure() == "");
  CHECK(refused.load(std::memory_order_relaxed) > 0);
  check_after(store);
}

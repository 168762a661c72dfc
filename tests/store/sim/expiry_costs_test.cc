// The cost of expiry over a network, in round trips: none for elements without expiry, and only the
// first time for elements with one.
#include <fmt/core.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/store/sim/clocked_session.h"
#include "tests/store/sim/sim_store.h"
#include "tests/support/slow_network.h"

using namespace keyway;
using namespace keyway::test;

namespace {

constexpr std::uint64_t kNow = 1'000'000;
const std::string kValue(100, 'v');

/// A session of rank 1, and a key of rank 0.
struct FarSession {
  explicit FarSession(SimStore<ClockedEndpoint>& store)
      : session(store.session(1, [this] {
          ++looks;
          return now;
        })) {
    while (session->stripe_of(key).rank != 0) key += "+";
    const double began = time_ns();
    session->endpoint().load(fabric::rma, store.geometry().header(0));
    round_trip_ns = time_ns() - began;
  }
  double time_ns() const { return static_cast<double>(session->endpoint().now_ns()); }
  std::int64_t round_trips(const std::function<bool()>& operation) {
    const double began = time_ns();
    if (!operation()) return -1;
    return static_cast<std::int64_t>((time_ns() - began) / round_trip_ns + 0.5);
  }
  std::int64_t gets() {
    return round_trips([this] { return session->get(key, value).ok(); });
  }
  std::int64_t misses() {
    return round_trips([this] { return session->get(key, value) == Code::kNotFound; });
  }
  std::int64_t puts(std::uint64_t expires_at_ms) {
    const store::PutOptions options{.expires_at_ms = expires_at_ms};
    return round_trips([&] { return session->put(key, kValue, options).ok(); });
  }

  std::uint64_t now = kNow;
  std::uint64_t looks = 0;  // at the clock
  std::unique_ptr<store::Session<ClockedEndpoint>> session;
  std::string key = "key";
  std::string value;
  double round_trip_ns = 0;
};

void run_far(const std::function<void(FarSession&)>& body) {
  // The store is so large that an agent may keep chunks of several classes (H6).
  SimStore<ClockedEndpoint> store(
      {.ranks = 2, .machine = slow_network(), .memory_bytes = 4 * store::kMinMemoryBytes});
  const SimTeam team(store.fabric());
  team.run([&](std::uint32_t me) {
    if (me != 1) return;
    FarSession far(store);
    REQUIRE(far.round_trip_ns > 0);
    REQUIRE(far.puts(store::kNoExpiry) > 0);  // later operations find chunks leased
    body(far);
  });
}

}  // namespace

TEST_CASE("expiry costs: elements without expiry cost no look at a clock") {
  run_far([](FarSession& far) {
    CHECK(far.gets() == 2);  // lock with line, element
    CHECK(far.puts(store::kNoExpiry) == 3);
    CHECK(far.gets() == 2);
    CHECK(far.looks == 0);
  });
}

TEST_CASE("expiry costs: the words of the clock come with the element, but for the first time") {
  run_far([](FarSession& far) {
    const std::int64_t get = far.gets();
    REQUIRE(far.puts(kNow + 1000) > 0);
    CHECK(far.gets() == get + 1);
    CHECK(far.gets() == get);
    CHECK(far.gets() == get);
    CHECK(far.looks == 3);
    far.now = kNow + 2000;
    CHECK(far.misses() == get + 1);  // it leaves word that this is past
    CHECK(far.misses() == get);
  });
}

TEST_CASE("expiry costs: a stripe's next expiry comes with the line, but for the first time") {
  run_far([](FarSession& far) {
    const std::int64_t put = far.puts(store::kNoExpiry);
    REQUIRE(far.puts(kNow + 1000) > 0);
    CHECK(far.puts(kNow + 1000) == put + 1);  // the clock, for the element that was there
    CHECK(far.puts(kNow + 1000) == put);
    CHECK(far.puts(kNow + 500) == put);
    CHECK(far.puts(kNow + 2000) == put);
    CHECK(far.puts(store::kNoExpiry) <= put + 1);  // its element may need another block
    CHECK(far.puts(store::kNoExpiry) == put);
    CHECK(far.puts(kNow + 1000) <= put + 2);
  });
}

TEST_CASE("expiry costs: to renew that of a large element is as many as of a small one") {
  run_far([](FarSession& far) {
    std::vector<std::int64_t> costs[2];
    for (const bool large : {false, true}) {
      const std::string value(large ? 20'000 : 1'000, 'v');
      REQUIRE(far.session->put(far.key, value, {.expires_at_ms = kNow + 1000}).ok());
      // The words of the clock come with an element from the second reading on.
      REQUIRE(far.session->set_expiry(far.key, kNow + 1500).ok());
      REQUIRE(far.session->info(far.key).ok());
      for (std::uint64_t i = 2; i < 5; ++i) {
        costs[large].push_back(far.round_trips(
            [&] { return far.session->set_expiry(far.key, kNow + i * 1000).ok(); }));
        costs[large].push_back(far.round_trips([&] { return far.session->info(far.key).ok(); }));
      }
    }
    CHECK(costs[0] == costs[1]);
    CHECK(costs[1].front() > 0);
  });
}

TEST_CASE("expiry costs: to tell the owner's time is one round trip") {
  run_far([](FarSession& far) {
    CHECK(far.round_trips([&] { return far.session->now_ms(far.key) == kNow; }) == 1);
  });
}

TEST_CASE("expiry costs: at home nothing goes through the fabric") {
  SimStore<ClockedEndpoint> store({.lock = "alock-rw",
                                   .ranks = 2,
                                   .machine = slow_network(),
                                   .memory_bytes = 4 * store::kMinMemoryBytes});
  const SimTeam team(store.fabric());
  team.run([&](std::uint32_t me) {
    if (me != 0) return;
    const auto session = store.session(0, [] { return kNow; });
    std::string key = "key";
    while (session->stripe_of(key).rank != 0) key += "+";
    std::string value;
    const auto once = [&](std::uint64_t expiry) {
      REQUIRE(session->put(key, kValue, {.expires_at_ms = expiry}).ok());
      REQUIRE(session->put(key, kValue, {}).ok());
      REQUIRE(session->set_expiry(key, expiry + 1).ok());
      REQUIRE(session->get(key, value).ok());
      REQUIRE(session->set_expiry(key, store::kNoExpiry).ok());
      REQUIRE(session->get(key, value).ok());
    };
    once(kNow + 1000);  // leases blocks, whose words other nodes change as well
    const auto loopbacks = [&] { return session->remote_work().loopbacks; };
    const std::uint64_t before = loopbacks();
    REQUIRE(before > 0);
    for (std::uint64_t i = 0; i < 20; ++i) once(kNow + 1000 + i);
    CHECK(loopbacks() == before);
    CHECK(session->counts(0).expiring == 0);
    REQUIRE(session->set_expiry(key, kNow + 1000).ok());
    CHECK(session->counts(0).expiring == 1);
  });
}

// An atomic of a card is two accesses for processors, and undoes what they do in between: here half
// of the time of each.
TEST_CASE("expiry counts: of a session at home and one on another node, at the same time") {
  fabric::sim::Machine machine = slow_network(2'000);
  machine.card.atomic_ns = machine.loopback_card.atomic_ns = 1'000;
  machine.atomicity.gap_ns = 500;
  machine.cpu = {.load_ns = 20, .store_ns = 20, .atomic_ns = 20};
  SimStore<ClockedEndpoint> store({.lock = "alock-rw",
                                   .ranks = 2,
                                   .machine = machine,
                                   .memory_bytes = 4 * store::kMinMemoryBytes});
  constexpr std::uint64_t kEach = 301;  // an odd number: in the end the key expires
  SimTeam(store.fabric()).run([&](std::uint32_t me) {
    const auto session = store.session(me, [] { return kNow; });
    std::string key = fmt::format("key of {}", me);
    const auto misplaced = [&] {
      const auto place = session->stripe_of(key);
      return place.rank != 0 || place.stripe % 2 != me;
    };
    while (misplaced()) key += "+";
    REQUIRE(session->put(key, kValue, {}).ok());
    for (std::uint64_t i = 0; i < (me == 0 ? 10 : 1) * kEach; ++i) {
      const std::uint64_t expiry = i % 2 == 0 ? kNow + 1000 + i : store::kNoExpiry;
      REQUIRE(session->set_expiry(key, expiry).ok());
    }
  });
  const auto session = store.session(0, [] { return kNow; });
  CHECK(session->counts(0).expiring == 1);  // the other key was changed ten times as often
}

// Cache lines, to the nanosecond: hits, transfers from each distance, upgrades, lines that are
// busy.
#include "keyway/locks/fabric/sim/caches.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "tests/sim/multicores.h"

using namespace keyway;
using fabric::Address;
using namespace fabric::sim;

namespace {

constexpr AccessKind kLoad = AccessKind::kLoad;
constexpr AccessKind kStore = AccessKind::kStore;
constexpr AccessKind kAtomic = AccessKind::kAtomic;
const Address kLine{0, 4096};

Caches caches() { return {test::small_shape(), test::small_costs()}; }

// Costs of an access without other activity: begins long after all else has ended.
struct Alone {
  Caches model = caches();
  double now = 0;
  double cost(std::uint32_t thread, AccessKind kind, Address at = kLine) {
    now += 1e6;
    return model.access(thread, at, kind, now) - now;
  }
};

// One hardware thread at each distance from thread 0, and what a transfer from there costs.
struct Distance {
  std::uint32_t thread;
  double transfer_ns;
};
const std::vector<Distance> kDistances = {{1, 10}, {2, 40}, {4, 60}, {8, 100}};

}  // namespace

TEST_CASE("caches: who holds a line pays for the access alone") {
  Alone line;
  line.cost(3, kAtomic);
  CHECK(line.cost(3, kLoad) == 1);
  CHECK(line.cost(3, kStore) == 2);
  CHECK(line.cost(3, kAtomic) == 5);
  CHECK(line.cost(3, kLoad, kLine + 56) == 1);  // the same line
  CHECK(line.model.stats().hits == 4);
}

TEST_CASE("caches: a first touch comes from the memory of its NUMA node, and is the page's home") {
  Alone page;
  CHECK(page.cost(0, kLoad, kLine) == 80 + 1);
  CHECK(page.cost(2, kStore, kLine + 64) == 80 + 2);     // the same NUMA node
  CHECK(page.cost(4, kLoad, kLine + 128) == 90 + 1);     // the same socket's other one
  CHECK(page.cost(8, kAtomic, kLine + 192) == 140 + 5);  // the other socket
  CHECK(page.cost(8, kLoad, kLine + 4096) == 80 + 1);    // a separate page
  CHECK(page.model.stats().from_memory == 5);
}

TEST_CASE("caches: a miss costs the way from the nearest copy") {
  for (const Distance& from : kDistances) {
    CAPTURE(from.thread);
    Alone line;
    line.cost(from.thread, kStore);
    CHECK(line.cost(0, kLoad) == from.transfer_ns + 1);
    CHECK(line.cost(0, kLoad) == 1);
    CHECK(line.cost(from.thread, kLoad) == 1);  // it has kept its copy
  }
  Alone line;
  line.cost(8, kStore);
  line.cost(4, kLoad);
  CHECK(line.cost(0, kLoad) == 60 + 1);  // from the copies at 8 and at 4
}

TEST_CASE("caches: a write takes every copy away, from the farthest too") {
  for (const Distance& from : kDistances) {
    for (const AccessKind kind : {kStore, kAtomic}) {
      CAPTURE(from.thread);
      const double hit = kind == kStore ? 2 : 5;
      Alone line;
      line.cost(from.thread, kStore);
      CHECK(line.cost(0, kind) == from.transfer_ns + hit);
      CHECK(!line.model.holds(from.thread, kLine));  // C1
      CHECK(line.cost(0, kind) == hit);
    }
  }
}

TEST_CASE("caches: an upgrade with k sharers costs the farthest and a little for each other") {
  Alone line;
  line.cost(0, kLoad);
  CHECK(line.cost(0, kStore) == 2);  // no sharer
  line.cost(2, kLoad);
  CHECK(line.cost(0, kStore) == 40 + 2);
  line.cost(2, kLoad);
  line.cost(3, kLoad);
  line.cost(4, kLoad);
  CHECK(line.cost(0, kAtomic) == 60 + 2 * 3 + 5);
  for (std::uint32_t thread = 1; thread < 16; ++thread) line.cost(thread, kLoad);
  CHECK(line.cost(0, kAtomic) == 100 + 14 * 3 + 5);
  for (std::uint32_t thread = 1; thread < 16; ++thread) CHECK(!line.model.holds(thread, kLine));
}

TEST_CASE("caches: writers of one line come one after another") {
  for (const AccessKind kind : {kStore, kAtomic}) {
    Caches model = caches();
    const double hit = kind == kStore ? 2 : 5;
    // Threads 0, 2, 4, 8 at once: memory, then from 0 to 2, from 2 to 4, from 4 to 8. C2
    double sum = 80 + hit;
    CHECK(model.access(0, kLine, kind, 0) == sum);
    CHECK(model.access(2, kLine, kind, 0) == (sum += 40 + hit));
    CHECK(model.access(4, kLine, kind, 0) == (sum += 60 + hit));
    CHECK(model.access(8, kLine, kind, 0) == (sum += 100 + hit));
    CHECK(model.access(8, kLine + 64, kind, 0) == 140 + hit);  // another line is free
    CHECK(model.stats().waited_ns == (80 + hit) + (120 + 2 * hit) + (180 + 3 * hit));
  }
}

TEST_CASE("caches: copies for readers overlap, and a write waits for those on their way") {
  Caches model = caches();
  model.access(0, kLine, kStore, 0);
  constexpr double kNow = 1000;
  CHECK(model.access(2, kLine, kLoad, kNow) == kNow + 40 + 1);
  CHECK(model.access(3, kLine, kLoad, kNow) == kNow + 7 + 40 + 1);  // its sibling has none yet: C3
  CHECK(model.access(4, kLine, kLoad, kNow) == kNow + 14 + 60 + 1);
  CHECK(model.access(0, kLine, kLoad, kNow) == kNow + 1);  // has a copy: no wait
  CHECK(model.access(0, kLine, kStore, kNow) == kNow + 21 + 60 + 2 * 3 + 2);
}

TEST_CASE("caches: until a request has reached it, a holder goes on") {
  CacheCosts costs = test::small_costs();
  costs.request_share = 0.25;
  const auto asked_by_other_socket = [&costs](AccessKind kind) {
    Caches model(test::small_shape(), costs);
    model.access(0, kLine, kStore, 0);
    CHECK(model.access(8, kLine, kind, 1000) == 1000 + 100 + (kind == kLoad ? 1 : 5));
    return model;
  };
  SECTION("for a write") {
    Caches model = asked_by_other_socket(kAtomic);
    CHECK(model.access(0, kLine, kAtomic, 1024) == 1024 + 5);
    CHECK(model.access(0, kLine, kLoad, 1024) == 1024 + 1);
    CHECK(model.access(8, kLine, kLoad, 1105) == 1105 + 1);  // has not lost it by that
  }
  SECTION("and no longer") {
    Caches model = asked_by_other_socket(kAtomic);
    CHECK(model.access(0, kLine, kAtomic, 1025) == 1105 + 100 + 5);
  }
  SECTION("for a copy, of which it keeps its own") {
    Caches model = asked_by_other_socket(kLoad);
    CHECK(model.access(0, kLine, kStore, 1024) == 1024 + 2);
    CHECK(model.access(0, kLine, kLoad, 1025) == 1025 + 1);
    CHECK(model.access(0, kLine, kStore, 1026) == 1026 + 100 + 2);
  }
}

TEST_CASE("caches: transfers differ within their jitter, as the seed has it") {
  CacheCosts costs = test::small_costs();
  costs.jitter_share = 0.2;
  const auto costs_by = [&costs](std::uint64_t seed) {
    Caches model(test::small_shape(), costs, seed);
    std::vector<double> all;
    for (int i = 0; i < 1000; ++i)
      all.push_back(model.access(8 * (i % 2), kLine, kStore, i * 1e4) - i * 1e4);
    return all;
  };
  const std::vector<double> once = costs_by(1);
  CHECK(once == costs_by(1));
  CHECK(once != costs_by(2));
  const auto [least, most] = std::minmax_element(once.begin() + 1, once.end());
  CHECK(*least >= 80 + 2);
  CHECK(*least < 85 + 2);
  CHECK(*most <= 120 + 2);
  CHECK(*most > 115 + 2);
}

TEST_CASE("caches: two threads' atomics on one line take what the request's share says") {
  CacheCosts costs = test::small_costs();
  costs.request_share = 0.5;
  Caches model(test::small_shape(), costs);
  // Each does ten atomics of 5 in the half of 100 that the other's request takes, and the one it
  // fetched the line for: 11 in 105.
  double done[2] = {0, 0};
  std::uint32_t atomics = 0;
  while (done[0] < 105'000) {
    const std::uint32_t next = done[0] <= done[1] ? 0 : 1;
    done[next] = model.access(8 * next, kLine, kAtomic, done[next]);
    ++atomics;
  }
  CHECK(105'000.0 / atomics == Approx(105.0 / 11).epsilon(0.02));
}

TEST_CASE("caches: a line on its way from memory is handed on when it is there") {
  Caches model = caches();
  CHECK(model.access(0, kLine, kLoad, 0) == 80 + 1);
  CHECK(model.access(1, kLine, kLoad, 0) == 80 + 10 + 1);      // C3
  CHECK(model.access(4, kLine, kLoad, 0) == 80 + 7 + 60 + 1);  // from 0: 1's copy is on its way
}

TEST_CASE("caches: two cores that write in turn pay a transfer each time") {
  Caches model = caches();
  double now = model.access(0, kLine, kAtomic, 0);
  CHECK(now == 85);
  for (int round = 0; round < 50; ++round) {
    now = model.access(8, kLine, kAtomic, now);
    now = model.access(0, kLine, kAtomic, now);
  }
  CHECK(now == 85 + 100 * (100 + 5));
  CHECK(model.stats().transfers[static_cast<std::size_t>(Nearness::kOtherSocket)] == 100);
}

// Virtual time: the machine's costs to the nanosecond, queues as in theory, and the same run from
// the same seed.
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <set>
#include <vector>

#include "keyway/locks/distributed/any_lock.h"
#include "keyway/locks/distributed/lock_agent.h"
#include "keyway/locks/fabric/segment.h"
#include "keyway/locks/fabric/sim/sim_endpoint.h"
#include "keyway/locks/fabric/sim/timed_engine.h"
#include "tests/sim/sim_fixture.h"

using namespace keyway;
using fabric::Address;
using fabric::rma;
using fabric::SimEndpoint;
using namespace fabric::sim;
using test::plain_machine;
using test::SimFixture;
using test::word_of;

namespace {

#if defined(KEYWAY_SIM_SMALL)
constexpr std::uint32_t kArrivals = 20'000;
constexpr double kTolerance = 0.2;
constexpr std::uint32_t kAcquires = 10;
#else
constexpr std::uint32_t kArrivals = 1'000'000;
constexpr double kTolerance = 0.05;
constexpr std::uint32_t kAcquires = 100;
#endif

constexpr std::uint64_t kSegment = fabric::kReservedBytes + 4096;
const Address kThere = word_of(1);

// Virtual ns that `body` takes of a lone agent at rank 0 of two nodes.
double time_of(std::function<void(SimEndpoint&)> body) {
  return SimFixture(plain_machine(), {0, 1}).run({{0, std::move(body)}});
}

}  // namespace

TEST_CASE("timed: an operation takes what the machine says, exactly") {
  CHECK(time_of([](auto& ep) { ep.fetch_add(rma, kThere, 1); }) == 40 + 1000 + 200 + 1000);
  CHECK(time_of([](auto& ep) { ep.load(rma, kThere); }) == 40 + 1000 + 60 + 1000);
  CHECK(time_of([](auto& ep) { ep.store(rma, kThere, 1); }) == 40 + 1000 + 50 + 1000);
  // Its own rank through the card, and without it.
  const Address here{0, fabric::kReservedBytes};
  CHECK(time_of([&](auto& ep) { ep.fetch_add(rma, here, 1); }) == 45 + 100 + 250 + 100);
  CHECK(time_of([&](auto& ep) { ep.fetch_add(fabric::cpu, here, 1); }) == 20);
  // Bytes travel one way: out with a write, back with a read.
  std::vector<std::byte> bytes(200);
  CHECK(time_of([&](auto& ep) { ep.write(rma, kThere, bytes); }) == 40 + 1000 + 100 + 50 + 1000);
  CHECK(time_of([&](auto& ep) { ep.read(rma, kThere, bytes); }) == 40 + 1000 + 60 + 1000 + 100);
}

TEST_CASE("timed: to look at memory in place is a load, and others may come between two looks") {
  SimFixture fixture(plain_machine(), {0, 0});
  const auto looks = [&](auto& ep) {
    const auto look = [&] { return *reinterpret_cast<const std::uint64_t*>(ep.view(word_of(0))); };
    CHECK(look() == 0);
    CHECK(fixture.engine().time_ns() == 2);
    CHECK(look() == 7);
    CHECK(fixture.engine().time_ns() == 4);
  };
  const auto stores = [](auto& ep) { ep.store(fabric::cpu, word_of(0), 7); };  // happens at 3 ns
  fixture.run({{0, looks}, {1, stores}});
}

TEST_CASE("timed: posted operations overlap; only the cards serve one after another") {
  CHECK(time_of([](auto& ep) {
          for (int i = 0; i < 10; ++i) ep.post_fetch_add(rma, kThere, 1);
          ep.flush(1);
        }) == 40 + 1000 + 10 * 200 + 1000);  // the target's card is the slower one
}

TEST_CASE("timed: a ping-pong takes the machine's latencies, exactly") {
  const Topology topology = Topology::from_nodes({0, 1});
  TimedEngine engine(plain_machine(), topology, kSegment, 1);
  constexpr std::uint64_t kRounds = 50;
  double last = 0;
  engine.run({0, 1}, [&](std::uint32_t me) {
    SimEndpoint ep(engine, me, {me, 0}, topology);
    const Address mine(me, fabric::kReservedBytes);
    const Address other(1 - me, fabric::kReservedBytes);
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
      const auto is_round = [&](std::uint64_t v) { return v == round; };
      if (me == 0) ep.post_store(rma, other, round);
      ep.wait_until(mine, is_round, Deadline::never());
      if (me == 1) ep.post_store(rma, other, round);
    }
    if (me == 0) last = engine.time_ns();
    ep.flush_all();
  });
  CHECK(last == kRounds * 2 * (40 + 1000 + 50 + 70));
}

TEST_CASE("timed: a wait ends at its deadline and says so") {
  const double took = time_of([](auto& ep) {
    const auto waited = ep.wait_until(
        {0, fabric::kReservedBytes}, [](std::uint64_t v) { return v != 0; },
        Deadline::within(std::chrono::microseconds(5)));
    CHECK(waited.expired);
  });
  CHECK(took == 5000);
}

TEST_CASE("timed: attempts end at their deadline, also one that is a span") {
  for (const fabric::Backoff& backoff : {fabric::Backoff::none(), fabric::Backoff{100, 700}}) {
    int attempts = 0;
    const double took = time_of([&](auto& ep) {
      const auto in_vain = [&] { return ++attempts > 1'000'000; };
      CHECK_FALSE(ep.retry_until(in_vain, backoff, Deadline::within(std::chrono::microseconds(5))));
    });
    CHECK(took == 5000);
  }
}

TEST_CASE("timed: a wait whose deadline has passed ends at once, and time does not go back") {
  const double took = time_of([](auto& ep) {
    ep.fetch_add(rma, kThere, 1);
    const auto no = [](std::uint64_t v) { return v != 0; };
    const Address here{0, fabric::kReservedBytes};
    CHECK(ep.wait_until(here, no, Deadline::at_ns(7)).expired);
    CHECK(ep.wait_until(here, no, Deadline::now()).expired);
  });
  CHECK(took == 40 + 1000 + 200 + 1000);
}

TEST_CASE("timed: a run ends with its last operation, not with a deadline that never came") {
  SimFixture fixture(plain_machine(), {0, 1});
  const auto set = [](std::uint64_t v) { return v != 0; };
  const double took = fixture.run(
      {{0,
        [&](SimEndpoint& ep) {
          CHECK_FALSE(
              ep.wait_until(word_of(0), set, Deadline::within(std::chrono::hours(1))).expired);
          // The alarm of the first wait is far off; those of the next two are their own.
          CHECK(ep.wait_until(word_of(0, 1), set, Deadline::at_ns(5000)).expired);
          CHECK(fixture.engine().time_ns() == 5000);
          CHECK(ep.wait_until(word_of(0, 1), set, Deadline::at_ns(9000)).expired);
        }},
       {1, [](SimEndpoint& ep) { ep.store(rma, word_of(0), 1); }}});
  CHECK(took == 9000);
  // Time continues from there, and nothing is left over.
  CHECK(fixture.run({{0, [&](SimEndpoint&) { fixture.spend(10); }}}) == 9010);
}

TEST_CASE("timed: a remote wait polls through the network, with the back-off that it is given") {
  for (const std::uint64_t pause : {0, 10'000}) {
    CAPTURE(pause);
    SimFixture fixture(plain_machine(), {0, 1});
    const auto watch = [&](SimEndpoint& ep) {
      const auto seen = ep.wait_until_remote(
          kThere, [](std::uint64_t v) { return v == 7; }, {pause, pause}, Deadline::never());
      CHECK(seen.value == 7);
      CHECK_FALSE(seen.expired);
    };
    const auto set = [&](SimEndpoint& ep) {
      fixture.spend(4997);
      ep.store(fabric::cpu, kThere, 7);
    };
    const double took = fixture.run({{0, watch}, {1, set}});
    const std::uint64_t looks = pause == 0 ? 3 : 2;
    const double between = pause == 0 ? 70 : static_cast<double>(pause);
    CHECK(fixture.stats().rma[0].counts.loads == looks);
    CHECK(took == static_cast<double>(looks) * 2100 + static_cast<double>(looks - 1) * between);
  }
}

TEST_CASE("timed: back-off is drawn by the seed, and anew for each wait") {
  const auto waits = [](std::uint64_t seed) {
    SimFixture fixture(plain_machine(), {0}, seed);
    std::vector<double> took;
    fixture.run({{0, [&](SimEndpoint& ep) {
                    for (int i = 0; i < 4; ++i) {
                      const double before = fixture.engine().time_ns();
                      int left = 2;
                      ep.retry_until([&] { return left-- == 0; }, {1000, 4000}, Deadline::never());
                      took.push_back(fixture.engine().time_ns() - before);
                    }
                  }}});
    return took;
  };
  const auto once = waits(1);
  CHECK(once == waits(1));
  CHECK(once != waits(2));
  CHECK(std::set<double>(once.begin(), once.end()).size() == once.size());
  for (const double took : once) {
    CHECK(took >= 1000 + 2000);
    CHECK(took <= 2000 + 4000);
  }
}

TEST_CASE("timed: a remote wait ends at its deadline") {
  const double took = time_of([](SimEndpoint& ep) {
    const auto waited = ep.wait_until_remote(
        kThere, [](std::uint64_t) { return false; }, {10'000, 10'000}, Deadline::at_ns(15'000));
    CHECK(waited.expired);
  });
  // Polls at 0, at 12100 and, for the last time, at the deadline.
  CHECK(took == 15'000 + 2100);
}

TEST_CASE("timed: waiting before a card is what queueing theory says") {
  for (const bool random : {true, false}) {
    for (const double load : {0.5, 0.7}) {
      CAPTURE(random, load);
      Machine machine = plain_machine();
      machine.card.issue_ns = 0;
      machine.semantics.random_service = random;
      const double service = machine.card.atomic_ns;
      const Topology topology = Topology::from_nodes({0, 1});
      TimedEngine engine(machine, topology, kSegment, 5);
      Rng rng(17);
      engine.run({0}, [&](std::uint32_t) {
        for (std::uint32_t i = 0; i < kArrivals; ++i) {
          engine.spend(0, -std::log(1 - rng.unit()) * service / load);
          engine.post(0, {.kind = OpKind::kAdd, .at = kThere, .operand = 1}, nullptr);
        }
        engine.flush(0, 1);
      });
      CHECK(engine.memory().load(kThere) == kArrivals);
      const double waited = engine.stats().waited_ns() / static_cast<double>(engine.stats().served);
      // M/M/1: rho / (1 - rho) service times. M/D/1 (Pollaczek-Khinchine): half of it.
      const double theory = load / (1 - load) * service * (random ? 1 : 0.5);
      CHECK(waited == Approx(theory).epsilon(kTolerance));
    }
  }
}

namespace {

struct Contest {
  double time_ns = 0;
  std::uint64_t events = 0;
  std::uint64_t counter = 0;
  std::uint64_t hash = 0;
};

// Agents on nodes of 8 that all increment one record under one lock.
Contest contest(const char* kind, std::uint32_t agents, std::uint64_t seed) {
  std::vector<std::uint32_t> node_of(agents);
  for (std::uint32_t i = 0; i < agents; ++i) node_of[i] = i / 8;
  const Topology topology = Topology::from_nodes(node_of);
  fabric::SegmentLayout layout;
  const std::uint64_t group = layout.reserve(locks::kLockLineBytes);
  const std::uint64_t line = layout.reserve(locks::kLockLineBytes);
  const std::uint64_t record = layout.reserve(fabric::kCacheLine);
  const auto nodes = locks::NodeRegion::reserve(layout, 1, 2);
  TimedEngine engine(plain_machine(), topology, layout.size(), seed);
  const auto lock = *locks::AnyLock::make(kind);
  std::vector<std::uint32_t> homes(agents);
  for (std::uint32_t i = 0; i < agents; ++i) homes[i] = i;
  engine.run(homes, [&](std::uint32_t me) {
    SimEndpoint ep(engine, me, {me, 0}, topology);
    locks::LockAgent<SimEndpoint> agent(ep, nodes);
    const locks::LockSite site{.line = {0, line}, .group = {0, group}};
    for (std::uint32_t i = 0; i < kAcquires; ++i) {
      auto grant = lock.acquire(agent, site, locks::Mode::kWrite, Deadline::never());
      const std::uint64_t seen = ep.load(rma, {0, record});
      ep.post_store(rma, {0, record}, seen + 1);
      lock.release(agent, site, *grant);
    }
    ep.flush_all();
  });
  return {engine.time_ns(), engine.stats().events, engine.memory().load({0, record}),
          engine.memory().hash()};
}

}  // namespace

TEST_CASE("timed: no lock loses an update, and one seed is one run") {
  for (const char* kind : {"fompi-spin", "fompi-rw", "gbh", "d-mcs"}) {
    CAPTURE(kind);
    const Contest once = contest(kind, 24, 3);
    const Contest again = contest(kind, 24, 3);
    CHECK(once.counter == 24 * kAcquires);
    CHECK(once.time_ns == again.time_ns);
    CHECK(once.events == again.events);
    CHECK(once.hash == again.hash);
  }
}

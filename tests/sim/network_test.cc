// The network of a simulated machine, to the nanosecond: cards that a node's ranks share, loopback,
// streams of bytes, queue pairs that fall out of a card's cache, and overtaking.
#include <catch2/catch.hpp>
#include <set>
#include <vector>

#include "tests/sim/sim_fixture.h"

using namespace keyway;
using fabric::rma;
using fabric::SimEndpoint;
using namespace fabric::sim;
using test::plain_machine;
using test::SimFixture;
using test::word_of;

TEST_CASE("network: the ranks of a node wait for one another at their card") {
  Machine machine = plain_machine();
  machine.card.issue_ns = 300;
  const auto add = [](SimEndpoint& ep) { ep.fetch_add(rma, word_of(2), 1); };
  // On one node the second operation leaves when the first has; the target serves them apart.
  CHECK(SimFixture(machine, {0, 0, 1}).run({{0, add}, {1, add}}) == 2 * 300 + 1000 + 200 + 1000);
  // From two nodes both leave at once, and the second is served when the first has been.
  CHECK(SimFixture(machine, {0, 1, 2}).run({{0, add}, {1, add}}) == 300 + 1000 + 2 * 200 + 1000);
  // Two ranks of one node are served by one card as well.
  const auto to = [](std::uint32_t rank) {
    return [rank](SimEndpoint& ep) { ep.fetch_add(rma, word_of(rank), 1); };
  };
  CHECK(SimFixture(machine, {0, 1, 2, 2}).run({{0, to(2)}, {1, to(3)}}) ==
        300 + 1000 + 2 * 200 + 1000);
}

TEST_CASE("network: loopback goes through both lines of the node's own card") {
  const auto own = [](SimEndpoint& ep) { ep.fetch_add(rma, word_of(0), 1); };
  // To another rank of the node it costs what it costs to one's own.
  for (const std::uint32_t home : {0, 1}) {
    CHECK(SimFixture(plain_machine(), {0, 0}).run({{home, own}}) == 45 + 100 + 250 + 100);
  }
  // It arrives at 800 + 45 + 100 and is served until 1195; what came from outside at 1040 waits.
  SimFixture fixture(plain_machine(), {0, 1});
  const auto later = [&](SimEndpoint& ep) {
    fixture.spend(800);
    own(ep);
  };
  CHECK(fixture.run({{0, later}, {1, own}}) == 1195 + 200 + 1000);
  // Messages of another agent of the node wait until the loopback has left.
  const auto sends = [](SimEndpoint& ep) { ep.fetch_add(rma, word_of(1), 1); };
  CHECK(SimFixture(plain_machine(), {0, 1}).run({{0, own}, {0, sends}}) ==
        45 + 40 + 1000 + 200 + 1000);
}

TEST_CASE("network: what waits in front of a crowded card slows it down") {
  Machine machine = plain_machine();
  machine.loopback_card.crowding_ns = 30;
  SimFixture fixture(machine, {0, 1});
  const double took =
      fixture.run({{0, [](SimEndpoint& ep) {
                      for (int i = 0; i < 4; ++i) ep.post_fetch_add(rma, word_of(0), 1);
                      ep.flush(0);
                      ep.fetch_add(rma, word_of(0), 1);  // no operation waits any more
                    }}});
  CHECK(took == (45 + 100 + 4 * 250 + (1 + 2 + 3) * 30 + 100) + (45 + 100 + 250 + 100));
}

TEST_CASE("network: a path is that of the finest level that two nodes share") {
  const auto racks = *Topology::override_with("rack:0,0,1", Topology::from_nodes({0, 1, 2}));
  const auto load = [](std::uint32_t rank) {
    return [rank](SimEndpoint& ep) { ep.load(rma, word_of(rank)); };
  };
  CHECK(SimFixture(plain_machine(), racks).run({{0, load(1)}}) == 40 + 700 + 60 + 700);
  CHECK(SimFixture(plain_machine(), racks).run({{0, load(2)}}) == 40 + 1000 + 60 + 1000);
}

TEST_CASE("network: bulk bytes occupy the cards at both ends, at the pace of the slower") {
  std::vector<std::byte> a(200), b(200);
  const auto write = [](std::vector<std::byte>& bytes) {
    return [&bytes](SimEndpoint& ep) { ep.write(rma, word_of(2), bytes); };
  };
  // The first occupies the sender until 140 and the receiver from 1040 to 1190.
  CHECK(SimFixture(plain_machine(), {0, 0, 1}).run({{0, write(a)}, {1, write(b)}}) ==
        1190 + 50 + 100 + 1000);
  // A card slower than the path sets the pace.
  Machine slow = plain_machine();
  slow.card.ns_per_byte = 2;
  CHECK(SimFixture(slow, {0, 1}).run({{0, [&](SimEndpoint& ep) {
                                         ep.write(rma, word_of(1), a);
                                       }}}) == 40 + 1000 + 50 + 400 + 1000);
  // Two answers to one node arrive one after the other.
  const auto read = [](std::uint32_t rank, std::vector<std::byte>& bytes) {
    return [rank, &bytes](SimEndpoint& ep) { ep.read(rma, word_of(rank), bytes); };
  };
  const double first = 40 + 1000 + 60 + 100 + 1000;
  CHECK(SimFixture(plain_machine(), {0, 0, 1, 2}).run({{0, read(2, a)}, {1, read(3, b)}}) ==
        first + 100);
}

TEST_CASE("network: a flush waits for its rank alone") {
  std::vector<std::byte> bytes(2000);
  double near = 0;
  SimFixture fixture(plain_machine(), {0, 1, 2});
  const double all = fixture.run({{0, [&](SimEndpoint& ep) {
                                     ep.post_fetch_add(rma, word_of(1), 1);
                                     ep.post_write(rma, word_of(2), bytes);
                                     ep.flush(1);
                                     near = fixture.engine().time_ns();
                                     ep.flush_all();
                                   }}});
  CHECK(near == 40 + 1000 + 200 + 1000);
  CHECK(all == 80 + 1000 + 50 + 1000 + 1000);
}

TEST_CASE("network: a card fetches the queue pairs that it has not used for longest") {
  Machine machine = plain_machine();
  machine.queue_pairs = {.cached = 2, .miss_ns = 500};
  SimFixture fixture(machine, {0, 1, 2, 3});
  const double took = fixture.run({{0, [](SimEndpoint& ep) {
                                      for (const std::uint32_t rank : {1, 2, 1, 3, 1, 2}) {
                                        ep.load(rma, word_of(rank));
                                      }
                                    }}});
  // 1, 2 and 3 are new at both ends; 3 then takes the place of 2, which is new again at one.
  CHECK(fixture.stats().queue_pair_misses == 7);
  CHECK(took == 6 * (40 + 1000 + 60 + 1000) + 7 * 500);
  // Loopback takes two: both ends are on one card.
  SimFixture own(machine, {0, 1});
  CHECK(own.run({{0, [](SimEndpoint& ep) { ep.load(rma, word_of(0)); }}}) ==
        45 + 100 + 65 + 100 + 2 * 500);
}

namespace {

// The words that eight unflushed stores leave behind, by seed.
std::set<std::uint64_t> last_stores(bool ordered, double max_ns, double mean_ns) {
  Machine machine = plain_machine();
  machine.semantics.ordered = ordered;
  machine.jitter = {.max_ns = max_ns, .mean_ns = mean_ns};
  std::set<std::uint64_t> left;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SimFixture fixture(machine, {0, 1}, seed);
    fixture.run({{0, [](SimEndpoint& ep) {
                    for (std::uint64_t i = 1; i <= 8; ++i) ep.post_store(rma, word_of(1), i);
                    ep.flush(1);
                  }}});
    left.insert(fixture.word(word_of(1)));
  }
  return left;
}

}  // namespace

TEST_CASE("network: order() is free on ordered queue pairs, and a flush elsewhere") {
  for (const bool ordered : {false, true}) {
    Machine machine = plain_machine();
    machine.semantics.ordered = ordered;
    const double took = SimFixture(machine, {0, 1}).run({{0, [](SimEndpoint& ep) {
                                                            ep.post_store(rma, word_of(1), 1);
                                                            ep.order(1);
                                                            ep.post_load(rma, word_of(1, 1));
                                                            ep.flush(1);
                                                          }}});
    // Pipelined: the load leaves 40 ns behind the store, and is served when that has been.
    CHECK(took == (ordered ? 40 + 40 + 1000 + 60 + 1000 + 10
                           : (40 + 1000 + 50 + 1000) + (40 + 1000 + 60 + 1000)));
    // With jitter nothing overtakes what an order() lies between.
    machine.jitter = {.max_ns = 5000, .mean_ns = 0};
    std::set<std::uint64_t> last;
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
      SimFixture fixture(machine, {0, 1}, seed);
      fixture.run({{0, [](SimEndpoint& ep) {
                      ep.post_store(rma, word_of(1), 1);
                      ep.order(1);
                      ep.post_store(rma, word_of(1), 2);
                      ep.flush(1);
                    }}});
      last.insert(fixture.word(word_of(1)));
    }
    CHECK(last == std::set<std::uint64_t>{2});
  }
}

TEST_CASE("network: with jitter, operations overtake one another unless queue pairs are ordered") {
  const double mean = GENERATE(0.0, 500.0);
  CAPTURE(mean);
  CHECK(last_stores(/*ordered=*/false, 5000, mean).size() == 8);
  CHECK(last_stores(/*ordered=*/true, 5000, mean) == std::set<std::uint64_t>{8});
  CHECK(last_stores(/*ordered=*/false, 0, 0) == std::set<std::uint64_t>{8});
}

TEST_CASE("network: jitter stays within its bound, and the seed alone decides it") {
  const double mean = GENERATE(0.0, 400.0);
  Machine machine = plain_machine();
  machine.jitter = {.max_ns = 1000, .mean_ns = mean};
  const double least = 40 + 1000 + 60 + 1000;
  std::set<double> times;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto load = [](SimEndpoint& ep) { ep.load(rma, word_of(1)); };
    const double once = SimFixture(machine, {0, 1}, seed).run({{0, load}});
    CHECK(once == SimFixture(machine, {0, 1}, seed).run({{0, load}}));
    CHECK(once >= least);
    CHECK(once <= least + 1000);
    times.insert(once);
  }
  CHECK(times.size() > 100);
}

TEST_CASE("network: what was sent and served is counted by class, kind and level") {
  std::vector<std::byte> bytes(100);
  const auto racks = *Topology::override_with("rack:0,0,1", Topology::from_nodes({0, 0, 1, 2}));
  SimFixture fixture(plain_machine(), racks);
  fixture.run({{0, [&](SimEndpoint& ep) {
                  ep.load(fabric::cpu, word_of(1));
                  ep.fetch_or(fabric::cpu, word_of(0), 1);
                  ep.store(rma, word_of(0), 1);
                  ep.swap(rma, word_of(1), 1);
                  ep.read(rma, word_of(2), bytes);
                  ep.compare_swap(rma, word_of(3), 0, 1);
                  ep.write(rma, word_of(3), bytes);
                }}});
  const TimedStats& stats = fixture.stats();
  CHECK(stats.operations() == 7);
  CHECK(stats.served == 5);
  CHECK(stats.cpu.loads == 1);
  CHECK(stats.cpu.atomics == 1);
  REQUIRE(stats.rma.size() == 4);
  CHECK(stats.rma[0].name == "machine");
  CHECK(stats.rma[0].counts.atomics == 1);
  CHECK(stats.rma[0].counts.writes == 1);
  CHECK(stats.rma[0].counts.bytes == 100);
  CHECK(stats.rma[1].name == "rack");
  CHECK(stats.rma[1].counts.reads == 1);
  CHECK(stats.rma[2].name == "node");
  CHECK(stats.rma[2].counts.atomics == 1);
  CHECK(stats.rma[3].name == "self");
  CHECK(stats.rma[3].counts.stores == 1);
}

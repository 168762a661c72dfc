// A coherent node in virtual time: operations and waits to the nanosecond, agents that share a
// hardware thread.
#include <catch2/catch.hpp>
#include <functional>
#include <stdexcept>
#include <vector>

#include "keyway/locks/fabric/segment.h"
#include "keyway/locks/fabric/sim/sim_fabric.h"
#include "tests/sim/multicores.h"

using namespace keyway;
using fabric::Address;
using fabric::cpu;
using fabric::rma;
using fabric::SimEndpoint;
using fabric::SimFabric;
using namespace fabric::sim;

namespace {

const Address kWord{0, 4096};
constexpr std::uint64_t kSegment = 16'384;

// A node of one rank; body(agent, its endpoint) for each agent.
struct Node {
  explicit Node(const Multicore& multicore) : fabric(make(multicore)) {}

  static SimFabric make(const Multicore& multicore) {
    SimFabric::Options options;
    options.machine.multicore = multicore;
    options.segment_bytes = kSegment;
    return std::move(*SimFabric::create(options));
  }
  double run(std::uint32_t agents, const std::function<void(std::uint32_t, SimEndpoint&)>& body) {
    const double began = fabric.time_ns();
    fabric.run(std::vector<std::uint32_t>(agents, 0), [&](std::uint32_t me) {
      SimEndpoint ep = *fabric.endpoint(0);
      body(me, ep);
    });
    return fabric.time_ns() - began;
  }
  double now() const { return fabric.time_ns(); }

  SimFabric fabric;
};

// Two agents on one hardware thread.
Multicore one_thread() {
  Multicore node = test::small_node();
  node.shape = {};
  return node;
}

}  // namespace

TEST_CASE("coherent: loads overlap that do not follow from one another") {
  const Address first = kWord;
  const Address second = kWord + 64;
  const Address third = kWord + 128;
  for (const double share : {0.0, 0.5, 1.0}) {
    CAPTURE(share);
    Multicore machine = test::small_node();
    machine.cache.overlap_share = share;
    const auto after_writes = [&](const std::function<void(SimEndpoint&)>& loads) {
      Node node(machine);
      node.run(2, [&](std::uint32_t me, SimEndpoint& ep) {
        if (me == 0) return;
        ep.store(cpu, first, second.word());
        ep.store(cpu, second, 7);
        ep.fetch_add(cpu, third, 7);  // is done after the stores
      });
      return node.run(1, [&](std::uint32_t, SimEndpoint& ep) { loads(ep); });
    };
    const double hidden = 40 * share;
    CHECK(after_writes([&](SimEndpoint& ep) {
            ep.load(cpu, second);
            ep.load(cpu, third);
          }) == 41 + 41 - hidden);
    // The first says where the second is, and nothing of the third.
    CHECK(after_writes([&](SimEndpoint& ep) {
            ep.load(cpu, Address::from_word(ep.load(cpu, first)));
            ep.load(cpu, third);
          }) == 41 + 41 + 41 - std::min(40.0, 80 * share));
    // Nothing is looked at beyond an atomic, or work.
    CHECK(after_writes([&](SimEndpoint& ep) {
            ep.load(cpu, second);
            ep.fetch_add(cpu, second, 1);
            ep.load(cpu, third);
          }) == 41 + (40 + 5) + 41);
  }
}

TEST_CASE("coherent: an operation takes its access and the overhead, in either class") {
  for (const double overhead : {0.0, 3.0}) {
    Multicore machine = test::small_node();
    machine.overhead_ns = overhead;
    Node node(machine);
    const double took = node.run(1, [](std::uint32_t, SimEndpoint& ep) {
      CHECK(ep.one_class());
      ep.load(cpu, kWord);  // from memory
      ep.load(rma, kWord);
      ep.store(rma, kWord, 7);
      ep.fetch_add(cpu, kWord, 1);
      ep.post_store(rma, kWord + 8, 1);
      ep.flush_all();
    });
    CHECK(took == (80 + 1) + 1 + 2 + 5 + 2 + 5 * overhead);
  }
}

TEST_CASE("coherent: a store's way is in the store buffer, and the next atomic waits for it") {
  Node node(test::small_node());
  double stored = 0;
  double loaded = 0;
  double added = 0;
  node.run(1, [&](std::uint32_t, SimEndpoint& ep) {
    ep.store(cpu, kWord, 1);  // from memory: there at 82
    stored = node.now();
    ep.load(cpu, kWord + 4096);  // from memory as well, meanwhile
    loaded = node.now();
    ep.store(cpu, kWord + 128, 1);  // there at 83 + 82
    ep.fetch_add(cpu, kWord, 1);
    added = node.now();
  });
  CHECK(stored == 2);
  CHECK(loaded == 2 + 81);
  CHECK(added == 83 + 82 + 5);
}

TEST_CASE("coherent: the lines of bulk bytes are fetched at once") {
  Node node(test::small_node());
  std::vector<std::byte> bytes(4 * 64);
  const double took =
      node.run(1, [&](std::uint32_t, SimEndpoint& ep) { ep.read(cpu, kWord, bytes); });
  CHECK(took == 80 + 1 + 3 * 1);
}

TEST_CASE("coherent: a ping-pong of two cores takes what its parts take") {
  // Agents 0 and 1 on two cores of one NUMA node. Each waits on one line that the other writes.
  Multicore machine = test::small_node();
  machine.wait.look_ns = 0;  // polls all the time: no time is lost between a write and the poll
  Node node(machine);
  constexpr std::uint64_t kRounds = 20;
  const Address lines[2] = {kWord, kWord + 64};
  double began = 0;
  double ended = 0;
  node.run(2, [&](std::uint32_t me, SimEndpoint& ep) {
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
      const auto is_round = [&](std::uint64_t v) { return v == round; };
      if (round == 2 && me == 0) began = node.now();
      if (me == 0) ep.store(cpu, lines[1], round);
      ep.wait_until(lines[me], is_round, Deadline::never());
      if (me == 1) ep.store(cpu, lines[0], round);
    }
    if (me == 0) ended = node.now();
  });
  // A store takes the waiter's copy away (40 + 2), the waiter fetches it again (40 + 1). Before it
  // stores, a waiter polls its own line without success, which costs the other nothing.
  CHECK(ended - began == (kRounds - 1) * 2 * (40 + 2 + 40 + 1));
}

TEST_CASE("coherent: a waiter looks at the times at which its spinning would") {
  Node node(test::small_node());  // polls every 20 ns, for 2000 ns, then every 300 ns
  struct Case {
    double written_at;
    double seen_at;
  };
  // The first poll is done at 81: memory. A write at t is done 40 + 2 later.
  for (const Case& at : {Case{100, 161}, Case{1000, 1061}, Case{3000, 3200}}) {
    Node fresh(test::small_node());
    double seen = 0;
    fresh.run(2, [&](std::uint32_t me, SimEndpoint& ep) {
      if (me == 1) {
        fresh.fabric.spend(1, at.written_at);
        ep.store(cpu, kWord, 1);
        return;
      }
      ep.wait_until(
          kWord, [](std::uint64_t v) { return v == 1; }, Deadline::never());
      seen = fresh.now();
    });
    CAPTURE(at.written_at);
    CHECK(seen == at.seen_at + 40 + 1);
  }
}

TEST_CASE("coherent: nothing happens while all wait, and a deadline ends a wait") {
  Node node(test::small_node());
  std::uint64_t events = 0;
  const double took = node.run(1, [&](std::uint32_t, SimEndpoint& ep) {
    const auto waited = ep.wait_until(
        kWord, [](std::uint64_t v) { return v != 0; }, Deadline::at_ns(10'000'000));
    CHECK(waited.expired);
    events = node.fabric.stats().events;
  });
  CHECK(took == 10'000'000 + 1);
  CHECK(events < 10);
}

TEST_CASE("coherent: a wait that ends leaves no deadline behind that time would wait for") {
  Node node(test::small_node());
  const double took = node.run(2, [](std::uint32_t me, SimEndpoint& ep) {
    if (me == 1) return ep.store(cpu, kWord, 1);
    ep.wait_until(
        kWord, [](std::uint64_t v) { return v == 1; }, Deadline::at_ns(1'000'000'000));
  });
  CHECK(took < 1000);
}

TEST_CASE("coherent: waiters of one line read it again one after another") {
  // 1 writer and 7 waiters on 8 cores; copies overlap but for load_busy_ns each.
  Multicore machine = test::small_node();
  machine.wait.look_ns = 0;
  Node node(machine);
  constexpr double kWrite = 1000;
  std::vector<double> seen(8);
  node.run(8, [&](std::uint32_t me, SimEndpoint& ep) {
    if (me == 0) {
      node.fabric.spend(0, kWrite);
      return ep.store(cpu, kWord, 1);
    }
    ep.wait_until(
        kWord, [](std::uint64_t v) { return v == 1; }, Deadline::never());
    seen[me] = node.now();
  });
  const double written = kWrite + 100 + 6 * 3 + 2;  // takes seven copies away
  // In the order in which they wait: one in the writer's NUMA node, two on its socket, four beyond.
  const std::vector<double> transfers = {40, 60, 60, 100, 100, 100, 100};
  for (std::size_t i = 0; i < 7; ++i) {
    CHECK(seen[i + 1] == written + static_cast<double>(i) * 7 + transfers[i] + 1);
  }
}

TEST_CASE("coherent: attempts without back-off follow after retry_ns, with it after their spans") {
  Node node(test::small_node());
  int attempts = 0;
  const auto third = [&] { return ++attempts == 3; };
  const double took = node.run(1, [&](std::uint32_t, SimEndpoint& ep) {
    CHECK(ep.retry_until(third, fabric::Backoff::none(), Deadline::never()));
  });
  CHECK(took == 2 * 400);
  attempts = 0;
  const double slow = node.run(1, [&](std::uint32_t, SimEndpoint& ep) {
    CHECK(ep.retry_until(third, fabric::Backoff{5000, 5000}, Deadline::never()));
  });
  CHECK(slow == 2 * 5200);  // a span ends with a yield: 13 of 400 ns
}

TEST_CASE("coherent: two agents of one hardware thread run in turn, to the nanosecond") {
  Node node(one_thread());  // quantum 50 us, switch 1 us
  std::vector<double> ended(2);
  node.run(2, [&](std::uint32_t me, SimEndpoint&) {
    node.fabric.spend(me, me == 0 ? 120'000 : 60'000);
    ended[me] = node.now();
  });
  // 0: 0-50, 1: 51-101, 0: 102-152, 1: 153-163 and ends, 0: 164-184.
  CHECK(ended[1] == 163'000);
  CHECK(ended[0] == 184'000);
}

TEST_CASE("coherent: the holder of a lock may lose its hardware thread, and the lock stays held") {
  Multicore machine = one_thread();
  Node node(machine);
  double entered = 0;
  double left = 0;
  node.run(2, [&](std::uint32_t me, SimEndpoint& ep) {
    const auto enter = [&] { return ep.compare_swap(cpu, kWord, 0, 1) == 0; };
    if (me == 1) node.fabric.spend(1, 10);  // comes second
    ep.retry_until(enter, fabric::Backoff::none(), Deadline::never());
    if (me == 1) entered = node.now();
    if (me == 0) node.fabric.spend(0, 200'000);
    if (me == 0) left = node.now();
    ep.store(cpu, kWord, 0);
  });
  // 0 takes 85 and works until its quantum ends at 50'000; 1 begins at 51'000, works 10, fails in 5
  // and yields. 0 continues at 52'015 for a quantum, 1 fails in 5 once more; and so on.
  const double round = 1000 + 5 + 1000;
  CHECK(left == 85 + 200'000 + 4 * round + 10);
  CHECK(entered == left + 2 + 1000 + 5);
}

TEST_CASE("coherent: a waiter that polls gives its thread to others after it has spun") {
  Node node(one_thread());
  double seen = 0;
  double written = 0;
  node.run(2, [&](std::uint32_t me, SimEndpoint& ep) {
    if (me == 0) {
      ep.wait_until(
          kWord, [](std::uint64_t v) { return v == 1; }, Deadline::never());
      seen = node.now();
      return;
    }
    node.fabric.spend(1, 5000);
    ep.store(cpu, kWord, 1);
    written = node.now();
  });
  // 0 spins for 2000, polls once more (1) and leaves; 1 continues at 3001, and 0 when 1 has ended.
  // All is one hardware thread: it holds its copy.
  CHECK(written == 3001 + 5000 + 2);
  CHECK(seen == written + 1000 + 1);
}

TEST_CASE("coherent: a sleeper costs its waker a signal, and runs after the wake") {
  Multicore machine = test::small_node();
  machine.wait.sleeps = true;
  Node node(machine);
  double seen = 0;
  double written = 0;
  node.run(2, [&](std::uint32_t me, SimEndpoint& ep) {
    if (me == 0) {
      ep.wait_until(
          kWord, [](std::uint64_t v) { return v == 1; }, Deadline::never());
      seen = node.now();
      return;
    }
    node.fabric.spend(1, 10'000);
    ep.store(cpu, kWord, 1);
    written = node.now();
  });
  CHECK(written == 10'000 + 2 + 600);  // the store continues after it
  CHECK(seen == 10'000 + 40 + 2 + 4000 + 40 + 1);
}

TEST_CASE("coherent: an exception in one agent's body lets the others of its thread end") {
  Node node(one_thread());
  bool ended = false;
  CHECK_THROWS_WITH(node.run(2,
                             [&](std::uint32_t me, SimEndpoint& ep) {
                               if (me == 0) throw std::runtime_error("no");
                               ep.store(cpu, kWord, 1);
                               ended = true;
                             }),
                    "no");
  CHECK(ended);
}

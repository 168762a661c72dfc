// Hardware threads: the placement of agents and their schedule, to the nanosecond.
#include "keyway/locks/fabric/sim/cores.h"

#include <catch2/catch.hpp>
#include <vector>

#include "tests/sim/multicores.h"

using namespace keyway;
using namespace fabric::sim;
using Leave = Cores::Leave;

namespace {

// One hardware thread, so that all agents share it. Costs as in small_node().
Cores one_thread() { return {MulticoreShape{}, Placement{}, test::small_node().core}; }

std::vector<std::uint32_t> placed(const Placement& placement, std::uint32_t agents) {
  std::vector<std::uint32_t> threads;
  for (std::uint32_t i = 0; i < agents; ++i) {
    threads.push_back(placed_on(test::small_shape(), placement, i));
  }
  return threads;
}

void check_turn(const Cores::Turn& turn, std::uint32_t agent, double from) {
  CHECK(turn.agent == agent);
  CHECK(turn.from == from);
}

}  // namespace

TEST_CASE("cores: agents are placed by policy") {
  using Threads = std::vector<std::uint32_t>;
  CHECK(placed({.siblings_last = false}, 5) == Threads{0, 1, 2, 3, 4});
  CHECK(placed({}, 10) == Threads{0, 2, 4, 6, 8, 10, 12, 14, 1, 3});
  CHECK(placed({.scatter = true}, 9) == Threads{0, 8, 4, 12, 2, 10, 6, 14, 1});
  CHECK(placed({.siblings_last = false, .scatter = true}, 6) == Threads{0, 1, 8, 9, 4, 5});
  CHECK(placed({}, 17).back() == 0);  // around again
}

TEST_CASE("cores: placements put every agent on a thread of its own while there are any") {
  for (const bool last : {false, true}) {
    for (const bool scatter : {false, true}) {
      std::vector<bool> taken(16);
      for (const std::uint32_t thread : placed({last, scatter}, 16)) {
        CHECK(!taken[thread]);
        taken[thread] = true;
      }
    }
  }
}

TEST_CASE("cores: who has a thread alone runs at once and never leaves it") {
  Cores cores(test::small_shape(), {}, test::small_node().core);
  CHECK(cores.begin(3, 7) == std::vector<std::uint32_t>{0, 1, 2});
  CHECK(!cores.shares(1));
  CHECK(!cores.must_leave(1, 1e9));
}

TEST_CASE("cores: two agents of one thread take turns at the end of each quantum") {
  Cores cores = one_thread();
  CHECK(cores.begin(2, 0) == std::vector<std::uint32_t>{0});
  CHECK(cores.shares(0));
  CHECK(!cores.must_leave(0, 49'999));
  CHECK(cores.must_leave(0, 50'000));
  check_turn(cores.leave(0, 50'000, Leave::kReady), 1, 51'000);
  CHECK(cores.runs(1));
  CHECK(cores.quantum_ends(1) == 101'000);
  check_turn(cores.leave(1, 101'000, Leave::kReady), 0, 102'000);
  check_turn(cores.leave(0, 110'000, Leave::kEnd), 1, 111'000);
  CHECK(!cores.must_leave(1, 500'000));  // alone now
  check_turn(cores.leave(1, 500'000, Leave::kEnd), Cores::kNobody, 0);
  CHECK(cores.switches() == 3);
}

TEST_CASE("cores: a yield goes to the tail, or takes a yield's time when there is no other") {
  Cores cores = one_thread();
  cores.begin(3, 0);
  check_turn(cores.leave(0, 10, Leave::kReady), 1, 1010);
  check_turn(cores.leave(1, 1020, Leave::kReady), 2, 2020);
  check_turn(cores.leave(2, 2030, Leave::kReady), 0, 3030);
  Cores lonely = one_thread();
  lonely.begin(1, 0);
  check_turn(lonely.leave(0, 10, Leave::kReady), 0, 310);
}

TEST_CASE("cores: who polls costs the next one a turn, and sees what changed on its own") {
  Cores cores = one_thread();
  cores.begin(3, 0);
  check_turn(cores.leave(0, 0, Leave::kPoll), 1, 1000);
  check_turn(cores.leave(1, 2000, Leave::kReady), 2, 3000);
  // The queue is 0, which polls, and 1: 0 polls without success from 4000 to 5000.
  check_turn(cores.leave(2, 4000, Leave::kReady), 1, 6000);
  check_turn(cores.changed(0, 6500), Cores::kNobody, 0);  // 1 runs; 0 queues behind 2
  check_turn(cores.leave(1, 7000, Leave::kEnd), 2, 8000);
  check_turn(cores.leave(2, 9000, Leave::kEnd), 0, 10'000);
}

TEST_CASE("cores: when all poll they look in turn") {
  Cores cores = one_thread();
  cores.begin(2, 0);
  check_turn(cores.leave(0, 0, Leave::kPoll), 1, 1000);
  check_turn(cores.leave(1, 5000, Leave::kPoll), Cores::kNobody, 0);
  // 0 polls at 6000, 8000, 10000, ...; 1 at 7000, 9000, ...
  SECTION("on its turn") { check_turn(cores.changed(1, 9000), 1, 9000); }
  SECTION("before its turn") { check_turn(cores.changed(1, 7001), 1, 9000); }
  SECTION("the other") { check_turn(cores.changed(0, 8001), 0, 10'000); }
  SECTION("before any turn") { check_turn(cores.changed(0, 5001), 0, 6000); }
}

TEST_CASE("cores: one that polls alone looks every yield") {
  Cores cores = one_thread();
  cores.begin(1, 0);
  check_turn(cores.leave(0, 1000, Leave::kPoll), Cores::kNobody, 0);
  check_turn(cores.changed(0, 1950), 0, 2200);
}

TEST_CASE("cores: a sleeper is woken after the wake's time, and must get the thread") {
  Cores cores = one_thread();
  cores.begin(2, 0);
  check_turn(cores.leave(0, 100, Leave::kSleep), 1, 1100);
  CHECK(!cores.must_leave(1, 1e6));  // the queue is empty
  SECTION("the thread is taken") {
    check_turn(cores.changed(0, 2000), Cores::kNobody, 0);
    check_turn(cores.leave(1, 20'000, Leave::kReady), 0, 21'000);
  }
  SECTION("the thread is taken for less than the wake takes") {
    check_turn(cores.changed(0, 2000), Cores::kNobody, 0);
    check_turn(cores.leave(1, 3000, Leave::kSleep), 0, 6000);
  }
  SECTION("the thread is free") {
    check_turn(cores.leave(1, 3000, Leave::kSleep), Cores::kNobody, 0);
    check_turn(cores.changed(0, 8000), 0, 12'000);
    check_turn(cores.changed(1, 9000), Cores::kNobody, 0);
    check_turn(cores.leave(0, 30'000, Leave::kEnd), 1, 31'000);
  }
}

// RMA-RW in every order: design section 5, R1 to R7, and the bounds that t_r and t_l1 promise.
#include <fmt/core.h>

#include <catch2/catch.hpp>

#include "keyway/locks/distributed/rma_rw.h"
#include "tests/sim/explored.h"

using namespace keyway;
using namespace keyway::lockcheck;
using test::explored;
using test::kSmall;

namespace {

/// The lock that users run, except for the number of phases until one repeats: endless use would go
/// through all of them, with the same states in each.
using FewPhases = locks::BasicRmaRw<locks::BasicCounterWord<2, 1, 3>>;

/// The levers, with the counters on both ranks or on one.
std::string levers(int t_r, int t_l1, int counters) {
  return fmt::format("rma-rw:t_r={},t_l1={},t_dc={}", t_r, t_l1, counters == 2 ? 1 : 2);
}

/// On one node, the writers' tree is one queue.
void require_clean(LockShape shape, const std::vector<int>& t_rs, const std::vector<int>& t_l1s,
                   const std::vector<int>& counters) {
  shape.topology = "nodes=1";
  for (const int t_r : t_rs) {
    for (const int t_l1 : t_l1s) {
      for (const int n : counters) explored(levers(t_r, t_l1, n), shape);
    }
  }
}

}  // namespace

TEST_CASE("explore: RMA-RW, two and three agents, every order", "[rma-rw]") {
  require_clean({.readers = 1, .writers = 1}, {1, 2}, {1, 2}, {1, 2});
  require_clean({.readers = 0, .writers = 2}, {1}, {1, 2}, {1, 2});
  require_clean({.readers = 3, .writers = 0}, {1, 2}, {1}, {1});
  require_clean({.readers = 2, .writers = 1}, {1}, {1}, {1, 2});
  if (!kSmall) require_clean({.readers = 2, .writers = 1}, {2}, {2}, {1, 2});
  if (!kSmall) require_clean({.readers = 1, .writers = 2}, {1}, {1, 2}, {1, 2});
  if (!kSmall) require_clean({.readers = 1, .writers = 1, .rounds = 2}, {1, 2}, {1}, {1, 2});
}

TEST_CASE("explore: RMA-RW on two nodes, with a queue on each", "[rma-rw]") {
  explored("rma-rw:t_r=1,t_l1=1,t_l2=1", {.readers = 1, .writers = 1});
  explored("rma-rw:t_r=1,t_l1=1,t_l2=1", {.readers = 0, .writers = 2});
  if (!kSmall) {
    explored("rma-rw:t_r=1,t_l1=1,t_l2=1,t_dc=2", {.readers = 1, .writers = 2});
  }
}

TEST_CASE("explore: RMA-RW, two readers and two writers, every order", "[rma-rw][.long]") {
  require_clean({.readers = 2, .writers = 2}, {1, 2}, {1, 2}, {1, 2});
}

TEST_CASE("explore: RMA-RW, three readers and two writers, every order", "[rma-rw][.long]") {
  require_clean({.readers = 3, .writers = 2}, {1, 2}, {1}, {1});
}

TEST_CASE("explore: RMA-RW, deadlines that pass and tries that fail", "[rma-rw]") {
  for (const Manner manner : {Manner::kTimed, Manner::kTry}) {
    require_clean({.readers = 1, .writers = 1, .manner = manner}, {1, 2}, {1}, {1, 2});
    require_clean({.readers = 0, .writers = 2, .manner = manner}, {1}, {2}, {1, 2});
  }
  if (!kSmall) require_clean({.readers = 2, .writers = 1, .manner = Manner::kTry}, {1}, {1}, {1});
}

TEST_CASE("explore: RMA-RW, deadlines among three", "[rma-rw][.long]") {
  require_clean({.readers = 2, .writers = 1, .manner = Manner::kTimed}, {1}, {1}, {1});
  require_clean({.readers = 1, .writers = 2, .manner = Manner::kTimed}, {1}, {2}, {1});
  require_clean({.readers = 1, .writers = 1, .rounds = 2, .manner = Manner::kTimed}, {1}, {1}, {1});
}

namespace {

fabric::sim::Waiting waiting_of(LockShape shape, int t_r, int t_l1, int counters) {
  shape.forever = true;
  shape.topology = "nodes=1";
  // Neither livelock nor starvation: either is a violation.
  return test::waiting_of<FewPhases>(levers(t_r, t_l1, counters), shape);
}

}  // namespace

TEST_CASE("explore: RMA-RW for ever, nobody starves, and is passed as often as is said",
          "[rma-rw]") {
  for (const int t_r : {1, 2}) {
    for (const int t_l1 : {1, 2}) {
      if (kSmall && t_r + t_l1 != 2) continue;
      CAPTURE(t_r, t_l1);
      // RW4: t_r readers that find the counter open, and one that is at the gate as it is closed.
      CHECK(waiting_of({.readers = 1, .writers = 1}, t_r, t_l1, 1).bypass == t_r + 1);
      CHECK(waiting_of({.readers = 0, .writers = 2}, t_r, t_l1, 1).bypass == 1);
    }
  }
  if (!kSmall) CHECK(waiting_of({.readers = 1, .writers = 1}, 1, 1, 2).bypass == 2);
}

TEST_CASE("explore: RMA-RW for ever without a writer, no reader starves at the gate", "[rma-rw]") {
  for (const int t_r : {1, 2}) waiting_of({.readers = 2, .writers = 0}, t_r, 1, 1);
}

TEST_CASE("explore: RMA-RW for ever among three", "[rma-rw][.long]") {
  waiting_of({.readers = 3, .writers = 0}, 1, 1, 1);
  waiting_of({.readers = 2, .writers = 1}, 1, 1, 1);
  for (const int t_l1 : {1, 2}) {
    // A writer waits for another one, and before each of them readers come. A reader waits for
    // t_l1 writers.
    CHECK(waiting_of({.readers = 1, .writers = 2}, 1, t_l1, 1).bypass <= 1 + 2 * (1 + 1));
  }
}

// RMA-RW in every order: design section 5, R1 to R7, and the bounds that t_r and t_l1 promise.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "keyway/locks/distributed/rma_rw.h"
#include "keyway/tools/lockcheck/lock_program.h"

using namespace keyway;
using namespace keyway::lockcheck;

namespace {

#if defined(KEYWAY_SIM_SMALL)
constexpr bool kSmall = true;
#else
constexpr bool kSmall = false;
#endif

/// What users run, but for the number of phases before one comes again: endless use would go
/// through all of them, with the same states in each.
using FewPhases = locks::BasicRmaRw<locks::BasicCounterWord<2, 1, 3>>;

/// The levers, with the counters on both ranks or on one.
std::string levers(int t_r, int t_l1, int counters) {
  return fmt::format("rma-rw:t_r={},t_l1={},t_dc={}", t_r, t_l1, counters == 2 ? 1 : 2);
}

template <class L>
fabric::sim::ExploreReport explored(const std::string& kind, const LockShape& shape) {
  LockProgram<L> program(*L::make(*locks::LockParams::parse(kind)), shape);
  fabric::sim::Explorer explorer(program);
  auto report = explorer.exhaust(20'000'000);
  CAPTURE(kind, shape.readers, shape.writers, shape.rounds, shape.forever,
          static_cast<int>(shape.manner));
  INFO((report.violation ? report.violation->what + ", schedule " + report.violation->schedule
                         : ""));
  CHECK_FALSE(report.violation);
  CHECK(report.complete);
  CHECK(report.states > 10);
  return report;
}

/// On one node, where the writers' tree is one queue.
void require_clean(LockShape shape, const std::vector<int>& t_rs, const std::vector<int>& t_l1s,
                   const std::vector<int>& counters) {
  shape.topology = "nodes=1";
  for (const int t_r : t_rs) {
    for (const int t_l1 : t_l1s) {
      for (const int n : counters) explored<locks::RmaRw>(levers(t_r, t_l1, n), shape);
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
  explored<locks::RmaRw>("rma-rw:t_r=1,t_l1=1,t_l2=1", {.readers = 1, .writers = 1});
  explored<locks::RmaRw>("rma-rw:t_r=1,t_l1=1,t_l2=1", {.readers = 0, .writers = 2});
  if (!kSmall) {
    explored<locks::RmaRw>("rma-rw:t_r=1,t_l1=1,t_l2=1,t_dc=2", {.readers = 1, .writers = 2});
  }
}

TEST_CASE("explore: RMA-RW, two readers and two writers, every order", "[rma-rw][.long]") {
  require_clean({.readers = 2, .writers = 2}, {1, 2}, {1, 2}, {1, 2});
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
  const auto report = explored<FewPhases>(levers(t_r, t_l1, counters), shape);
  return report.waiting.value();  // neither livelock nor starvation: either is a violation
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

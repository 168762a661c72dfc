// Agents with deadlines among patient ones, every kind. If all have deadlines, a lost
// wake-up looks like a time-out; a patient agent waits for ever, and that is a deadlock.
#include <catch2/catch.hpp>
#include <vector>

#include "tests/sim/explored.h"

using namespace keyway;
using namespace keyway::lockcheck;
using test::kSmall;
using test::kTimed;
using test::kWait;

namespace {

const LockShape kThreeLevels{
    .writers = 2, .ranks = 8, .homes = {0, 1}, .topology = "racks=2,nodes=4", .nodes = 4};

/// ALock is about atomics of the two classes.
fabric::sim::ExploreOptions classes_of(std::string_view kind) {
  return {.split_rma = kind.starts_with("alock")};
}

void require_clean(std::string_view kind, LockShape shape, const std::vector<Manner>& manners) {
  shape.manners = manners;
  test::explored(kind, shape, classes_of(kind));
}

}  // namespace

TEST_CASE("explore: one agent with a deadline and a patient one, every kind") {
  for (const std::string_view kind : locks::AnyLock::kNames) {
    require_clean(kind, {.writers = 2, .nodes = 3}, {kTimed, kWait});
    require_clean(kind, {.readers = 1, .writers = 1, .nodes = 3}, {kTimed, kWait});
    if (kSmall) continue;
    require_clean(kind, {.writers = 2, .nodes = 3}, {kWait, kTimed});
    require_clean(kind, {.readers = 1, .writers = 1, .nodes = 3}, {kWait, kTimed});
  }
}

TEST_CASE("explore: one agent with a deadline among two patient ones, queues") {
  if (kSmall) return require_clean("d-mcs", {.writers = 2}, {kTimed, kWait});
  for (const char* kind : {"fompi-spin", "d-mcs", "alock:local_budget=1,remote_budget=1"}) {
    require_clean(kind, {.writers = 3}, {kWait, kTimed, kWait});
  }
  require_clean("gbh:lockall=off", {.readers = 1, .writers = 2}, {kWait, kWait, kTimed});
}

// W4. Two readers: the front waits for one, and the other one is in the list.
TEST_CASE("explore: MCS-WP, a front that gives up wakes the readers in the list") {
  require_clean("mcs-wp", {.readers = 2, .writers = 1, .nodes = 1}, {kWait, kWait, kTimed});
}

TEST_CASE("explore: one agent with a deadline among patient ones, every kind", "[.long][mixed]") {
  const LockShape tree{.ranks = 4, .topology = "nodes=2", .nodes = 3};
  for (const char* kind :
       {"d-mcs", "mcs-wp", "rma-mcs:t_l=1", "rma-rw:t_r=1,t_l1=1,t_l=1",
        "alock:local_budget=1,remote_budget=1", "alock-rw:local_budget=1,remote_budget=1"}) {
    const bool shares = locks::AnyLock::make(kind)->traits().readers_share;
    for (std::uint32_t timed = 0; timed < 3; ++timed) {
      std::vector<Manner> manners(3, kWait);
      manners[timed] = kTimed;
      LockShape shape = tree;
      shape.writers = 3;
      require_clean(kind, shape, manners);
      if (!shares) continue;
      shape.readers = 2;
      shape.writers = 1;
      require_clean(kind, shape, manners);
    }
  }
}

// T3, N2. The second agent of a node gives up behind the first one, which has marked its nodes
// above delegated by then: at three levels one of them went back to its pool marked so.
TEST_CASE("explore: RMA-MCS, a node that was not delegated after all goes back unmarked") {
  require_clean("rma-mcs:t_l=1", kThreeLevels, {kWait, kTimed});
}

TEST_CASE("explore: RMA-RW, a writer's node that was not delegated after all", "[.long][mixed]") {
  require_clean("rma-rw:t_r=1,t_l1=1,t_l=1", kThreeLevels, {kWait, kTimed});
}

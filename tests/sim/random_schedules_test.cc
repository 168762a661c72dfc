// Random schedules of 4 to 64 agents on machines of one to three levels: every kind, by every call.
// The long case runs a million of them.
#include <catch2/catch.hpp>
#include <vector>

#include "tests/sim/explored.h"

using namespace keyway;
using namespace keyway::lockcheck;
using test::kSmall;

namespace {

struct Runs {
  LockShape shape;
  std::uint64_t executions;  // by each of the two ways to choose, of each kind and call
};

/// Few executions of many agents, many of few: the steps of all sizes are about as many.
const std::vector<Runs>& runs() {
  static const std::vector<Runs> all = {
      {{.readers = 2, .writers = 2, .rounds = 2, .nodes = 4}, 10'000},
      {{.readers = 3, .writers = 5, .ranks = 4, .topology = "nodes=2", .nodes = 4}, 2'800},
      {{.readers = 8, .writers = 8, .ranks = 8, .topology = "racks=2,nodes=4", .nodes = 5}, 800},
      {{.readers = 24, .writers = 8, .ranks = 8, .topology = "nodes=4", .nodes = 4}, 200},
      {{.readers = 20, .writers = 44, .ranks = 16, .topology = "racks=2,nodes=8", .nodes = 5}, 89},
  };
  return all;
}

/// ALock is about atomics of the two classes.
fabric::sim::ExploreOptions options_of(std::string_view kind) {
  return {.split_rma = kind.starts_with("alock"), .most_steps = 1'000'000};
}

constexpr Manner kManners[] = {Manner::kWait, Manner::kTimed, Manner::kTry};

/// A `fewer`-th of the executions of runs(), but at least one of each.
std::uint64_t run_all(std::string_view kind, std::uint64_t fewer) {
  std::uint64_t executed = 0;
  for (const Runs& each : runs()) {
    for (const Manner manner : kManners) {
      LockShape shape = each.shape;
      shape.manner = manner;
      const std::uint64_t executions = std::max<std::uint64_t>(each.executions / fewer, 1);
      test::random_schedules(kind, shape, executions, options_of(kind));
      executed += 2 * executions;
    }
  }
  return executed;
}

}  // namespace

TEST_CASE("explore: random schedules of 4 to 64 agents, every kind, by every call") {
  for (const std::string_view kind : locks::AnyLock::kNames) {
    CHECK(run_all(kind, kSmall ? 20'000 : 1'000) >= 30);
  }
}

TEST_CASE("explore: a million random schedules of 4 to 64 agents", "[.long][random]") {
  std::uint64_t executed = 0;
  for (const std::string_view kind : locks::AnyLock::kNames) executed += run_all(kind, 1);
  CHECK(executed >= 900'000);
  // With levers at their least, every phase, budget and threshold ends as soon as it can.
  for (const char* kind :
       {"rma-mcs:t_l=1", "rma-rw:t_r=1,t_l1=1,t_l=1", "alock:local_budget=1,remote_budget=1",
        "alock:swap=on", "alock-rw:local_budget=1,remote_budget=1", "gbh:lockall=off"}) {
    executed += run_all(kind, 3);
  }
  CHECK(executed >= 1'000'000);
}

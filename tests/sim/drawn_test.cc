// Orders that are drawn, of 4 to 64 agents on machines of one to three levels: every kind, by every
// call. The long case draws a million of them.
#include <catch2/catch.hpp>
#include <vector>

#include "tests/sim/explored.h"

using namespace keyway;
using namespace keyway::lockcheck;
using test::kSmall;

namespace {

struct Draw {
  LockShape shape;
  std::uint64_t executions;  // by each of the two ways of drawing, of each kind and call
};

/// Few orders of many agents, many of few: the steps of all sizes are about as many.
const std::vector<Draw>& draws() {
  static const std::vector<Draw> all = {
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
  return {.split_rma = kind.starts_with("alock"), .most_steps = 1'000'000, .most_counted = 0};
}

constexpr Manner kManners[] = {Manner::kWait, Manner::kTimed, Manner::kTry};

/// A `fewer`-th of the orders that draws() says, but at least one of each.
std::uint64_t draw_all(std::string_view kind, std::uint64_t fewer) {
  std::uint64_t orders = 0;
  for (const Draw& draw : draws()) {
    for (const Manner manner : kManners) {
      LockShape shape = draw.shape;
      shape.manner = manner;
      const std::uint64_t executions = std::max<std::uint64_t>(draw.executions / fewer, 1);
      test::drawn(kind, shape, executions, options_of(kind));
      orders += 2 * executions;
    }
  }
  return orders;
}

}  // namespace

TEST_CASE("explore: drawn orders of 4 to 64 agents, every kind, by every call") {
  for (const std::string_view kind : locks::AnyLock::kNames) {
    CHECK(draw_all(kind, kSmall ? 20'000 : 1'000) >= 30);
  }
}

TEST_CASE("explore: a million drawn orders of 4 to 64 agents", "[.long][drawn]") {
  std::uint64_t orders = 0;
  for (const std::string_view kind : locks::AnyLock::kNames) orders += draw_all(kind, 1);
  CHECK(orders >= 900'000);
  // With levers at their least, every phase, budget and threshold ends as soon as it can.
  for (const char* kind :
       {"rma-mcs:t_l=1", "rma-rw:t_r=1,t_l1=1,t_l=1", "alock:local_budget=1,remote_budget=1",
        "alock:swap=on", "alock-rw:local_budget=1,remote_budget=1", "gbh:lockall=off"}) {
    orders += draw_all(kind, 3);
  }
  CHECK(orders >= 1'000'000);
}

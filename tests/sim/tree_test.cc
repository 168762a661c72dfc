// RMA-MCS on machines of two and three levels: every order of a few agents, random schedules of
// many.
#include <fmt/core.h>

#include <catch2/catch.hpp>

#include "keyway/locks/distributed/rma_mcs.h"
#include "tests/sim/explored.h"

using namespace keyway;
using namespace keyway::lockcheck;
using test::explored;
using test::kSmall;
using test::random_schedules;
using test::waiting_of;

namespace {

// Agent i lives at rank i: 0 and 1 share an element of the level above the smallest, 2 and 3 do.
const LockShape kTwoByTwo{.ranks = 4, .topology = "nodes=2", .nodes = 3};
const LockShape kTwoByTwoByTwo{
    .ranks = 8, .homes = {0, 1, 2, 4}, .topology = "racks=2,nodes=4", .nodes = 4};
const LockShape kThreeLevels{.ranks = 4, .topology = "racks=2,nodes=4", .nodes = 4};

LockShape with(LockShape shape, std::uint32_t writers, Manner manner = Manner::kWait) {
  shape.writers = writers;
  shape.manner = manner;
  return shape;
}

}  // namespace

TEST_CASE("explore: RMA-MCS on two nodes, every order") {
  for (const char* kind : {"rma-mcs:t_l=1", "rma-mcs:t_l=2"}) {
    explored(kind, with(kTwoByTwo, 2));
    if (!kSmall) explored(kind, with(kTwoByTwo, 3));
  }
  for (const Manner manner : {Manner::kTimed, Manner::kTry}) {
    explored("rma-mcs:t_l=1", with(kTwoByTwo, 2, manner));
    explored("rma-mcs:t_l=1", with({.ranks = 2, .nodes = 3}, 2, manner));
  }
}

TEST_CASE("explore: RMA-MCS on two racks, every order of two agents, random schedules of eight") {
  for (const Manner manner : {Manner::kWait, Manner::kTimed, Manner::kTry}) {
    explored("rma-mcs:t_l=1", with(kThreeLevels, 2, manner));
  }
  for (const char* kind : {"rma-mcs:t_l=1", "rma-mcs:t_l=2"}) {
    random_schedules(kind, with(kThreeLevels, 8), kSmall ? 20 : 200);
  }
}

TEST_CASE("explore: RMA-MCS, four agents on two nodes and on two racks, every order",
          "[.long][rma-mcs]") {
  for (const char* kind : {"rma-mcs:t_l=1", "rma-mcs:t_l=2"}) {
    explored(kind, with(kTwoByTwo, 4));
    explored(kind, with(kThreeLevels, 4));
    // Two share a node, a third their rack, the fourth is alone in the other one.
    explored(kind, with(kTwoByTwoByTwo, 4));
  }
}

TEST_CASE("explore: nobody starves in RMA-MCS, though the slow to climb can be passed for long") {
  LockShape apart{.writers = 2, .forever = true};
  const auto waiting = waiting_of("rma-mcs:t_l=1", apart);
  CHECK_FALSE(waiting.starvation);
  CHECK_FALSE(waiting.livelock);
  // An agent that is first in its element and has not reached the root yet has no place there.
  CHECK_FALSE(waiting.bypass);
}

TEST_CASE("explore: an element hands RMA-MCS on T_L times, and then lets the root go") {
  for (const std::uint32_t t_l : {1u, 2u}) {
    if (kSmall && t_l != 1) continue;
    LockShape shape = with(kTwoByTwo, 2);
    shape.rounds = t_l + 1;
    shape.most_in_a_row = t_l + 1;
    const auto kind = fmt::format("rma-mcs:t_l={}", t_l);
    explored<locks::RmaMcs>(kind, shape);
    --shape.most_in_a_row;  // and no bound is lower: the exploration would see it
    LockProgram<locks::RmaMcs> program(test::lock_of<locks::RmaMcs>(kind), shape);
    fabric::sim::Explorer explorer(program);
    const auto report = explorer.exhaust(20'000'000);
    REQUIRE(report.violation);
    CHECK_THAT(report.violation->what, Catch::StartsWith("T7"));
  }
}

TEST_CASE("RMA-MCS refuses thresholds of zero") {
  for (const char* text : {"rma-mcs:t_l=0", "rma-mcs:t_l2=0", "rma-mcs:t_l5=0"}) {
    CHECK(locks::RmaMcs::make(*locks::LockParams::parse(text)).code() == Code::kInvalidArgument);
  }
  CHECK(locks::RmaMcs::make(*locks::LockParams::parse("rma-mcs:t_l1=5")).code() ==
        Code::kInvalidArgument);
  CHECK(locks::RmaMcs::make(*locks::LockParams::parse("rma-mcs:t_l=3,t_l2=1")).ok());
}

// ALock and its reader-writer form: every order of a few agents, with atomics of the two classes
// that are not atomic with one another. The lock is at rank 0; agents there are local, others
// remote.
#include <fmt/core.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/sim/explored.h"

using namespace keyway;
using namespace keyway::lockcheck;
using test::kSmall;
using test::kSplitRma;

namespace {

constexpr const char* kMin = "alock:local_budget=1,remote_budget=1";
constexpr const char* kTwo = "alock:local_budget=2,remote_budget=2";
// As on RDMA verbs, which have no swap: the way into the remote queue is tried again and again.
constexpr const char* kTries = "alock:local_budget=1,remote_budget=1,swap=off";

std::string of_budget(std::uint32_t budget) {
  return fmt::format("alock:local_budget={0},remote_budget={0}", budget);
}

fabric::sim::ExploreReport explored(const std::string& kind, const LockShape& shape) {
  return test::explored(kind, shape, kSplitRma);
}

void random_schedules(const char* kind, const LockShape& shape) {
  test::random_schedules(kind, shape, kSmall ? 50 : 1'500, kSplitRma);
}

}  // namespace

TEST_CASE("alock: one agent of each cohort, and two of one, every order") {
  for (const char* kind : {kMin, kTwo, kTries, "alock"}) {
    explored(kind, {.writers = 2});
    explored(kind, {.writers = 2, .ranks = 1});
    explored(kind, {.writers = 2, .manner = Manner::kTry});
    explored(kind, {.writers = 2, .manner = Manner::kTimed});
    explored(kind, {.writers = 2, .ranks = 1, .manner = Manner::kTimed});
  }
}

TEST_CASE("alock: three agents, every order") {
  if (kSmall) return explored(kMin, {.writers = 2, .ask_token = true}), void();
  explored(kMin, {.writers = 3});              // two local, one remote
  explored(kMin, {.writers = 3, .ranks = 3});  // one local, two remote
  explored(kTries, {.writers = 3, .ranks = 3});
}

TEST_CASE(
    "alock: nobody starves, and a waiter is passed by a budget of the other cohort at a time") {
  // One of each: the other may be inside, and come again before the waiter has yielded to it.
  const auto pair = explored(kMin, {.writers = 2, .forever = true});
  CHECK_FALSE(pair.waiting.value().starvation);
  CHECK(pair.waiting->bypass == 2);
}

// A6. The long tests cover agents without end more fully.
TEST_CASE("alock: past a leader that has yielded, the other cohort is granted its budget") {
  for (const std::uint32_t budget : {1u, 2u}) {
    if (kSmall && budget != 1) continue;
    for (const std::vector<std::uint32_t>& homes : {std::vector{0u, 1u, 0u}, {1u, 0u, 1u}}) {
      LockShape shape{.writers = 3, .rounds = 2, .homes = homes};
      shape.most_past_leader = {budget, budget};
      explored(of_budget(budget), shape);
    }
  }
}

TEST_CASE("alock: for ever past a leader that has yielded: its budget, and no less",
          "[.long][alock]") {
  for (const std::vector<std::uint32_t>& homes : {std::vector{0u, 1u, 0u}, {1u, 0u, 1u}}) {
    LockShape shape{.writers = 3, .homes = homes, .forever = true};
    for (const std::uint32_t budget : {1u, 2u}) {
      shape.most_past_leader = {budget, budget};
      explored(of_budget(budget), shape);
    }
    shape.most_past_leader = {1, 1};  // and no bound is lower: the exploration would see it
    LockProgram<locks::AnyLock> program(test::lock_of<locks::AnyLock>(of_budget(2)), shape);
    fabric::sim::Explorer explorer(program, kSplitRma);
    const auto report = explorer.exhaust(20'000'000);
    REQUIRE(report.violation);
    CHECK_THAT(report.violation->what, Catch::StartsWith("A6"));
  }
}

// Counted from its first step: the budget in progress on its arrival, and the next one, taken
// before it has yielded.
TEST_CASE("alock: who waits alone in its cohort is passed by two budgets of the other one at most",
          "[.long][alock]") {
  for (const std::uint32_t budget : {1u, 2u}) {
    CAPTURE(budget);
    const std::string kind = of_budget(budget);
    // Agent 1 is the only one of its cohort, the remote one and then the local one.
    for (const std::vector<std::uint32_t>& homes : {std::vector{0u, 1u, 0u}, {1u, 0u, 1u}}) {
      const auto waiting =
          test::waiting_of(kind, {.writers = 3, .homes = homes, .forever = true}, kSplitRma);
      CHECK_FALSE(waiting.starvation);
      CHECK(waiting.bypass_of[1].value() <= 2 * budget);
    }
  }
}

TEST_CASE("alock: two agents of each cohort, every order", "[.long][alock]") {
  explored(kMin, {.writers = 4});
  explored(kTwo, {.writers = 4});
}

TEST_CASE("alock-rw: a reader and a writer of each class and of both, every order") {
  for (const Manner manner : {Manner::kWait, Manner::kTry, Manner::kTimed}) {
    explored("alock-rw", {.readers = 1, .writers = 1, .manner = manner});  // local, remote
    explored("alock-rw", {.readers = 1, .writers = 1, .ranks = 1, .manner = manner});
  }
  explored("alock-rw", {.readers = 2, .writers = 0});
}

TEST_CASE("alock-rw: neither readers nor writers starve") {
  const auto waiting =
      explored("alock-rw", {.readers = 1, .writers = 1, .ranks = 1, .forever = true})
          .waiting.value();
  CHECK_FALSE(waiting.starvation);
  CHECK_FALSE(waiting.livelock);
}

TEST_CASE(
    "alock: four agents with deadlines, and readers and writers of each class, random orders") {
  random_schedules(kMin, {.writers = 4, .manner = Manner::kTimed});
  random_schedules(kTwo, {.writers = 4, .rounds = 2, .ranks = 4, .manner = Manner::kTimed});
  random_schedules(kTries, {.writers = 4, .rounds = 2, .ranks = 4, .manner = Manner::kTimed});
  random_schedules("alock-rw", {.readers = 2, .writers = 2, .rounds = 2});
  random_schedules("alock-rw", {.readers = 2, .writers = 2, .manner = Manner::kTimed});
}

TEST_CASE("alock-rw: a reader and a writer of each class, every order", "[.long][alock-rw]") {
  LockShape shape{.readers = 2, .writers = 2, .homes = {0, 1, 0, 1}};
  for (const Manner manner : {Manner::kWait, Manner::kTry}) {
    shape.manner = manner;
    explored("alock-rw", shape);
  }
}

TEST_CASE("alock-rw: a reader and a remote writer for ever, every order", "[.long][alock-rw]") {
  explored("alock-rw", {.readers = 1, .writers = 1, .forever = true});
}

// Every lock kind, every order in which a few agents can use it: design section 12, line 2.
#include <catch2/catch.hpp>

#include "tests/sim/explored.h"

using namespace keyway;
using namespace keyway::lockcheck;
using test::explored;
using test::kSmall;
using test::waiting_of;

TEST_CASE("explore: two agents of every kind, every order, twice each") {
  for (const char* kind : {"fompi-spin", "fompi-rw", "gbh", "gbh:lockall=off",
                           "gbh:lockall=off,versions=on", "d-mcs"}) {
    explored(kind, {.readers = 0, .writers = 2});
    explored(kind, {.readers = 1, .writers = 1});
  }
  // Back-off takes time, and an order has no time: gbh is fompi-rw here.
  for (const char* kind : {"fompi-spin", "fompi-rw", "gbh:lockall=off", "d-mcs"}) {
    if (!kSmall) explored(kind, {.readers = 0, .writers = 2, .rounds = 2});
  }
}

TEST_CASE("explore: three agents, every order") {
  for (const char* kind : {"fompi-spin", "gbh:lockall=off", "d-mcs"}) {
    explored(kind, {.readers = 0, .writers = 3});
    if (!kSmall) explored(kind, {.readers = 1, .writers = 2});
  }
  explored("gbh:lockall=off", {.readers = 2, .writers = 1});
  explored("gbh:lockall=off,versions=on", {.readers = 0, .writers = 3});
  if (!kSmall) explored("gbh:lockall=off,versions=on", {.readers = 1, .writers = 2});
  if (!kSmall) explored("fompi-rw", {.readers = 1, .writers = 2});
}

TEST_CASE("explore: four agents, and three that come again, every order", "[.long][few]") {
  explored("fompi-rw", {.readers = 0, .writers = 3});
  explored("fompi-spin", {.readers = 0, .writers = 4});
  explored("gbh:lockall=off", {.readers = 2, .writers = 2});
  explored("d-mcs", {.readers = 0, .writers = 4});
  explored("d-mcs", {.readers = 0, .writers = 3, .rounds = 2});
}

TEST_CASE("explore: random orders reach the states that exhaustion saw, no more and no fewer") {
  for (const char* kind : {"fompi-spin", "fompi-rw", "d-mcs"}) {
    for (const bool split : {false, true}) {
      CAPTURE(kind, split);
      LockProgram<locks::AnyLock> program(*locks::AnyLock::make(kind),
                                          {.readers = 0, .writers = 2});
      constexpr std::uint64_t kStates = 1'000'000;
      fabric::sim::Explorer explorer(program, {.split_rma = split, .most_counted = kStates});
      const auto all = explorer.exhaust(kStates);
      const auto sampled = explorer.random(1, kSmall ? 2'000 : 100'000);
      CHECK(all.complete);
      CHECK(sampled.states <= all.states);
      if (!kSmall) CHECK(sampled.states >= all.states * 19 / 20);
    }
  }
}

TEST_CASE("explore: nobody starves in a queue, and it is passed by each other agent once") {
  for (const std::uint32_t agents : {2u, 3u}) {
    const auto waiting = waiting_of("d-mcs", {.writers = agents, .forever = true});
    CHECK_FALSE(waiting.starvation);
    CHECK_FALSE(waiting.livelock);
    CHECK(waiting.bypass == agents - 1);
  }
  CHECK(waiting_of("d-mcs", {.writers = 3}).bypass == 2);
}

TEST_CASE("explore: who spins can starve, and can be passed without bound") {
  for (const char* kind : {"fompi-spin", "fompi-rw", "gbh", "gbh:lockall=off"}) {
    const auto waiting = waiting_of(kind, {.writers = 2, .forever = true});
    CHECK(waiting.starvation);
    CHECK_FALSE(waiting.livelock);
    CHECK_FALSE(waiting.bypass);
    CHECK(waiting.unbounded);
  }
  CHECK(waiting_of("gbh", {.readers = 1, .writers = 1, .forever = true}).starvation);
  // A waiting agent has found the other one inside, which enters twice more.
  CHECK(waiting_of("fompi-spin", {.writers = 2, .rounds = 3}).bypass == 2);
}

TEST_CASE("explore: deadlines that pass and tries that fail leave nothing behind") {
  for (const char* kind :
       {"fompi-spin", "fompi-rw", "gbh:lockall=off", "gbh:lockall=off,versions=on", "d-mcs"}) {
    for (const Manner manner : {Manner::kTimed, Manner::kTry}) {
      explored(kind, {.readers = 1, .writers = 1, .manner = manner});
    }
    if (!kSmall) explored(kind, {.writers = 2, .rounds = 2, .manner = Manner::kTry});
  }
}

TEST_CASE("explore: holders of every kind who ask for their fencing tokens, every order") {
  for (const std::string_view kind : locks::AnyLock::kNames) {
    explored(kind, {.writers = 2, .nodes = 3, .ask_token = true});
    explored(kind, {.readers = 1, .writers = 1, .nodes = 3, .ask_token = true});
  }
}

TEST_CASE("explore: deadlines that pass twice, and among three", "[.long][few]") {
  for (const char* kind : {"fompi-spin", "gbh:lockall=off", "d-mcs"}) {
    explored(kind, {.writers = 2, .rounds = 2, .manner = Manner::kTimed});
    explored(kind, {.writers = 3, .manner = Manner::kTimed});
  }
}

TEST_CASE("explore: LOCKALL and writers keep each other out, and can hold each other up") {
  LockProgram<locks::FompiRw> program(*locks::FompiRw::make(*locks::LockParams::parse("gbh")),
                                      {.alls = 1, .writers = 1, .rounds = 2});
  fabric::sim::Explorer explorer(program);
  const auto report = explorer.exhaust(20'000'000);
  INFO((report.violation ? report.violation->what : ""));
  CHECK_FALSE(report.violation);
  CHECK(report.complete);
  // Each backs out for the other; only back-off, which takes time, separates them.
  CHECK_THAT(report.waiting.value().livelock.value().what, Catch::StartsWith("livelock"));
}

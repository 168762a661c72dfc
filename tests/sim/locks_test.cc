// Every lock kind, every order in which a few agents can use it: design section 12, line 2.
#include <catch2/catch.hpp>

#include "keyway/locks/distributed/any_lock.h"
#include "keyway/tools/lockcheck/lock_program.h"

using namespace keyway;
using namespace keyway::lockcheck;

namespace {

#if defined(KEYWAY_SIM_SMALL)
constexpr bool kSmall = true;
#else
constexpr bool kSmall = false;
#endif

void require_clean(const char* kind, const LockShape& shape) {
  CAPTURE(kind, shape.readers, shape.writers, shape.rounds);
  LockProgram<locks::AnyLock> program(*locks::AnyLock::make(kind), shape);
  fabric::sim::Explorer explorer(program);
  const auto report = explorer.exhaust(20'000'000);
  INFO((report.violation ? report.violation->what + ", schedule " + report.violation->schedule
                         : ""));
  CHECK_FALSE(report.violation);
  CHECK(report.complete);
  CHECK(report.states > 10);
}

}  // namespace

TEST_CASE("explore: two agents of every kind, every order, twice each") {
  for (const char* kind : {"fompi-spin", "fompi-rw", "gbh", "gbh:lockall=off", "d-mcs"}) {
    require_clean(kind, {.readers = 0, .writers = 2});
    require_clean(kind, {.readers = 1, .writers = 1});
  }
  // Back-off takes time, which is no part of an order: gbh is fompi-rw here.
  for (const char* kind : {"fompi-spin", "fompi-rw", "gbh:lockall=off", "d-mcs"}) {
    if (!kSmall) require_clean(kind, {.readers = 0, .writers = 2, .rounds = 2});
  }
}

TEST_CASE("explore: three agents, every order") {
  for (const char* kind : {"fompi-spin", "gbh:lockall=off", "d-mcs"}) {
    require_clean(kind, {.readers = 0, .writers = 3});
    if (!kSmall) require_clean(kind, {.readers = 1, .writers = 2});
  }
  require_clean("gbh:lockall=off", {.readers = 2, .writers = 1});
  if (!kSmall) require_clean("fompi-rw", {.readers = 1, .writers = 2});
}

TEST_CASE("explore: four agents, and three that come again, every order", "[.long]") {
  require_clean("fompi-rw", {.readers = 0, .writers = 3});
  require_clean("fompi-spin", {.readers = 0, .writers = 4});
  require_clean("gbh:lockall=off", {.readers = 2, .writers = 2});
  require_clean("d-mcs", {.readers = 0, .writers = 4});
  require_clean("d-mcs", {.readers = 0, .writers = 3, .rounds = 2});
}

TEST_CASE("explore: random orders reach the states that exhaustion saw, no more and no fewer") {
  for (const char* kind : {"fompi-spin", "fompi-rw", "d-mcs"}) {
    for (const bool split : {false, true}) {
      CAPTURE(kind, split);
      LockProgram<locks::AnyLock> program(*locks::AnyLock::make(kind),
                                          {.readers = 0, .writers = 2});
      fabric::sim::Explorer explorer(program, {.split_rma = split});
      const auto all = explorer.exhaust(1'000'000);
      const auto drawn = explorer.random(1, kSmall ? 2'000 : 100'000);
      CHECK(all.complete);
      CHECK(drawn.states <= all.states);
      if (!kSmall) CHECK(drawn.states >= all.states * 19 / 20);
    }
  }
}

namespace {

fabric::sim::Waiting waiting_of(const char* kind, const LockShape& shape) {
  CAPTURE(kind, shape.readers, shape.writers);
  LockProgram<locks::AnyLock> program(*locks::AnyLock::make(kind), shape);
  fabric::sim::Explorer explorer(program);
  const auto report = explorer.exhaust(20'000'000);
  INFO((report.violation ? report.violation->what : ""));
  CHECK_FALSE(report.violation);
  CHECK_FALSE(report.waiting.value().livelock);
  return report.waiting.value();
}

}  // namespace

TEST_CASE("explore: nobody starves in a queue, and it is passed by each other agent once") {
  for (const std::uint32_t agents : {2u, 3u}) {
    const auto waiting = waiting_of("d-mcs", {.writers = agents, .forever = true});
    CHECK_FALSE(waiting.starvation);
    CHECK(waiting.bypass == agents - 1);
  }
  CHECK(waiting_of("d-mcs", {.writers = 3}).bypass == 2);
}

TEST_CASE("explore: who spins can starve, and can be passed without bound") {
  for (const char* kind : {"fompi-spin", "fompi-rw", "gbh", "gbh:lockall=off"}) {
    const auto waiting = waiting_of(kind, {.writers = 2, .forever = true});
    CHECK(waiting.starvation);
    CHECK_FALSE(waiting.bypass);
    CHECK(waiting.unbounded);
  }
  CHECK(waiting_of("gbh", {.readers = 1, .writers = 1, .forever = true}).starvation);
  // In so many rounds the others come past so many times.
  CHECK(waiting_of("fompi-spin", {.writers = 2, .rounds = 3}).bypass == 3);
}

TEST_CASE("explore: deadlines that pass and tries that fail leave nothing behind") {
  for (const char* kind : {"fompi-spin", "fompi-rw", "gbh:lockall=off", "d-mcs"}) {
    for (const Manner manner : {Manner::kTimed, Manner::kTry}) {
      require_clean(kind, {.readers = 1, .writers = 1, .manner = manner});
    }
    if (!kSmall) require_clean(kind, {.writers = 2, .rounds = 2, .manner = Manner::kTry});
  }
}

TEST_CASE("explore: holders of every kind who ask for their fencing tokens, every order") {
  for (const std::string_view name : locks::AnyLock::kNames) {
    const std::string kind(name);
    require_clean(kind.c_str(), {.writers = 2, .nodes = 3, .ask_token = true});
    require_clean(kind.c_str(), {.readers = 1, .writers = 1, .nodes = 3, .ask_token = true});
  }
}

TEST_CASE("explore: deadlines that pass twice, and among three", "[.long]") {
  for (const char* kind : {"fompi-spin", "gbh:lockall=off", "d-mcs"}) {
    require_clean(kind, {.writers = 2, .rounds = 2, .manner = Manner::kTimed});
    require_clean(kind, {.writers = 3, .manner = Manner::kTimed});
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
  // Each backs out of the other's way; only back-off, which takes time, tells them apart.
  CHECK_THAT(report.waiting.value().livelock.value().what, Catch::StartsWith("livelock"));
}

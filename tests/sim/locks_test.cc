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
  program.attach(explorer);
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
      program.attach(explorer);
      const auto all = explorer.exhaust(1'000'000);
      const auto drawn = explorer.random(1, kSmall ? 2'000 : 100'000);
      CHECK(all.complete);
      CHECK(drawn.states <= all.states);
      if (!kSmall) CHECK(drawn.states >= all.states * 19 / 20);
    }
  }
}

// MCS-WP: every order in which a few readers and writers can use it, and who can be kept waiting.
#include <catch2/catch.hpp>

#include "keyway/locks/distributed/mcs_wp.h"
#include "keyway/tools/lockcheck/lock_program.h"

using namespace keyway;
using namespace keyway::lockcheck;

namespace {

#if defined(KEYWAY_SIM_SMALL)
constexpr bool kSmall = true;
#else
constexpr bool kSmall = false;
#endif

fabric::sim::ExploreReport explored(const LockShape& shape) {
  CAPTURE(shape.readers, shape.writers, shape.rounds, shape.forever);
  LockProgram<locks::McsWp> program(locks::McsWp(), shape);
  fabric::sim::Explorer explorer(program);
  auto report = explorer.exhaust(20'000'000);
  INFO((report.violation ? report.violation->what + ", schedule " + report.violation->schedule
                         : ""));
  CHECK_FALSE(report.violation);
  CHECK(report.complete);
  CHECK(report.states > 10);
  return report;
}

}  // namespace

TEST_CASE("mcs-wp: readers and writers, every order") {
  explored({.readers = 1, .writers = 1});
  explored({.readers = 0, .writers = 2, .ask_token = true});
  explored({.readers = 1, .writers = 1, .rounds = 2});
  explored({.readers = 2, .writers = 1});
  if (!kSmall) explored({.readers = 0, .writers = 3});
}

TEST_CASE("mcs-wp: deadlines that pass and tries that fail leave nothing behind") {
  for (const Manner manner : {Manner::kTimed, Manner::kTry}) {
    explored({.readers = 1, .writers = 1, .manner = manner});
    explored({.readers = 0, .writers = 2, .manner = manner});
  }
  explored({.readers = 2, .writers = 1, .manner = Manner::kTry});
  if (!kSmall) explored({.readers = 1, .writers = 2, .manner = Manner::kTry});
}

// Promised to writers: the exploration itself fails when one can starve (LockProgram::promises).
TEST_CASE("mcs-wp: first come, first served among writers, who never starve") {
  CHECK(explored({.readers = 0, .writers = 2, .forever = true}).waiting.value().bypass == 1);
  const auto waiting = explored({.readers = 1, .writers = 1, .forever = true}).waiting.value();
  CHECK(waiting.starving.empty());  // one writer has to rest now and then
}

TEST_CASE("mcs-wp: four agents, in orders that are drawn") {
  for (const Manner manner : {Manner::kWait, Manner::kTimed}) {
    LockProgram<locks::McsWp> program(locks::McsWp(),
                                      {.readers = 2, .writers = 2, .manner = manner});
    fabric::sim::Explorer explorer(program);
    CHECK_FALSE(explorer.random(1, kSmall ? 200 : 5'000).violation);
    CHECK_FALSE(explorer.pct(1, kSmall ? 200 : 5'000, 3).violation);
  }
}

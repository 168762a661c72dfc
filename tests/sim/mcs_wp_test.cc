// MCS-WP: every order in which a few readers and writers can use it, and which agents can starve.
#include <catch2/catch.hpp>

#include "tests/sim/explored.h"

using namespace keyway;
using namespace keyway::lockcheck;
using test::kSmall;

namespace {

fabric::sim::ExploreReport explored(const LockShape& shape) {
  return test::explored("mcs-wp", shape);
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
  CHECK(waiting.starving.empty());  // one writer must rest now and then
}

TEST_CASE("mcs-wp: two readers and two writers, every order", "[.long][mcs-wp]") {
  explored({.readers = 2, .writers = 2});
}

TEST_CASE("mcs-wp: four agents, in random schedules") {
  for (const Manner manner : {Manner::kWait, Manner::kTimed}) {
    test::random_schedules("mcs-wp", {.readers = 2, .writers = 2, .manner = manner},
                           kSmall ? 200 : 5'000);
  }
}

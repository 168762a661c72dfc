// ALock and its reader-writer form: every order of a few agents, with atomics of the two classes
// that are not atomic with one another. The lock is at rank 0; agents there are local, others
// remote.
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

constexpr const char* kLeast = "alock:local_budget=1,remote_budget=1";
constexpr const char* kTwo = "alock:local_budget=2,remote_budget=2";
// As on RDMA verbs, which have no swap: the way into the remote queue is tried again and again.
constexpr const char* kTries = "alock:local_budget=1,remote_budget=1,swap=off";

fabric::sim::ExploreReport explored(const char* kind, const LockShape& shape) {
  CAPTURE(kind, shape.readers, shape.writers, shape.ranks, static_cast<int>(shape.manner));
  LockProgram<locks::AnyLock> program(*locks::AnyLock::make(kind), shape);
  fabric::sim::Explorer explorer(program, {.split_rma = true});
  auto report = explorer.exhaust(50'000'000);
  INFO((report.violation ? report.violation->what + ", schedule " + report.violation->schedule
                         : ""));
  CHECK_FALSE(report.violation);
  CHECK(report.complete);
  CHECK(report.states > 10);
  return report;
}

void drawn(const char* kind, const LockShape& shape) {
  CAPTURE(kind, shape.readers, shape.writers, shape.ranks, static_cast<int>(shape.manner));
  LockProgram<locks::AnyLock> program(*locks::AnyLock::make(kind), shape);
  fabric::sim::Explorer explorer(program, {.split_rma = true});
  const auto report = explorer.random(1, kSmall ? 100 : 3'000);
  INFO((report.violation ? report.violation->what + ", schedule " + report.violation->schedule
                         : ""));
  CHECK_FALSE(report.violation);
}

}  // namespace

TEST_CASE("alock: one agent of each cohort, and two of one, every order") {
  for (const char* kind : {kLeast, kTwo, kTries, "alock"}) {
    explored(kind, {.writers = 2});
    explored(kind, {.writers = 2, .ranks = 1});
    explored(kind, {.writers = 2, .manner = Manner::kTry});
    explored(kind, {.writers = 2, .manner = Manner::kTimed});
    explored(kind, {.writers = 2, .ranks = 1, .manner = Manner::kTimed});
  }
}

TEST_CASE("alock: three agents, every order") {
  if (kSmall) return explored(kLeast, {.writers = 2, .ask_token = true}), void();
  explored(kLeast, {.writers = 3});              // two local, one remote
  explored(kLeast, {.writers = 3, .ranks = 3});  // one local, two remote
  explored(kTries, {.writers = 3, .ranks = 3});
}

TEST_CASE(
    "alock: nobody starves, and a waiter is passed by a budget of the other cohort at a time") {
  // One of each: the other may be inside, and come again before the waiter has yielded to it.
  const auto pair = explored(kLeast, {.writers = 2, .forever = true});
  CHECK_FALSE(pair.waiting.value().starvation);
  CHECK(pair.waiting->bypass == 2);
}

TEST_CASE("alock: two local agents and a remote one, for ever", "[.long]") {
  const auto mixed = explored(kLeast, {.writers = 3, .forever = true});
  CHECK_FALSE(mixed.waiting.value().starvation);
  CHECK(mixed.waiting->bypass.has_value());
}

TEST_CASE("alock: two agents of each cohort, every order", "[.long]") {
  explored(kLeast, {.writers = 4});
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
  drawn(kLeast, {.writers = 4, .manner = Manner::kTimed});
  drawn(kTwo, {.writers = 4, .rounds = 2, .ranks = 4, .manner = Manner::kTimed});
  drawn(kTries, {.writers = 4, .rounds = 2, .ranks = 4, .manner = Manner::kTimed});
  drawn("alock-rw", {.readers = 2, .writers = 2, .rounds = 2});
  drawn("alock-rw", {.readers = 2, .writers = 2, .manner = Manner::kTimed});
}

TEST_CASE("alock-rw: a reader and a remote writer for ever, every order", "[.long]") {
  explored("alock-rw", {.readers = 1, .writers = 1, .forever = true});
}

// The kind of a stripe's lock changes while it is used: every order of a few agents.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string_view>
#include <utility>

#include "keyway/tools/lockcheck/switch_program.h"
#include "tests/sim/explored.h"

using namespace keyway;
using namespace keyway::lockcheck;
using test::kSmall;

namespace {

// A kind that excludes no agent is not a lock that others can be switched to.
static_assert(locks::Switchable<locks::DMcs> && !locks::Switchable<locks::NoLock>);

using Kinds = std::vector<const char*>;

locks::StripeLock stripe_of(const Kinds& kinds) {
  std::vector<locks::AnyLock> made;
  for (const char* kind : kinds) made.push_back(*locks::AnyLock::make(kind));
  return locks::StripeLock(std::move(made));
}

void check(const Kinds& kinds, const SwitchShape& shape, const fabric::sim::ExploreReport& report) {
  CAPTURE(kinds, shape.readers, shape.writers, shape.switchers, shape.switches, shape.stale);
  INFO((report.violation ? report.violation->what + ", schedule " + report.violation->schedule
                         : ""));
  CHECK_FALSE(report.violation);
  CHECK(report.states > 10);
}

/// ALock is about atomics of the two classes.
fabric::sim::ExploreOptions options_of(const Kinds& kinds) {
  const auto two_classes = [](std::string_view kind) { return kind.starts_with("alock"); };
  return {.split_rma = std::any_of(kinds.begin(), kinds.end(), two_classes)};
}

void require_clean(const Kinds& kinds, const SwitchShape& shape) {
  SwitchProgram<locks::StripeLock> program(stripe_of(kinds), shape);
  fabric::sim::Explorer explorer(program, options_of(kinds));
  const auto report = explorer.exhaust(60'000'000);
  check(kinds, shape, report);
  CHECK(report.complete);
}

const Kinds kToQueue = {"gbh:lockall=off", "d-mcs"};
const Kinds kFromQueue = {"d-mcs", "gbh:lockall=off"};
const Kinds kQueues = {"d-mcs", "d-mcs"};

}  // namespace

TEST_CASE("switch: a writer and a switcher who may meet at either lock, every order") {
  for (const Kinds& kinds : {kToQueue, kFromQueue, kQueues}) {
    require_clean(kinds, {.readers = 0, .writers = 1});
    require_clean(kinds, {.readers = 0, .writers = 1, .stale = 0b01});
    require_clean(kinds, {.readers = 1, .writers = 0, .stale = 0b10});
    require_clean(kinds, {.readers = 0, .writers = 1, .manner = Manner::kTry});
    if (!kSmall) require_clean(kinds, {.readers = 0, .writers = 1, .switches = 2});
  }
}

TEST_CASE("switch: a reader, a writer and a switcher, every order") {
  require_clean(kFromQueue, {});
  if (!kSmall) require_clean(kToQueue, {});
}

// A far reader posts its check of the word together with its first read, and they may happen in
// either order. So the reader may hold the new kind's shared lock before that kind is active.
TEST_CASE("switch: a far reader that begins with the new kind, every order") {
  const SwitchShape far_reader{.first = 1, .stale = 0b001};
  require_clean(kFromQueue, far_reader);
  if (kSmall) return;
  require_clean({"fompi-spin", "gbh:lockall=off"}, far_reader);
  for (const char* shared :
       {"fompi-rw", "rma-rw:t_r=1,t_l1=1", "alock-rw", "mcs-wp", "rw-ticket"}) {
    require_clean({"d-mcs", shared}, far_reader);
    require_clean({"fompi-spin", shared}, far_reader);
  }
}

TEST_CASE("switch: two switchers of opposite minds, every order") {
  require_clean(kFromQueue, {.readers = 0, .writers = 0, .switchers = 2, .stale = 0b10});
  if (!kSmall) require_clean(kToQueue, {.readers = 0, .writers = 1, .switchers = 2});
}

TEST_CASE("switch: deadlines that pass leave nothing behind in either lock") {
  require_clean(kFromQueue, {.readers = 0, .writers = 1, .manner = Manner::kTimed});
  // The switch may time out at the lock that a stale agent holds.
  require_clean(kFromQueue, {.readers = 0, .writers = 1, .stale = 0b1, .manner = Manner::kTimed});
  if (!kSmall) require_clean(kToQueue, {.readers = 0, .writers = 1, .manner = Manner::kTimed});
}

// One agent remembers either kind, and the other one may be inside by the other lock.
TEST_CASE("switch: tries at a lock that is not active, every order") {
  for (const Kinds& kinds : {kToQueue, kFromQueue}) {
    require_clean(kinds, {.readers = 0, .writers = 2, .stale = 0b01, .manner = Manner::kTry});
  }
}

// Kinds with words on every rank, and kinds with words that belong to one class.
TEST_CASE("switch: a writer or a reader, and a switcher, from or to the kinds of the papers") {
  for (const Kinds& kinds :
       {Kinds{"d-mcs", "rma-rw"}, Kinds{"rma-rw", "alock"}, Kinds{"alock", "d-mcs"},
        Kinds{"gbh:lockall=off", "alock-rw"}, Kinds{"mcs-wp", "d-mcs"}}) {
    require_clean(kinds, {.readers = 1, .writers = 0});
    if (!kSmall) require_clean(kinds, {.readers = 0, .writers = 1});
  }
}

TEST_CASE("switch: a reader, a writer and a switcher, from RMA-RW to ALock and back, every order") {
  if (kSmall) return require_clean({"rma-rw", "alock"}, {.readers = 0, .writers = 1});
  for (const Kinds& kinds : {Kinds{"rma-rw", "alock"}, Kinds{"alock", "rma-rw"}}) {
    require_clean(kinds, {});
  }
}

namespace {

/// The one kind whose version tells an agent whether its first reads were made under the lock.
void require_reads_beside(const SwitchShape& shape) {
  const Kinds kinds = {"gbh:lockall=off,versions=on"};
  SwitchProgram<locks::StripeLock> program(stripe_of(kinds), shape);
  fabric::sim::Explorer explorer(program, options_of(kinds));
  const auto report = explorer.exhaust(60'000'000);
  check(kinds, shape, report);
  CHECK(report.complete);
  CHECK(program.reads_beside() > 0);
}

}  // namespace

// `first` 1: agent 0 is remote. Of two ranks the other one is local, of three both are remote.
TEST_CASE("versions: reads beside an acquire are under the lock, every order") {
  for (const std::uint32_t ranks : {2u, 3u}) {
    require_reads_beside({.readers = 1, .switchers = 0, .rounds = 2, .ranks = ranks, .first = 1});
    require_reads_beside(
        {.readers = 0, .writers = 2, .switchers = 0, .rounds = 2, .ranks = ranks, .first = 1});
  }
}

TEST_CASE("versions: with deadlines that pass, every order") {
  require_reads_beside({.readers = 0,
                        .writers = 2,
                        .switchers = 0,
                        .rounds = 2,
                        .ranks = 3,
                        .first = 1,
                        .manner = Manner::kTimed});
}

// Two visits of all three did not end within half an hour and 4 GB.
TEST_CASE("versions: three agents, two of whom visit twice, every order", "[.long][switch]") {
  for (const auto& [readers, ranks] : {std::pair(1u, 3u), std::pair(0u, 4u)}) {
    require_reads_beside({.readers = readers,
                          .writers = 3 - readers,
                          .switchers = 0,
                          .rounds = 2,
                          .ranks = ranks,
                          .first = 1,
                          .once = 0b100});
  }
}

TEST_CASE("switch: a reader, a writer and a switcher, the kinds of the papers, every order",
          "[.long][switch]") {
  for (const Kinds& kinds :
       {Kinds{"d-mcs", "rma-rw"}, Kinds{"rma-rw", "d-mcs"}, Kinds{"d-mcs", "alock"},
        Kinds{"alock", "d-mcs"}, Kinds{"rma-rw", "alock-rw"}, Kinds{"alock-rw", "alock"},
        Kinds{"mcs-wp", "rma-rw"}}) {
    require_clean(kinds, {});
  }
}

TEST_CASE("switch: random schedules of many agents") {
  const SwitchShape shape{.readers = 3, .writers = 3, .switchers = 2, .rounds = 2, .switches = 3};
  for (const Kinds& kinds : {kToQueue, kQueues}) {
    SwitchProgram<locks::StripeLock> program(stripe_of(kinds), shape);
    fabric::sim::Explorer explorer(program, {.most_counted = 1000});
    check(kinds, shape, explorer.random(1, kSmall ? 20 : 100));
    check(kinds, shape, explorer.pct(2, kSmall ? 20 : 100, 3));
  }
}

TEST_CASE("switch: readers and writers who come from either kind, every order", "[.long][switch]") {
  for (const Kinds& kinds : {kToQueue, kFromQueue, kQueues}) {
    require_clean(kinds, {.stale = 0b001});
    require_clean(kinds, {.stale = 0b010});
    require_clean(kinds, {.stale = 0b011});
    require_clean(kinds, {.stale = 0b110});
  }
}

TEST_CASE("switch: between the kinds that the store chooses from, every order", "[.long][switch]") {
  for (const Kinds& kinds : {Kinds{"rma-rw:t_r=1,t_l1=1", "alock"},
                             {"alock", "rma-rw:t_r=1,t_l1=1"},
                             {"rma-rw:t_r=1,t_l1=1", "d-mcs"},
                             {"d-mcs", "rma-rw:t_r=1,t_l1=1"},
                             {"gbh:lockall=off", "alock"}}) {
    require_clean(kinds, {});
    require_clean(kinds, {.stale = 0b010});
  }
}

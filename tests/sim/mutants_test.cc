// The explorer's own test: each defect is found, by the property that it violates, and the order
// that shows it replays to the same trace. A copy without a defect lives.
#include <catch2/catch.hpp>
#include <cstdio>
#include <set>

#include "keyway/locks/fabric/sim/explorer.h"
#include "tests/sim/mutant_list.h"

using namespace keyway;
using namespace keyway::lockcheck;

namespace {

constexpr std::uint64_t kMostStates = 2'000'000;

}  // namespace

TEST_CASE("explore: faithful copies live, in every manner") {
  for (const Mutant& copy : faithful_copies()) {
    for (const Manner manner : {Manner::kWait, Manner::kTimed, Manner::kTry}) {
      for (const bool forever : {false, true}) {
        if (forever && manner != Manner::kWait) continue;
        const LockShape shape{
            .readers = 1, .writers = 1, .forever = forever, .manner = manner, .ask_token = forever};
        CAPTURE(copy.name, static_cast<int>(manner), forever);
        const auto program = copy.make(shape);
        fabric::sim::Explorer explorer(*program);
        const auto report = explorer.exhaust(kMostStates);
        INFO((report.violation ? report.violation->what : ""));
        CHECK_FALSE(report.violation);
        CHECK(report.complete);
      }
    }
  }
}

TEST_CASE("explore: the faithful copy of a stripe's lock lives") {
  for (const Mutant& copy : faithful_stripes()) {
    CAPTURE(copy.name);
    const auto program = copy.make({});
    fabric::sim::Explorer explorer(*program);
    const auto report = explorer.exhaust(kMostStates);
    INFO((report.violation ? report.violation->what : ""));
    CHECK_FALSE(report.violation);
    CHECK(report.complete);
  }
}

TEST_CASE("explore: every mutant is killed by the property that it violates") {
  std::set<std::string> names;
  for (const Mutant& mutant : all_mutants()) {
    CAPTURE(mutant.name);
    CHECK(names.insert(mutant.name).second);
    const auto program = mutant.make(mutant.shape);
    fabric::sim::Explorer explorer(*program, mutant.explorer);
    const auto report = explorer.exhaust(kMostStates);
    REQUIRE(report.violation);
    CHECK(!mutant.property.empty());
    CHECK_THAT(report.violation->what, Catch::StartsWith(mutant.property));
    const auto again = explorer.replay(report.violation->schedule);
    REQUIRE(again.violation);
    CHECK(again.violation->what == report.violation->what);
    CHECK(again.violation->trace == report.violation->trace);
    std::printf("killed %-34s %s, order %s\n", mutant.name.c_str(), report.violation->what.c_str(),
                report.violation->schedule.c_str());
  }
  CHECK(names.size() >= 40);
}

TEST_CASE("explore: drawn orders and few preemptions kill mutants as well") {
  for (const Mutant& mutant : all_mutants()) {
    if (mutant.name != "d-mcs/lost-link" && mutant.name != "fompi-rw/release-stores-zero") continue;
    CAPTURE(mutant.name);
    const auto program = mutant.make(mutant.shape);
    fabric::sim::Explorer explorer(*program);
    CHECK(explorer.random(1, 20'000).violation);
    CHECK(explorer.pct(1, 20'000, 3).violation);
    CHECK(explorer.bounded(2, kMostStates).violation);
  }
}

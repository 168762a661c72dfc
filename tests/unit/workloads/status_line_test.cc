#include "keyway/workloads/status_line.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <ctime>

using keyway::Histogram;
using namespace keyway::workloads;

namespace {

const bool kUtc = [] {
  setenv("TZ", "UTC", 1);
  tzset();
  return true;
}();

constexpr std::uint64_t kNewYear2026Ms = 1767225600ULL * 1000;

}  // namespace

TEST_CASE("a status line is YCSB's") {
  REQUIRE(kUtc);
  Histogram reads;
  reads.record(2'000, 3);
  reads.record(10'000);
  const std::pair<std::string, Histogram> intervals[] = {{"READ", reads}};
  CHECK(status_line("", kNewYear2026Ms + 43'200'007, {10'000, 10'000, 491, 491, 245}, intervals) ==
        "2026-01-01 12:00:00:007 10 sec: 491 operations; 49.1 current ops/sec; est completion in "
        "5 seconds [READ: Count=4, Max=10, Min=2, Avg=4, 90=10, 99=10, 99.9=10, 99.99=10]");
}

TEST_CASE("a status line begins with the label and leaves out what is not known") {
  CHECK(status_line("exp1 ", kNewYear2026Ms, {0, 0, 0, 0, 100}, {}) ==
        "exp1 2026-01-01 00:00:00:000 0 sec: 0 operations;");
  CHECK(status_line("", kNewYear2026Ms, {1000, 500, 100, 25, 0}, {}) ==
        "2026-01-01 00:00:00:000 1 sec: 100 operations; 50 current ops/sec;");
}

TEST_CASE("what remains is written in the units that matter") {
  CHECK(remaining_text(0) == "0 seconds");
  CHECK(remaining_text(1) == "1 second");
  CHECK(remaining_text(59) == "59 seconds");
  CHECK(remaining_text(60) == "1 minute");
  CHECK(remaining_text(3600) == "1 hour");
  CHECK(remaining_text(7500) == "2 hours 5 minutes");
  CHECK(remaining_text(86400 + 7200 + 300) == "1 day 2 hours");
}

TEST_CASE("the progress line fits a terminal") {
  CHECK(progress_line("run", {2'000, 1'000, 450, 250, 550}) ==
        "run: 45%, 450 operations, 250/s, 3 seconds left");
  CHECK(progress_line("load", {2'000, 1'000, 2'500'000, 1'500'000, 0}) ==
        "load: 2.5M operations, 1.5M/s");
}

TEST_CASE("both lines count failed operations, and their rate leaves them out") {
  const Progress progress{2'000, 1'000, 450, 250, 550, 240, 200};
  CHECK(status_line("", kNewYear2026Ms, progress, {}) ==
        "2026-01-01 00:00:00:000 2 sec: 450 operations; 240 failed; 50 current ops/sec; est "
        "completion in 3 seconds");
  CHECK(progress_line("run", progress) ==
        "run: 45%, 450 operations, 240 failed, 50/s, 3 seconds left");
}

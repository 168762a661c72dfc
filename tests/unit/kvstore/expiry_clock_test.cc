// The clock of a host that never goes back, and the time of a remote volume.
#include <catch2/catch.hpp>
#include <cstdint>

#include "keyway/kvstore/volume/expiry_clock.h"

using namespace keyway::store;

namespace {

constexpr std::uint64_t kNs = 1'000'000;

}  // namespace

TEST_CASE("expiry clock: it follows the wall clock and never goes back") {
  LocalClock clock;
  const auto unused = []() -> std::uint64_t {
    FAIL("the wall clock is not behind");
    return 0;
  };
  CHECK(clock.read(1000, unused) == 1000);
  CHECK(clock.read(5000, unused) == 5000);
  // The wall clock is set back by 3 s: the clock continues, an eighth slower, until it has caught
  // up.
  const auto at = [](std::uint64_t ms) { return [ms] { return ms * kNs; }; };
  CHECK(clock.read(2000, at(100)) == 5000);
  CHECK(clock.read(2800, at(900)) == 5700);
  CHECK(clock.read(3800, at(1900)) == 6575);
  CHECK(clock.read(3800, at(1900)) == 6575);
  CHECK(clock.read(26'000, at(24'100)) == 26'000);
  CHECK(clock.read(26'001, unused) == 26'001);
  // And from there again.
  CHECK(clock.read(20'000, at(30'000)) == 26'001);
  CHECK(clock.read(20'000, at(30'008)) == 26'008);
}

TEST_CASE("expiry clock: another clock's time moves it ahead, and never back") {
  LocalClock clock;
  const auto at = [](std::uint64_t ms) { return [ms] { return ms * kNs; }; };
  CHECK(clock.read(1000, at(1)) == 1000);
  clock.advance_to(900);
  CHECK(clock.read(1000, at(1)) == 1000);
  clock.advance_to(4000);
  CHECK(clock.read(1001, at(50)) == 4000);
  CHECK(clock.read(1017, at(66)) == 4014);
  CHECK(clock.read(9000, at(8049)) == 9000);
}

TEST_CASE("expiry clock: a remote reader's time is within the gap of the owner's clock") {
  CHECK(remote_time({}, 700) == 700);  // the owner has not shown its clock
  CHECK(remote_time({.time = 0, .clock = 1000}, 700) == 1000);
  CHECK(remote_time({.time = 0, .clock = 1000}, 1100) == 1100);
  CHECK(remote_time({.time = 0, .clock = 1000}, 9000) == 1000 + kClockGapMs);
  // A time that was returned counts, however late it is.
  CHECK(remote_time({.time = 5000, .clock = 1000}, 700) == 5000);
  CHECK(remote_time({.time = 5000, .clock = 1000}, 9000) == 5000);
  CHECK(remote_time({.time = 900, .clock = 1000}, 1100) == 1100);
}

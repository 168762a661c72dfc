#include "keyway/locks/base/clock.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <limits>

using keyway::Deadline;
using namespace std::chrono_literals;

namespace {
constexpr std::uint64_t kFar = std::numeric_limits<std::uint64_t>::max();
}

TEST_CASE("a span begins when the wait begins") {
  const auto deadline = Deadline::within(5ms);
  CHECK(deadline.started(1'000).absolute_ns() == 5'001'000);
  CHECK(deadline.started(2'000).absolute_ns() == 5'002'000);
}

TEST_CASE("a deadline that has begun does not begin again") {
  const auto shared = Deadline::within(5ms).started(1'000);
  CHECK(shared.started(9'000'000).absolute_ns() == 5'001'000);
}

TEST_CASE("an absolute deadline and never ignore the time at which they begin") {
  CHECK(Deadline::at_ns(77).started(1'000).absolute_ns() == 77);
  CHECK(Deadline::never().started(1'000).absolute_ns() == kFar);
}

TEST_CASE("a try and a negative span expire as they begin") {
  CHECK(Deadline::now().started(42).absolute_ns() == 42);
  CHECK(Deadline::within(-3s).started(42).absolute_ns() == 42);
}

TEST_CASE("a span too long to count in nanoseconds is a very long one, not a past one") {
  const auto forever = Deadline::within(std::chrono::hours::max());
  CHECK(forever.started(1'000).absolute_ns() > kFar / 2 - 1);
  CHECK(forever.started(kFar - 5).absolute_ns() == kFar);
  CHECK(Deadline::within(std::chrono::hours::min()).started(42).absolute_ns() == 42);
}

TEST_CASE("the monotonic clock does not go back") {
  auto last = keyway::steady_ns();
  for (int i = 0; i < 10'000; ++i) {
    const auto now = keyway::steady_ns();
    REQUIRE(now >= last);
    last = now;
  }
}

TEST_CASE("wall time counts milliseconds since 1970") {
  constexpr std::uint64_t kYear2020Ms = 1'577'836'800'000;
  constexpr std::uint64_t kYear2200Ms = 7'258'118'400'000;
  CHECK(keyway::wall_ms() > kYear2020Ms);
  CHECK(keyway::wall_ms() < kYear2200Ms);
}

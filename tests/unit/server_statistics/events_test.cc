// LatencyEvents and Pace.
#include <catch2/catch.hpp>

#include "keyway/server/statistics/latency_events.h"
#include "keyway/server/statistics/pace.h"

namespace keyway::server {
namespace {

TEST_CASE("latency events: the threshold is in milliseconds, 0 takes nothing") {
  LatencyEvents events;
  CHECK_FALSE(events.takes(~0ULL));
  events.set_threshold_ms(2);
  CHECK_FALSE(events.takes(1'999'999));
  CHECK(events.takes(2'000'000));
}

// E1
TEST_CASE("latency events: the worst of each second, and the last seconds only") {
  LatencyEvents events;
  events.add(LatencyEvent::kCommand, 1, 5);
  events.add(LatencyEvent::kCommand, 1, 9);
  events.add(LatencyEvent::kCommand, 1, 7);
  auto history = events.history(LatencyEvent::kCommand);
  REQUIRE(history.samples.size() == 1);
  CHECK(history.samples[0].ms == 9);
  for (std::uint64_t second = 2; second < 1000; ++second) {
    events.add(LatencyEvent::kCommand, second, 1);
  }
  history = events.history(LatencyEvent::kCommand);
  CHECK(history.samples.size() == LatencyEvents::kMaxSamples);
  CHECK(history.samples.back().unix_s == 999);
  CHECK(history.worst_ms == 9);
  CHECK(events.history(LatencyEvent::kFastCommand).samples.empty());
  CHECK_FALSE(events.clear(LatencyEvent::kFastCommand));
  CHECK(events.clear(LatencyEvent::kCommand));
  CHECK(events.history(LatencyEvent::kCommand).worst_ms == 0);
}

TEST_CASE("latency events: have names") {
  for (const LatencyEvent event : kLatencyEvents) CHECK(latency_event(name_of(event)) == event);
  CHECK_FALSE(latency_event("nosuch"));
}

TEST_CASE("pace: the mean of the last looks") {
  Pace pace;
  constexpr std::uint64_t kTenth = 100'000'000;
  CHECK(pace.per_second() == 0);
  std::uint64_t now = kTenth;
  std::uint64_t total = 1000;
  pace.look(now, total);
  CHECK(pace.per_second() == 0);  // nothing is known of what was before
  for (std::size_t i = 0; i < Pace::kLooks; ++i) pace.look(now += kTenth, total += 50);
  CHECK(pace.per_second() == 500);
  for (std::size_t i = 0; i < Pace::kLooks / 2; ++i) pace.look(now += kTenth, total);
  CHECK(pace.per_second() == 250);
  pace.look(now, total + 1);  // no time has passed
  CHECK(pace.per_second() == 250);
}

}  // namespace
}  // namespace keyway::server

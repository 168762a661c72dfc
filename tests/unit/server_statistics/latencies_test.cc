#include "keyway/server/statistics/latencies.h"

#include <catch2/catch.hpp>
#include <cstdint>

namespace keyway::server {
namespace {

LatencyTable table_of(const Latencies& latencies) {
  LatencyTable table;
  latencies.add_to(table);
  return table;
}

TEST_CASE("latencies: buckets follow one another, and are narrow") {
  std::uint64_t below = 0;
  for (std::size_t bucket = 0; bucket < LatencyBuckets::kCount; ++bucket) {
    const std::uint64_t upper = LatencyBuckets::upper(bucket);
    CHECK(LatencyBuckets::of(upper) == bucket);
    const std::uint64_t least = bucket == 0 ? 0 : below + 1;
    CHECK(LatencyBuckets::of(least) == bucket);
    CHECK(static_cast<double>(upper - least) <= static_cast<double>(least) / 32);
    below = upper;
  }
  CHECK(below == LatencyBuckets::kMax);
  CHECK(LatencyBuckets::of(~0ULL) == LatencyBuckets::kCount - 1);
}

TEST_CASE("latencies: percentiles are those of what was recorded") {
  Latencies latencies;
  CHECK(table_of(latencies).percentile(50) == 0);
  for (std::uint64_t us = 1; us <= 1000; ++us) latencies.record(us * 1000);
  const LatencyTable table = table_of(latencies);
  CHECK(table.count() == 1000);
  const auto near = [](std::uint64_t ns, std::uint64_t us) {
    return ns >= us * 1000 && ns <= us * 1000 + us * 1000 / 32;
  };
  CHECK(near(table.percentile(0), 1));
  CHECK(near(table.percentile(50), 500));
  CHECK(near(table.percentile(99), 990));
  CHECK(near(table.percentile(99.9), 999));
  CHECK(near(table.percentile(100), 1000));
  CHECK(table.at_most(0) == 0);
  CHECK(table.at_most(63) == 0);
  CHECK(table.at_most(LatencyBuckets::kMax) == 1000);
}

TEST_CASE("latencies: tables add up and are taken off again") {
  Latencies first;
  Latencies second;
  first.record(100);
  second.record(5000);
  second.record(5000);
  LatencyTable both = table_of(first);
  both += table_of(second);
  CHECK(both.count() == 3);
  both -= table_of(first);
  CHECK(both.count() == 2);
  CHECK(both.percentile(0) >= 5000);
}

}  // namespace
}  // namespace keyway::server

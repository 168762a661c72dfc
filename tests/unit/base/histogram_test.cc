#include "keyway/locks/base/histogram.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <thread>

#include "keyway/locks/base/rng.h"

using keyway::Histogram;
using keyway::Rng;

TEST_CASE("every value falls in a bucket that is at most the stated error wide") {
  Rng rng(1);
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t value = rng() >> (20 + rng.below(44));
    const std::size_t bucket = Histogram::bucket_of(value);
    REQUIRE(bucket < Histogram::kBuckets);
    const std::uint64_t upper = Histogram::upper_of(bucket);
    REQUIRE(upper >= value);
    REQUIRE(static_cast<double>(upper - value) <=
            Histogram::kRelativeError * static_cast<double>(value));
  }
}

TEST_CASE("buckets follow each other without a gap") {
  for (std::size_t i = 0; i + 1 < Histogram::kBuckets; ++i) {
    REQUIRE(Histogram::bucket_of(Histogram::upper_of(i)) == i);
    REQUIRE(Histogram::bucket_of(Histogram::upper_of(i) + 1) == i + 1);
  }
  CHECK(Histogram::upper_of(Histogram::kBuckets - 1) == Histogram::kMaxValue);
}

TEST_CASE("percentiles are those of the sorted values, within the error") {
  Rng rng(2);
  Histogram histogram;
  std::vector<std::uint64_t> values;
  for (int i = 0; i < 100'000; ++i) {
    values.push_back(static_cast<std::uint64_t>(-std::log(1 - rng.unit()) * 50'000));
    histogram.record(values.back());
  }
  std::sort(values.begin(), values.end());
  for (const double percent : {0.001, 1.0, 50.0, 90.0, 99.0, 99.9, 99.99, 100.0}) {
    const auto rank = static_cast<std::size_t>(std::ceil(percent / 100 * 100'000 - 1e-6));
    const auto exact = static_cast<double>(values[rank - 1]);
    CAPTURE(percent, exact);
    CHECK(static_cast<double>(histogram.percentile(percent)) >= exact);
    CHECK(static_cast<double>(histogram.percentile(percent)) <=
          exact * (1 + Histogram::kRelativeError));
  }
  CHECK(histogram.min() == values.front());
  CHECK(histogram.max() == values.back());
  CHECK(histogram.percentile(100) == values.back());
}

TEST_CASE("count, sum and mean are exact") {
  Histogram histogram;
  histogram.record(1'000'003);
  histogram.record(7, 3);
  CHECK(histogram.count() == 4);
  CHECK(histogram.sum() == 1'000'024);
  CHECK(histogram.mean() == Approx(250'006));
  CHECK(histogram.min() == 7);
  CHECK(histogram.max() == 1'000'003);
}

TEST_CASE("an empty histogram is zeros") {
  const Histogram histogram;
  CHECK(histogram.count() == 0);
  CHECK(histogram.min() == 0);
  CHECK(histogram.max() == 0);
  CHECK(histogram.mean() == 0);
  CHECK(histogram.percentile(99) == 0);
}

TEST_CASE("a value beyond the range counts as the largest") {
  Histogram histogram;
  histogram.record(~std::uint64_t{0});
  CHECK(histogram.count() == 1);
  CHECK(histogram.max() == Histogram::kMaxValue);
  CHECK(histogram.percentile(50) == Histogram::kMaxValue);
}

namespace {

Histogram random_histogram(std::uint64_t seed, int values) {
  Rng rng(seed);
  Histogram histogram;
  for (int i = 0; i < values; ++i) histogram.record(rng() >> (24 + rng.below(40)));
  return histogram;
}

void check_same(const Histogram& a, const Histogram& b) {
  CHECK(a.count() == b.count());
  CHECK(a.sum() == b.sum());
  CHECK(a.min() == b.min());
  CHECK(a.max() == b.max());
  for (double percent = 0.5; percent <= 100; percent += 0.5) {
    REQUIRE(a.percentile(percent) == b.percentile(percent));
  }
}

}  // namespace

TEST_CASE("merging is recording into one, and bytes carry all of it") {
  const Histogram a = random_histogram(1, 5000);
  const Histogram b = random_histogram(2, 300);
  Histogram merged = a;
  merged.merge(b);
  CHECK(merged.count() == 5300);

  std::string bytes;
  a.serialize(bytes);
  b.serialize(bytes);
  std::string_view in = bytes;
  Histogram received;
  REQUIRE(received.deserialize(in));
  REQUIRE(received.deserialize(in));
  CHECK(in.empty());
  check_same(received, merged);
}

TEST_CASE("bytes that are cut short or nonsense are refused") {
  std::string bytes;
  random_histogram(1, 100).serialize(bytes);
  for (std::size_t length = 0; length < bytes.size(); length += 7) {
    std::string_view in = std::string_view(bytes).substr(0, length);
    Histogram received;
    CHECK_FALSE(received.deserialize(in));
  }
  std::string nonsense(64, '\xff');
  std::string_view in = nonsense;
  Histogram received;
  CHECK_FALSE(received.deserialize(in));
}

TEST_CASE("an interval holds what was recorded since a copy was taken") {
  Histogram histogram = random_histogram(3, 1000);
  const Histogram before = histogram;
  histogram.record(1'000'000, 10);
  histogram.record(100, 5);
  const Histogram interval = histogram.since(before);
  CHECK(interval.count() == 15);
  CHECK(interval.sum() == 10'000'500);
  CHECK(interval.min() == 100);
  CHECK(interval.percentile(90) == Histogram::upper_of(Histogram::bucket_of(1'000'000)));
}

TEST_CASE("a reader sees counts that only grow while another thread records") {
  Histogram histogram;
  std::atomic<bool> done{false};
  std::jthread recorder([&] {
    for (int i = 0; i < 200'000; ++i) histogram.record(static_cast<std::uint64_t>(i));
    done.store(true, std::memory_order_release);  // publishes the histogram to the last reading
  });
  std::uint64_t last = 0;
  while (!done.load(std::memory_order_acquire)) {
    Histogram seen;
    seen.merge(histogram);
    REQUIRE(seen.count() >= last);
    last = seen.count();
  }
  Histogram seen;
  seen.merge(histogram);
  CHECK(seen.count() == 200'000);
}

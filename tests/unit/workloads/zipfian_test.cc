#include "keyway/workloads/zipfian.h"

#include <catch2/catch.hpp>

#include "tests/unit/workloads/zipf_law.h"

using keyway::Rng;
using keyway::workloads::zeta;
using keyway::workloads::Zipfian;
using namespace keyway::test;

TEST_CASE("zeta is the sum that it stands for") {
  for (const double theta : {0.2, 0.5, 0.99}) {
    for (const std::uint64_t n : {1ULL, 2ULL, 999ULL, 1000ULL, 1001ULL, 250'000ULL}) {
      CAPTURE(theta, n);
      CHECK(zeta(n, theta) == Approx(summed_zeta(n, theta)).epsilon(1e-12));
    }
  }
}

TEST_CASE("zeta of YCSB's 10^10 items is YCSB's constant") {
  CHECK(zeta(10'000'000'000ULL, 0.99) == Approx(26.46902820178302).epsilon(1e-9));
}

TEST_CASE("zipfian draws follow the law of Gray et al.") {
  const auto items = GENERATE(as<std::uint64_t>{}, 1, 2, 3, 10, 1000, 100'000);
  const auto theta = GENERATE(0.2, 0.5, 0.99);
  CAPTURE(items, theta);
  const Zipfian zipfian(items, theta);
  Rng rng(items);
  const auto counts = tally(items, 1'000'000, [&] { return zipfian.next(rng); });
  CHECK(distance(counts, closed(gray_law(items, theta))) < kTooFar);
}

TEST_CASE("the test of the law tells a skew of 0.99 from 0.98") {
  const Zipfian other(1000, 0.98);
  Rng rng(1);
  const auto law = closed(gray_law(1000, 0.99));
  CHECK(distance(tally(1000, 1'000'000, [&] { return other.next(rng); }), law) > 2 * kTooFar);
}

TEST_CASE("the two hottest items have their Zipf probabilities, and a wrong zeta would show") {
  const double zetan = summed_zeta(1000, 0.99);
  const double first = 1 / zetan;
  const double second = std::pow(0.5, 0.99) / zetan;
  const std::vector<double> law{first, second, 1 - first - second};
  for (const double factor : {1.0, 1.01}) {
    const Zipfian zipfian(1000, 0.99, zetan * factor);
    Rng rng(2);
    const auto counts = tally(2, 4'000'000, [&] { return zipfian.next(rng); });
    CHECK((distance(counts, law) < kTooFar) == (factor == 1.0));
  }
}

TEST_CASE("Gray's law is near the true Zipf law") {
  const auto gray = gray_law(1000, 0.99);
  const double zetan = summed_zeta(1000, 0.99);
  double difference = 0;
  for (std::size_t i = 0; i < gray.size(); ++i) {
    difference += std::abs(gray[i] - std::pow(static_cast<double>(i + 1), -0.99) / zetan) / 2;
  }
  CHECK(difference < 0.06);
}

TEST_CASE("a set that grows is drawn from as if it had always been so large") {
  Zipfian step_by_step(100, 0.99);
  Zipfian at_once(100, 0.99);
  Rng a(7);
  Rng b(7);
  for (std::uint64_t items = 101; items < 600; ++items) step_by_step.next(a, items);
  for (int i = 101; i < 600; ++i) b();
  const auto counts = tally(5000, 500'000, [&] { return step_by_step.next(a, 5000); });
  CHECK(distance(counts, closed(gray_law(5000, 0.99))) < kTooFar);
  CHECK(distance(tally(5000, 500'000, [&] { return at_once.next(b, 5000); }),
                 closed(gray_law(5000, 0.99))) < kTooFar);
}

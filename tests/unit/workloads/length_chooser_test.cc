#include "keyway/workloads/length_chooser.h"

#include <catch2/catch.hpp>

#include "tests/unit/workloads/zipf_law.h"

using keyway::Rng;
using namespace keyway::test;
using namespace keyway::workloads;

TEST_CASE("a constant length is the longest one") {
  const LengthChooser chooser({LengthDistribution::kConstant, 100, 100, 1, {}});
  Rng rng(1);
  for (int i = 0; i < 100; ++i) CHECK(chooser.next(rng) == 100);
}

TEST_CASE("uniform lengths include both ends") {
  const LengthChooser chooser({LengthDistribution::kUniform, 5, 24, 1, {}});
  Rng rng(2);
  const auto counts = tally(20, 200'000, [&] { return chooser.next(rng) - 5; });
  CHECK(distance(counts, closed(std::vector<double>(20, 0.05))) < kTooFar);
}

TEST_CASE("zipfian lengths favour short ones") {
  const LengthChooser chooser({LengthDistribution::kZipfian, 1, 100, 1, {}});
  Rng rng(3);
  const auto counts = tally(100, 500'000, [&] { return chooser.next(rng) - 1; });
  CHECK(distance(counts, closed(gray_law(100, 0.99))) < kTooFar);
}

TEST_CASE("histogram lengths are whole blocks with the weights given") {
  const LengthChooser chooser({LengthDistribution::kHistogram, 10, 40, 10, {1, 0, 2, 7}});
  Rng rng(4);
  const auto counts = tally(41, 200'000, [&] { return chooser.next(rng); });
  std::vector<double> law(41);
  law[10] = 0.1;
  law[30] = 0.2;
  law[40] = 0.7;
  CHECK(distance(counts, closed(law)) < kTooFar);
}

#include "keyway/workloads/key_chooser.h"

#include <catch2/catch.hpp>
#include <map>

#include "keyway/workloads/key_name.h"
#include "tests/unit/workloads/zipf_law.h"

using keyway::Rng;
using namespace keyway::test;
using namespace keyway::workloads;

namespace {

Spec spec_of(Distribution distribution, std::uint64_t records) {
  Spec spec;
  spec.distribution = distribution;
  spec.record_count = spec.insert_count = records;
  return spec;
}

std::vector<std::uint64_t> draw(const Spec& spec, std::uint64_t draws, std::uint64_t records,
                                std::uint64_t seed = 1) {
  ChooserShared shared;
  const auto chooser = make_key_chooser(spec, 0, shared);
  Rng rng(seed);
  return tally(records, draws, [&] { return chooser->next(rng, records); });
}

std::vector<double> uniform_law(std::size_t n) {
  return std::vector<double>(n, 1.0 / static_cast<double>(n));
}

}  // namespace

TEST_CASE("uniform asks for every record alike") {
  const auto counts = draw(spec_of(Distribution::kUniform, 1000), 500'000, 1000);
  CHECK(distance(counts, closed(uniform_law(1000))) < kTooFar);
}

TEST_CASE("sequential goes through the records in order and begins again, over all threads") {
  const Spec spec = spec_of(Distribution::kSequential, 3);
  ChooserShared shared;
  const auto one = make_key_chooser(spec, 0, shared);
  const auto other = make_key_chooser(spec, 0, shared);
  Rng rng(1);
  CHECK(one->next(rng, 3) == 0);
  CHECK(other->next(rng, 3) == 1);
  CHECK(one->next(rng, 3) == 2);
  CHECK(one->next(rng, 3) == 0);
}

TEST_CASE("hotspot sends its share of operations to its share of the records") {
  const Spec spec = spec_of(Distribution::kHotspot, 1000);
  std::vector<double> law(1000);
  for (std::size_t i = 0; i < 1000; ++i) law[i] = i < 200 ? 0.8 / 200 : 0.2 / 800;
  CHECK(distance(draw(spec, 500'000, 1000), closed(law)) < kTooFar);
  for (std::size_t i = 0; i < 1000; ++i) law[i] = i < 200 ? 0.78 / 200 : 0.22 / 800;
  CHECK(distance(draw(spec, 500'000, 1000), closed(law)) > kTooFar);
}

TEST_CASE("hotspot with an empty hot or cold set draws from the other") {
  Spec spec = spec_of(Distribution::kHotspot, 100);
  spec.hotspot_data_fraction = GENERATE(0.0, 1.0);
  spec.hotspot_operation_fraction = GENERATE(0.0, 0.8, 1.0);
  CHECK(distance(draw(spec, 100'000, 100), closed(uniform_law(100))) < kTooFar);
}

TEST_CASE("latest is a zipfian distance from the record that came last") {
  const Spec spec = spec_of(Distribution::kLatest, 1000);
  auto law = gray_law(1000, 0.99);
  std::reverse(law.begin(), law.end());
  CHECK(distance(draw(spec, 500'000, 1000), closed(law)) < kTooFar);
}

TEST_CASE("latest follows the records that are added") {
  const Spec spec = spec_of(Distribution::kLatest, 1000);
  auto law = gray_law(1500, 0.99);
  std::reverse(law.begin(), law.end());
  CHECK(distance(draw(spec, 500'000, 1500), closed(law)) < kTooFar);
}

TEST_CASE("exponential: 95% of the operations go to the newest 6/7 of the records") {
  const Spec spec = spec_of(Distribution::kExponential, 700);
  // Distances beyond the oldest record are drawn again, which scales the law up.
  const double gamma = -std::log(1 - 0.95) / (700 * 0.8571428571);
  const double whole = 1 - std::exp(-gamma * 700);
  std::vector<double> law(700);
  for (std::size_t i = 0; i < 700; ++i) {
    const auto distance_from_last = static_cast<double>(699 - i);
    law[i] = (std::exp(-gamma * distance_from_last) - std::exp(-gamma * (distance_from_last + 1))) /
             whole;
  }
  CHECK(distance(draw(spec, 500'000, 700), closed(law)) < kTooFar);
  CHECK((1 - std::exp(-gamma * 600)) == Approx(0.95).epsilon(1e-6));
}

TEST_CASE("ranked zipfian makes the first record the hottest") {
  Spec spec = spec_of(Distribution::kRankedZipfian, 1000);
  spec.zipfian_constant = GENERATE(0.5, 0.99);
  const auto law = gray_law(1000, spec.zipfian_constant);
  CHECK(distance(draw(spec, 500'000, 1000), closed(law)) < kTooFar);
}

namespace {

/// The distribution of the scrambled zipfian over `key_space` records, from the formula of Gray et
/// al. over 10^10 + 1 items: the first items fall where the hash puts them, the rest are spread
/// evenly, as their single shares are too small to see.
std::vector<double> scrambled_law(std::uint64_t key_space, double theta, double zetan) {
  constexpr std::uint64_t kHead = 2'000'000;
  constexpr double kItems = 1e10 + 1;
  std::vector<double> law(key_space);
  double below = 0;
  for (std::uint64_t i = 0; i < kHead; ++i) {
    const double next = gray_below(static_cast<double>(i + 1), kItems, theta, zetan);
    law[fnvhash64(i) % key_space] += next - below;
    below = next;
  }
  for (double& share : law) share += (1 - below) / static_cast<double>(key_space);
  return law;
}

}  // namespace

TEST_CASE("scrambled zipfian draws over 10^10 items with YCSB's zeta and hashes them") {
  const Spec spec = spec_of(Distribution::kZipfian, 1000);
  // The key space is one larger than the records, as in YCSB; that one is drawn again.
  auto law = scrambled_law(1001, 0.99, 26.46902820178302);
  const double lost = law.back();
  law.pop_back();
  for (double& share : law) share /= 1 - lost;
  const auto counts = draw(spec, 2'000'000, 1000);
  CHECK(distance(counts, closed(law)) < kTooFar);

  // The test would notice a zipf over the records themselves.
  std::vector<double> over_records(1000);
  const auto gray = gray_law(1000, 0.99);
  for (std::uint64_t i = 0; i < 1000; ++i) over_records[fnvhash64(i) % 1000] += gray[i];
  CHECK(distance(counts, closed(over_records)) > kTooFar);
}

TEST_CASE("the hottest records of a scrambled zipfian have YCSB's shares") {
  // Enough records that hardly any other record has the share of the three hottest.
  constexpr std::uint64_t kRecords = 10'000'000;
  const Spec spec = spec_of(Distribution::kZipfian, kRecords);
  ChooserShared shared;
  const auto chooser = make_key_chooser(spec, 0, shared);
  Rng rng(5);
  std::vector<std::uint64_t> counts(4);
  for (int i = 0; i < 4'000'000; ++i) {
    const std::uint64_t record = chooser->next(rng, kRecords);
    std::size_t cell = 0;
    while (cell < 3 && record != fnvhash64(cell) % (kRecords + 1)) ++cell;
    ++counts[cell];
  }
  const auto shares = [](double zetan) {
    const double third =
        gray_below(3, 1e10 + 1, 0.99, zetan) - gray_below(2, 1e10 + 1, 0.99, zetan);
    std::vector<double> law{1 / zetan, std::pow(0.5, 0.99) / zetan, third, 0};
    law[3] = 1 - law[0] - law[1] - law[2];
    return law;
  };
  CHECK(distance(counts, shares(26.46902820178302)) < kTooFar);
  CHECK(distance(counts, shares(26.46902820178302 * 1.01)) > kTooFar);
  CHECK(distance(counts, shares(summed_zeta(kRecords, 0.99))) > kTooFar);
}

TEST_CASE("scrambled zipfian with another constant computes its own zeta") {
  Spec spec = spec_of(Distribution::kZipfian, 500);
  spec.zipfian_constant = 0.8;
  // zeta(10^10, 0.8) by its asymptotic form: n^(1-s)/(1-s) + zeta(0.8) + n^-s/2.
  const double zetan = std::pow(1e10 + 1, 0.2) / 0.2 - 4.4375384158955686;
  auto law = scrambled_law(501, 0.8, zetan);
  const double lost = law.back();
  law.pop_back();
  for (double& share : law) share /= 1 - lost;
  CHECK(distance(draw(spec, 1'000'000, 500), closed(law)) < kTooFar);
}

TEST_CASE("popularity does not move when records are added to a scrambled zipfian") {
  Spec spec = spec_of(Distribution::kZipfian, 1000);
  spec.mix = {0.5, 0, 0.5, 0, 0};
  ChooserShared shared;
  const auto chooser = make_key_chooser(spec, 1000, shared);
  const auto most_popular = [&](std::uint64_t records) {
    Rng rng(3);
    const auto counts = tally(records, 200'000, [&] { return chooser->next(rng, records); });
    return std::max_element(counts.begin(), counts.end()) - counts.begin();
  };
  const auto hottest = fnvhash64(0) % 2001;
  if (hottest < 1000) {
    CHECK(most_popular(1000) == static_cast<std::ptrdiff_t>(hottest));
  }
  CHECK(most_popular(2000) == static_cast<std::ptrdiff_t>(hottest));
}

TEST_CASE("no chooser asks for a record that is not there") {
  const auto distribution =
      GENERATE(Distribution::kUniform, Distribution::kSequential, Distribution::kZipfian,
               Distribution::kRankedZipfian, Distribution::kLatest, Distribution::kHotspot,
               Distribution::kExponential);
  const auto loaded = GENERATE(as<std::uint64_t>{}, 1, 2, 3, 1000);
  Spec spec = spec_of(distribution, loaded);
  spec.mix = {0.5, 0, 0.5, 0, 0};
  ChooserShared shared;
  const auto chooser = make_key_chooser(spec, 1000, shared);
  Rng rng(9);
  for (std::uint64_t records = loaded; records < loaded + 200; ++records) {
    for (int i = 0; i < 20; ++i) REQUIRE(chooser->next(rng, records) < records);
  }
}

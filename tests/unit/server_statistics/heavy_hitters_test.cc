#include "keyway/server/statistics/heavy_hitters.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "keyway/locks/base/rng.h"

namespace keyway::server {
namespace {

std::vector<HeavyHitter> entries_of(const HeavyHitters& hitters) {
  std::vector<HeavyHitter> entries;
  hitters.add_to(entries);
  keep_top(entries, entries.size());
  return entries;
}

TEST_CASE("heavy hitters: few names are counted exactly") {
  HeavyHitters hitters;
  for (int i = 0; i < 30; ++i)
    hitters.add(i % 3 == 0 ? "often" : i % 3 == 1 && i < 10 ? "some" : "x");
  const auto entries = entries_of(hitters);
  REQUIRE(entries.size() == 3);
  CHECK(entries[0].name == "x");
  CHECK(entries[0].count == 17);
  CHECK(entries[1].name == "often");
  CHECK(entries[1].count == 10);
  CHECK(entries[2].count == 3);
  for (const HeavyHitter& entry : entries) CHECK(entry.max_error == 0);
  CHECK(hitters.total() == 30);
}

// T1, while nothing has been halved; and what is often enough has a place.
TEST_CASE("heavy hitters: counts are bounded on both sides, among many names") {
  HeavyHitters hitters;
  Rng rng(7);
  std::map<std::string, std::uint64_t> truth;
  for (std::uint64_t i = 0; i + 1 < HeavyHitters::kWindow; ++i) {
    const std::uint64_t drawn = rng.below(10);
    const std::string name = drawn < 2   ? "hot"
                             : drawn < 3 ? "warm"
                                         : std::to_string(rng.below(20'000));
    hitters.add(name);
    ++truth[name];
  }
  const auto entries = entries_of(hitters);
  CHECK(entries.size() == HeavyHitters::kPlaces);
  CHECK(entries[0].name == "hot");
  CHECK(entries[1].name == "warm");
  for (const HeavyHitter& entry : entries) {
    CHECK(entry.count >= truth[entry.name]);
    CHECK(entry.count - entry.max_error <= truth[entry.name]);
  }
}

TEST_CASE("heavy hitters: what was hot leaves") {
  HeavyHitters hitters;
  for (std::uint64_t i = 0; i < HeavyHitters::kWindow / 2; ++i) hitters.add("past");
  for (std::uint64_t i = 0; i < 8 * HeavyHitters::kWindow; ++i) hitters.add("present");
  const auto entries = entries_of(hitters);
  CHECK(entries[0].name == "present");
  CHECK(hitters.total() < HeavyHitters::kWindow);
  for (const HeavyHitter& entry : entries) {
    if (entry.name == "past") CHECK(entry.count < HeavyHitters::kWindow / 256);
  }
}

TEST_CASE("heavy hitters: long names are kept by their beginning, and told apart") {
  HeavyHitters hitters;
  const std::string long_name(1000, 'k');
  const std::string one = long_name + "1";
  const std::string two = long_name + "22";
  hitters.add(one);
  hitters.add(two);
  hitters.add(two);
  const auto entries = entries_of(hitters);
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].name == std::string(HeavyHitters::kNameBytes, 'k'));
  CHECK(entries[0].name_bytes == 1002);
  CHECK(entries[0].count == 2);
  CHECK(entries[1].name_bytes == 1001);
}

TEST_CASE("heavy hitters: those of several workers add up") {
  HeavyHitters one;
  HeavyHitters two;
  one.add("a");
  one.add("b");
  two.add("b");
  std::vector<HeavyHitter> entries;
  one.add_to(entries);
  two.add_to(entries);
  keep_top(entries, 1);
  REQUIRE(entries.size() == 1);
  CHECK(entries[0].name == "b");
  CHECK(entries[0].count == 2);
  one.clear();
  CHECK(entries_of(one).empty());
  CHECK(one.total() == 0);
}

}  // namespace
}  // namespace keyway::server

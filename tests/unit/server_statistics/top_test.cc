#include "keyway/server/statistics/top.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "keyway/locks/base/rng.h"

namespace keyway::server {
namespace {

std::vector<TopEntry> entries_of(const Top& top) {
  std::vector<TopEntry> entries;
  top.add_to(entries);
  keep_top(entries, entries.size());
  return entries;
}

TEST_CASE("top: few names are counted exactly") {
  Top top;
  for (int i = 0; i < 30; ++i) top.add(i % 3 == 0 ? "often" : i % 3 == 1 && i < 10 ? "some" : "x");
  const auto entries = entries_of(top);
  REQUIRE(entries.size() == 3);
  CHECK(entries[0].name == "x");
  CHECK(entries[0].count == 17);
  CHECK(entries[1].name == "often");
  CHECK(entries[1].count == 10);
  CHECK(entries[2].count == 3);
  for (const TopEntry& entry : entries) CHECK(entry.over == 0);
  CHECK(top.total() == 30);
}

// T1, while nothing has been halved; and what is often enough has a place.
TEST_CASE("top: counts are bounded on both sides, among many names") {
  Top top;
  Rng rng(7);
  std::map<std::string, std::uint64_t> truth;
  for (std::uint64_t i = 0; i + 1 < Top::kWindow; ++i) {
    const std::uint64_t drawn = rng.below(10);
    const std::string name = drawn < 2   ? "hot"
                             : drawn < 3 ? "warm"
                                         : std::to_string(rng.below(20'000));
    top.add(name);
    ++truth[name];
  }
  const auto entries = entries_of(top);
  CHECK(entries.size() == Top::kPlaces);
  CHECK(entries[0].name == "hot");
  CHECK(entries[1].name == "warm");
  for (const TopEntry& entry : entries) {
    CHECK(entry.count >= truth[entry.name]);
    CHECK(entry.count - entry.over <= truth[entry.name]);
  }
}

TEST_CASE("top: what was hot leaves") {
  Top top;
  for (std::uint64_t i = 0; i < Top::kWindow / 2; ++i) top.add("past");
  for (std::uint64_t i = 0; i < 8 * Top::kWindow; ++i) top.add("present");
  const auto entries = entries_of(top);
  CHECK(entries[0].name == "present");
  CHECK(top.total() < Top::kWindow);
  for (const TopEntry& entry : entries) {
    if (entry.name == "past") CHECK(entry.count < Top::kWindow / 256);
  }
}

TEST_CASE("top: long names are kept by their beginning, and told apart") {
  Top top;
  const std::string long_name(1000, 'k');
  const std::string one = long_name + "1";
  const std::string two = long_name + "22";
  top.add(one);
  top.add(two);
  top.add(two);
  const auto entries = entries_of(top);
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].name == std::string(Top::kNameBytes, 'k'));
  CHECK(entries[0].name_bytes == 1002);
  CHECK(entries[0].count == 2);
  CHECK(entries[1].name_bytes == 1001);
}

TEST_CASE("top: those of several workers add up") {
  Top one;
  Top two;
  one.add("a");
  one.add("b");
  two.add("b");
  std::vector<TopEntry> entries;
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

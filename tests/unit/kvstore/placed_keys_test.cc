#include "keyway/kvstore/layout/placed_keys.h"

#include <catch2/catch.hpp>
#include <string>

namespace keyway::store {
namespace {

Location numbered(std::uint64_t n) { return {.hash = n, .bucket = n, .stripe = n, .rank = 0}; }

TEST_CASE("placed keys: each is found once, in order") {
  PlacedKeys placed;
  placed.add("a", numbered(1));
  placed.add("b", numbered(2));
  REQUIRE(placed.take("a") != nullptr);
  CHECK(placed.take("a") == nullptr);
  const Location* const second = placed.take("b");
  REQUIRE(second != nullptr);
  CHECK(second->hash == 2);
  CHECK(placed.take("b") == nullptr);
}

TEST_CASE("placed keys: keys that nobody asks for are passed, not too many at a time") {
  PlacedKeys placed;
  for (std::uint64_t i = 0; i < 2 * PlacedKeys::kAhead + 1; ++i) {
    placed.add(std::to_string(i), numbered(i));
  }
  const Location* const found = placed.take(std::to_string(PlacedKeys::kAhead - 1));
  REQUIRE(found != nullptr);
  CHECK(found->hash == PlacedKeys::kAhead - 1);
  CHECK(placed.take("0") == nullptr);  // passed
  CHECK(placed.take(std::to_string(2 * PlacedKeys::kAhead)) == nullptr);
  CHECK(placed.take(std::to_string(PlacedKeys::kAhead)) != nullptr);
  CHECK(placed.take(std::to_string(2 * PlacedKeys::kAhead)) != nullptr);
}

TEST_CASE("placed keys: a key named twice is found twice") {
  PlacedKeys placed;
  placed.add("a", numbered(1));
  placed.add("a", numbered(1));
  CHECK(placed.take("a") != nullptr);
  CHECK(placed.take("a") != nullptr);
  CHECK(placed.take("a") == nullptr);
}

TEST_CASE("placed keys: one that begins like the next one is another") {
  PlacedKeys placed;
  placed.add("key:1", numbered(1));
  CHECK(placed.take("key:") == nullptr);
  CHECK(placed.take("key:10") == nullptr);
  CHECK(placed.take("") == nullptr);
  CHECK(placed.take("key:1") != nullptr);
}

TEST_CASE("placed keys: a long key is left out, the longest is not") {
  PlacedKeys placed;
  const std::string longest(PlacedKeys::kMaxBytes, 'k');
  placed.add(longest + "k", numbered(1));
  placed.add(longest, numbered(2));
  CHECK(placed.take(longest + "k") == nullptr);
  const Location* const found = placed.take(longest);
  REQUIRE(found != nullptr);
  CHECK(found->hash == 2);
}

TEST_CASE("placed keys: no more than there is room for, and none after clear()") {
  PlacedKeys placed;
  for (std::uint64_t i = 0; i <= PlacedKeys::kMaxKeys; ++i) {
    placed.add(std::to_string(i), numbered(i));
  }
  for (std::uint64_t i = 0; i < PlacedKeys::kMaxKeys; ++i) {
    REQUIRE(placed.take(std::to_string(i)) != nullptr);
  }
  CHECK(placed.take(std::to_string(PlacedKeys::kMaxKeys)) == nullptr);
  placed.clear();
  placed.add("a", numbered(1));
  placed.clear();
  CHECK(placed.take("a") == nullptr);
}

}  // namespace
}  // namespace keyway::store

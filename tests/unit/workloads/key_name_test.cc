#include "keyway/workloads/key_name.h"

#include <catch2/catch.hpp>
#include <algorithm>
#include <limits>
#include <set>

using keyway::workloads::fnvhash64;
using keyway::workloads::key_name;
using keyway::workloads::KeyStyle;

TEST_CASE("hashed names are the ones that YCSB's client writes") {
  CHECK(key_name(0, {}) == "user6284781860667377211");
  CHECK(key_name(1, {}) == "user8517097267634966620");
  CHECK(key_name(2, {}) == "user1820151046732198393");
}

TEST_CASE("the hash never has a sign") {
  for (std::uint64_t i = 0; i < 10'000; ++i) CHECK(fnvhash64(i) <= 0x7fffffffffffffffULL);
  CHECK(fnvhash64(~std::uint64_t{0}) <= 0x7fffffffffffffffULL);
}

TEST_CASE("ordered names are the number, padded to zeropadding digits") {
  CHECK(key_name(7, {.ordered = true}) == "user7");
  CHECK(key_name(5, {.ordered = true, .zero_padding = 8}) == "user00000005");
  CHECK(key_name(123456, {.ordered = true, .zero_padding = 3}) == "user123456");
  CHECK(key_name(0, {.ordered = false, .zero_padding = 24}) == "user000006284781860667377211");
}

TEST_CASE("names of a fixed length have that length and are distinct") {
  const auto bytes = GENERATE(as<std::uint32_t>{}, 7, 8, 12, 16, 17, 30);
  const auto ordered = GENERATE(false, true);
  const KeyStyle style{.ordered = ordered, .bytes = bytes};
  const std::uint64_t records = std::min<std::uint64_t>(style.capacity(), 40'000);
  std::set<std::string> names;
  for (std::uint64_t i = 0; i < records; ++i) {
    const std::string name = key_name(i, style);
    REQUIRE(name.size() == bytes);
    REQUIRE(names.insert(name).second);
  }
  CHECK(names.begin()->starts_with("user"));
}

TEST_CASE("the shortest fixed names use every one there is") {
  const KeyStyle style{.bytes = 6};
  CHECK(style.capacity() == 1024);
  std::set<std::string> names;
  for (std::uint64_t i = 0; i < 1024; ++i) names.insert(key_name(i, style));
  CHECK(names.size() == 1024);
}

TEST_CASE("ordered fixed names sort as their numbers do, hashed ones do not") {
  const KeyStyle ordered{.ordered = true, .bytes = 16};
  CHECK(key_name(99, ordered) < key_name(100, ordered));
  CHECK(ordered.capacity() == 1'000'000'000'000ULL);
  const KeyStyle hashed{.bytes = 16};
  int ascending = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    ascending += key_name(i, hashed) < key_name(i + 1, hashed) ? 1 : 0;
  }
  CHECK(ascending > 400);
  CHECK(ascending < 600);
}

TEST_CASE("no name is longer than it may be") {
  for (const KeyStyle& style : {KeyStyle{}, KeyStyle{.ordered = true}, KeyStyle{.bytes = 16},
                                KeyStyle{.zero_padding = 40}}) {
    CHECK(key_name(std::numeric_limits<std::int64_t>::max() >> 4, style).size() <=
          style.max_bytes());
  }
}

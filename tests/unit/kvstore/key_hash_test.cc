// The owner of a key, as Redis Cluster clients compute it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "keyway/kvstore/layout/key_hash.h"

using namespace keyway::store;

TEST_CASE("key hash: CRC16 has the values of the Redis Cluster specification") {
  CHECK(slot_of("123456789") == 0x31c3);  // its test vector; 12739
  CHECK(slot_of("123456789") == 12739);
  CHECK(slot_of("foo") == 12182);  // as CLUSTER KEYSLOT answers
  CHECK(slot_of("somekey") == 11058);
  CHECK(slot_of("foo{hash_tag}") == 2515);
}

TEST_CASE("key hash: only what stands between the first braces counts") {
  const auto same = [](std::string_view a, std::string_view b) { return slot_of(a) == slot_of(b); };
  CHECK(same("{user1000}.following", "{user1000}.followers"));
  CHECK(same("{user1000}.following", "user1000"));
  CHECK(same("foo{{bar}}zap", "{bar"));  // the first '{' and the first '}' after it
  CHECK(same("foo{bar}{zap}", "bar"));
  CHECK_FALSE(same("foo{}{bar}", "bar"));  // an empty tag is none
  CHECK_FALSE(same("foo{}{bar}", ""));
  CHECK_FALSE(same("{}", ""));
  CHECK_FALSE(same("foo{bar", "bar"));  // no end
  CHECK_FALSE(same("foo}bar{", "bar"));
  CHECK(same("a}b{c}d", "c"));  // an end before the start does not count
}

TEST_CASE("key hash: ranks own equal runs of slots") {
  for (const std::uint32_t ranks : {1u, 2u, 3u, 4u, 7u, 16u, 1000u, 16384u}) {
    std::uint32_t last = 0;
    std::uint32_t run = 0;
    std::uint32_t shortest = kSlots;
    std::uint32_t longest = 0;
    for (std::uint32_t slot = 0; slot <= kSlots; ++slot) {
      const std::uint32_t owner = slot < kSlots ? owner_of_slot(slot, ranks) : ranks;
      if (owner != last) {
        REQUIRE(owner == last + 1);  // a run for each rank, in order
        shortest = std::min(shortest, run);
        longest = std::max(longest, run);
        last = owner;
        run = 0;
      }
      ++run;
    }
    CAPTURE(ranks);
    CHECK(last == ranks);
    CHECK(longest - shortest <= 1);
  }
}

TEST_CASE("key hash: the bucket's hash spreads keys that share a slot, under any secret") {
  for (std::uint64_t secret = 0; secret < 20; ++secret) {
    CAPTURE(secret);
    std::set<std::uint64_t> high;
    for (int i = 0; i < 256; ++i) {
      high.insert(hash_key({secret, secret}, "{t}" + std::to_string(i)) >> 56);
    }
    CHECK(high.size() > 128);  // 162 expected of 256 random bytes
  }
}

TEST_CASE("key hash: keys that meet under one secret part under another") {
  // Keys with hashes that share their high 8 bits, like those of a bucket.
  const HashSecret known{.low = 1, .high = 2};
  std::vector<std::string> meet;
  for (int i = 0; meet.size() < 256; ++i) {
    const std::string key = "key " + std::to_string(i);
    if (hash_key(known, key) >> 56 == 0) meet.push_back(key);
  }
  std::set<std::uint64_t> high;
  for (const std::string& key : meet) high.insert(hash_key({.low = 3, .high = 2}, key) >> 56);
  CHECK(high.size() > 128);
}

// Clients that choose their keys cannot choose the bucket.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>

#include "accounting.h"

using namespace keyway;
using namespace keyway::test;

namespace {

/// h ^ h >> shift, backwards.
std::uint64_t undo_xorshift(std::uint64_t h, std::uint32_t shift) {
  std::uint64_t found = h;
  for (std::uint32_t known = shift; known < 64; known += shift) found = h ^ found >> shift;
  return found;
}

/// The 8 bytes with this XXH3-64 `hash` without a seed. For so short a key it is a bijection
/// (XXH3_len_4to8_64b) with steps that can all be undone.
std::string key_of_xxh3(std::uint64_t hash) {
  constexpr std::uint64_t kInverse = 0x02ab9c720d1024ad;  // inverse of 0x9fb21c651e98df25, modulo
                                                          // 2^64
  constexpr std::uint64_t kFlip = 0x1cad21f72c81017c ^ 0xdb979083e96dd4de;
  std::uint64_t h = undo_xorshift(hash, 28) * kInverse;
  h = (h ^ ((h >> 35) + 8)) * kInverse;  // the bits that are shifted down stay as they are
  for (int i = 0; i < 63; ++i) h = h ^ std::rotl(h, 49) ^ std::rotl(h, 24);  // a map of order 64
  h ^= kFlip;
  const std::uint64_t swapped = std::rotl(h, 32);
  std::string key(8, '\0');
  std::memcpy(key.data(), &swapped, 8);
  return key;
}

/// How many keys the fullest stripe would hold.
std::uint64_t most_of_a_stripe(Session& s, const std::vector<std::string>& keys) {
  std::map<std::uint64_t, std::uint64_t> stripes;
  std::uint64_t most = 0;
  for (const std::string& key : keys)
    most = std::max(most, ++stripes[s.inspector().stripe_of(key).stripe]);
  return most;
}

}  // namespace

TEST_CASE("flood: keys that were made for one bucket of XXH3 spread over the stripes") {
  Store store = open_local("local:?memory=16MiB&sessions=1");
  Session s = session_of(store);
  std::vector<std::string> keys;
  for (std::uint64_t hash = 0; hash < 4000; ++hash) {
    keys.push_back(key_of_xxh3(hash));
    REQUIRE(XXH3_64bits(keys.back().data(), keys.back().size()) == hash);
  }
  for (const std::string& key : keys) REQUIRE(s.put(key, "v").ok());
  CHECK(s.inspector().usage(0).longest_chain_lines < 10);
  // The keys fall into 4096 stripes at random: about 7 in the fullest, 20 once in 10^12 stores.
  CHECK(most_of_a_stripe(s, keys) < 20);
}

TEST_CASE("flood: keys that meet in one store part in the next one") {
  Store known = open_local("local:?memory=16MiB&sessions=1");
  Session spy = session_of(known);
  std::vector<std::string> keys;
  for (int i = 0; keys.size() < 500; ++i) {
    const std::string key = named("key ", i);
    if (spy.inspector().stripe_of(key).stripe == 7) keys.push_back(key);
  }
  for (int i = 0; i < 3; ++i) {
    Store next = open_local("local:?memory=16MiB&sessions=1");
    Session other = session_of(next);
    CHECK(most_of_a_stripe(other, keys) < 20);
  }
}

TEST_CASE("flood: with a secret that is given, keys lie where they did") {
  const auto places = [](std::string_view secret) {
    Store store = open_local(fmt::format("local:?memory=4MiB&sessions=1&hash_secret={}", secret));
    Session s = session_of(store);
    std::vector<std::uint64_t> stripes;
    for (int i = 0; i < 50; ++i)
      stripes.push_back(s.inspector().stripe_of(named("key ", i)).stripe);
    return stripes;
  };
  const auto first = places("00000000000000000000000000000001");
  CHECK(places("00000000000000000000000000000001") == first);
  CHECK(places("00000000000000000000000000000002") != first);
  CHECK(places("00000000000000010000000000000001") != first);
  const auto refused = Store::open("local:", {.hash_secret = "12 characters"});
  CHECK(refused.code() == Code::kInvalidArgument);
}

// The cache of addresses shows a key's last address, or none; and stamps.
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "keyway/kvstore/layout/stamp.h"
#include "keyway/kvstore/volume/address_cache.h"
#include "keyway/locks/base/rng.h"

using namespace keyway;
using namespace keyway::store;

namespace {

/// The address that tests give a key of this hash.
ElementPlace known_of(std::uint64_t hash, std::uint32_t stamp) {
  return {EntryWord::heap(tag_of(hash), 5, (hash >> 20) % 4096 * 8), stamp};
}
bool is(const std::optional<ElementPlace>& found, const ElementPlace& known) {
  return found && found->entry.word() == known.entry.word() && found->stamp == known.stamp;
}

}  // namespace

TEST_CASE("address cache: an address is found until it is forgotten or displaced") {
  AddressCache cache(1 << 12);
  CHECK(cache.capacity() == (1 << 12) / AddressCache::kBytesPerAddress);
  const std::uint64_t hash = 0x123456789abcdef0;
  CHECK_FALSE(cache.find(hash));
  const std::uint32_t longest = (1u << 31) - 1;
  for (const std::uint32_t stamp : {0u, 7u, longest}) {
    cache.learn(hash, known_of(hash, stamp));
    CHECK(is(cache.find(hash), known_of(hash, stamp)));
  }
  cache.forget(hash);
  CHECK_FALSE(cache.find(hash));
}

TEST_CASE("address cache: the smallest has one set, which keeps the keys that came last") {
  AddressCache cache(0);
  CHECK(cache.capacity() == AddressCache::kSet);
  for (std::uint64_t hash = 1; hash < 1000; ++hash) {
    cache.learn(hash << 20 | hash, known_of(hash << 20 | hash, static_cast<std::uint32_t>(hash)));
    CHECK(cache.find(hash << 20 | hash));
  }
  std::size_t found = 0;
  for (std::uint64_t hash = 1; hash < 1000; ++hash) found += cache.find(hash << 20 | hash) ? 1 : 0;
  CHECK(found == AddressCache::kSet);
}

TEST_CASE("address cache: most of as many keys as it has room for are found") {
  AddressCache cache(1 << 16);
  Rng rng(1);
  std::vector<std::uint64_t> hashes(cache.capacity() / 2);
  for (std::uint64_t& hash : hashes) {
    hash = rng();
    cache.learn(hash, known_of(hash, 9));
  }
  std::size_t found = 0;
  for (const std::uint64_t hash : hashes) found += is(cache.find(hash), known_of(hash, 9)) ? 1 : 0;
  CHECK(found > hashes.size() * 9 / 10);
}

// An entry may mix what two threads wrote, but both wrote it of this key.
TEST_CASE("address cache: threads find only what one of them has learned of the key") {
  AddressCache cache(0);
  const std::vector<std::uint64_t> hashes = {1, 2, 3, 4, 5, 6};  // more than it has room for
  std::vector<std::jthread> threads;
  std::atomic<int> wrong{0};
  for (std::uint64_t me = 0; me < 3; ++me) {
    threads.emplace_back([&, me] {
      Rng rng(me);
      for (int i = 0; i < 20'000; ++i) {
        const std::uint64_t hash = hashes[rng.below(hashes.size())];
        // relaxed, here and below: counted before the threads end, read after.
        const auto found = cache.find(hash);
        if (found && (found->stamp >= 3 || !is(found, known_of(hash, found->stamp)))) {
          wrong.fetch_add(1, std::memory_order_relaxed);
        }
        cache.learn(hash, known_of(hash, static_cast<std::uint32_t>(me)));
        if (rng.below(4) == 0) cache.forget(hash);
      }
    });
  }
  threads.clear();
  CHECK(wrong.load(std::memory_order_relaxed) == 0);
}

TEST_CASE("stamp: each change of a line has another, also when its version begins anew") {
  CHECK(next_stamp(0, 0) == 1);
  CHECK(next_stamp(3, 41) == (3u << 24 | 42));
  CHECK(next_stamp(3, Bucket::kMaxVersion) == 4u << 24);
  CHECK(next_stamp(255, Bucket::kMaxVersion) == 0);  // eight bits of the epoch
  CHECK(next_stamp(~0ULL >> 1, 5) == (255u << 24 | 6));
}

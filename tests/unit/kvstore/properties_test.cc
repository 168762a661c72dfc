// Properties for any input: RapidCheck generates it, and shrinks one that violates them.
#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "keyway/kvstore/layout/bucket.h"
#include "keyway/kvstore/layout/element.h"
#include "keyway/kvstore/layout/key_hash.h"
#include "keyway/kvstore/layout/size_class.h"

using namespace keyway;
using namespace keyway::store;

namespace {

constexpr SumSeed kSeed{0xfedcba9876543210};

// A key, with braces more often than chance would have them.
rc::Gen<std::string> any_key() {
  const auto letter = rc::gen::oneOf(rc::gen::element('{', '}'), rc::gen::arbitrary<char>());
  return rc::gen::nonEmpty(rc::gen::container<std::string>(letter));
}

struct Small {
  std::string key;
  std::string value;
  bool heap;  // an entry of one word, for an element in the heap
};
rc::Gen<Small> any_small() {
  return rc::gen::exec([] {
    Small small;
    small.key = *rc::gen::resize(8, any_key());
    small.value = *rc::gen::resize(8, rc::gen::arbitrary<std::string>());
    small.key.resize(std::clamp<std::size_t>(small.key.size(), 1, kInlineBytes), 'k');
    small.value.resize(std::min(small.value.size(), kInlineBytes - small.key.size()));
    small.heap = *rc::gen::arbitrary<bool>();
    return small;
  });
}

}  // namespace

TEST_CASE("properties: an element is read as it was written, and one changed byte is noticed") {
  CHECK(rc::check([](const std::string& value, std::uint64_t expiry, std::uint16_t version) {
    const std::string key = *any_key();
    const ElementFormat format{.proof = *rc::gen::arbitrary<bool>(), .seed = kSeed};
    std::vector<std::byte> bytes(format.bytes_of(key.size(), value.size(), expiry != kNoExpiry));
    write_element(format, bytes, key, value, expiry, version, 7);
    const ElementView view = parse_element(format, bytes);
    RC_ASSERT(view.key == key);
    RC_ASSERT(view.value == value);
    RC_ASSERT(view.expires_at_ms == expiry);
    RC_ASSERT(view.version == version);
    RC_ASSERT(element_intact(format, bytes));
    if (!format.proof) return;
    const auto at = *rc::gen::inRange<std::size_t>(0, bytes.size());
    bytes[at] ^= static_cast<std::byte>(*rc::gen::inRange(1, 256));
    RC_ASSERT(!element_intact(format, bytes) || ElementHeader::of(format, bytes).marked());
  }));
}

TEST_CASE("properties: the smallest class that holds the bytes is the one that is chosen") {
  CHECK(rc::check([] {
    const auto bytes = *rc::gen::inRange<std::uint64_t>(1, 3 * kChunkBytes);
    const std::uint32_t c = class_for(bytes);
    if (c == kRunClass) {
      RC_ASSERT(bytes > kChunkBytes);
      RC_ASSERT(run_chunks(bytes) * kChunkBytes - bytes < kChunkBytes);
      return;
    }
    RC_ASSERT(class_bytes(c) >= bytes);
    RC_ASSERT(c == 0 || class_bytes(c - 1) < bytes);
    RC_ASSERT(class_capacity(c) * class_bytes(c) <= kChunkBytes);
  }));
}

TEST_CASE("properties: a hash tag alone decides on the slot of its key") {
  CHECK(rc::check([](const std::string& before, const std::string& after) {
    std::string tag = *rc::gen::nonEmpty(rc::gen::arbitrary<std::string>());
    std::erase_if(tag, [](char c) { return c == '{' || c == '}'; });
    RC_PRE(!tag.empty() && before.find('{') == std::string::npos);
    RC_ASSERT(slot_of(before + "{" + tag + "}" + after) == slot_of(tag));
    RC_ASSERT(slot_of(*any_key()) < kSlots);
  }));
}

TEST_CASE("properties: a line holds what was put and not removed, whatever the order") {
  CHECK(rc::check([] {
    Bucket bucket;
    std::vector<Small> expected;
    const auto steps = *rc::gen::inRange(0, 40);
    for (int step = 0; step < steps; ++step) {
      if (!expected.empty() && *rc::gen::inRange(0, 3) == 0) {
        const auto victim = *rc::gen::inRange<std::size_t>(0, expected.size());
        std::uint32_t at = 1;
        for (std::size_t i = 0; i < victim; ++i) at += bucket.entry(at).words();
        bucket.remove(at);
        expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(victim));
      } else {
        const Small small = *any_small();
        if (!bucket.has_room(small.heap ? 1 : kInlineEntryWords)) continue;
        const std::uint64_t tag = hash_key({}, small.key) & EntryWord::kTagMask;
        if (small.heap) {
          bucket.set_heap(bucket.used(), EntryWord::heap(tag, 3, 8 * small.key.size()));
        } else {
          bucket.set_inline(bucket.used(), tag, small.key, small.value);
        }
        expected.push_back(small);
      }
      std::uint32_t at = 1;
      for (const Small& small : expected) {
        RC_ASSERT(bucket.entry(at).tag() == (hash_key({}, small.key) & EntryWord::kTagMask));
        RC_ASSERT((bucket.entry(at).kind() == EntryKind::kHeap) == small.heap);
        if (small.heap) {
          RC_ASSERT(bucket.entry(at).offset() == 8 * small.key.size());
        } else {
          RC_ASSERT(bucket.inline_key(at) == small.key);
          RC_ASSERT(bucket.inline_value(at) == small.value);
        }
        at += bucket.entry(at).words();
      }
      RC_ASSERT(bucket.used() == at);
    }
  }));
}

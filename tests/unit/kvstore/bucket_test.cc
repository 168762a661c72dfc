// The bucket line: its bits, and entries that come and go.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "keyway/kvstore/layout/bucket.h"
#include "keyway/kvstore/layout/size_class.h"
#include "keyway/locks/base/rng.h"

using namespace keyway;
using namespace keyway::store;

TEST_CASE("bucket: the bits of an entry are where bucket.h says") {
  // heap: kind 2 | tag 14 bits | class 8 bits | offset / 8
  const EntryWord heap = EntryWord::heap(0x2aaa, 0x5c, 0x123456789a8ULL);
  CHECK(heap.word() == (2ULL << 62 | 0x2aaaULL << 48 | 0x5cULL << 40 | 0x123456789a8ULL / 8));
  CHECK(heap.kind() == EntryKind::kHeap);
  CHECK(heap.tag() == 0x2aaa);
  CHECK(heap.size_class() == 0x5c);
  CHECK(heap.offset() == 0x123456789a8ULL);
  CHECK(heap.words() == 1);
  // inline: kind 1 | tag | key length 5 bits at 43 | value length 5 bits at 38
  const EntryWord inlined = EntryWord::inlined(0x3fff, 16, 0);
  CHECK(inlined.word() == (1ULL << 62 | 0x3fffULL << 48 | 16ULL << 43));
  CHECK(EntryWord::inlined(0, 1, 15).word() == (1ULL << 62 | 1ULL << 43 | 15ULL << 38));
  CHECK(inlined.words() == kInlineEntryWords);
  CHECK(EntryWord().kind() == EntryKind::kEmpty);
}

TEST_CASE("bucket: every field of an entry keeps its largest value, and disturbs no other") {
  for (const std::uint64_t tag : {0ULL, 1ULL, 0x3fffULL}) {
    for (const std::uint32_t c : {0u, kClasses - 1, kRunClass}) {
      for (const std::uint64_t offset :
           {std::uint64_t{8}, std::uint64_t{4096}, std::uint64_t{EntryWord::kOffsetMask * 8}}) {
        const EntryWord entry(EntryWord::heap(tag, c, offset).word());
        CAPTURE(tag, c, offset);
        CHECK(entry.kind() == EntryKind::kHeap);
        CHECK(entry.tag() == tag);
        CHECK(entry.size_class() == c);
        CHECK(entry.offset() == offset);
      }
    }
    for (std::uint64_t key = 1; key <= kInlineBytes; ++key) {
      for (std::uint64_t value = 0; key + value <= kInlineBytes; ++value) {
        const EntryWord entry(EntryWord::inlined(tag, key, value).word());
        CHECK(entry.kind() == EntryKind::kInline);
        CHECK(entry.tag() == tag);
        CHECK(entry.key_bytes() == key);
        CHECK(entry.value_bytes() == value);
      }
    }
  }
}

TEST_CASE("bucket: link and version share the header and do not meet") {
  Bucket bucket;
  CHECK(bucket.link() == 0);
  bucket.set_link(EntryWord::kOffsetMask * 8);
  for (int i = 0; i < 5; ++i) bucket.raise_version();
  CHECK(bucket.link() == EntryWord::kOffsetMask * 8);
  CHECK(bucket.version() == 5);
  bucket.set_link(64);
  CHECK(bucket.link() == 64);
  CHECK(bucket.version() == 5);
  bucket.set_link(0);
  bucket.words[0] |= 0xffffffULL << 40;
  bucket.raise_version();  // 24 bits: it wraps and touches nothing else
  CHECK(bucket.version() == 0);
  CHECK(bucket.link() == 0);
}

TEST_CASE("bucket: a line holds seven heap entries, or two inline ones and one more word") {
  Bucket heap;
  CHECK(heap.empty());
  for (std::uint32_t i = 0; i < kEntryWords; ++i) {
    REQUIRE(heap.has_room(1));
    heap.set_heap(heap.used(), EntryWord::heap(i, 3, 4096 + i * 64));
  }
  CHECK_FALSE(heap.has_room(1));
  CHECK(heap.used() == kBucketWords);

  Bucket inlined;
  inlined.set_inline(inlined.used(), 1, "k", "value");
  inlined.set_inline(inlined.used(), 2, "a key of 16 byte", "");
  CHECK_FALSE(inlined.has_room(kInlineEntryWords));
  REQUIRE(inlined.has_room(1));
  inlined.set_heap(inlined.used(), EntryWord::heap(7, 0, 4096));
  CHECK_FALSE(inlined.has_room(1));
  CHECK(inlined.inline_key(1) == "k");
  CHECK(inlined.inline_value(1) == "value");
  CHECK(inlined.inline_key(4) == "a key of 16 byte");
  CHECK(inlined.inline_value(4).empty());
}

TEST_CASE("bucket: bytes that look like entries do not confuse a line") {
  Bucket bucket;
  const std::string ones(15, '\xff');
  bucket.set_inline(1, 9, "\xff", ones);
  CHECK(bucket.used() == 4);
  CHECK(bucket.inline_value(1) == ones);
  bucket.set_inline(1, 9, std::string_view("\0", 1), std::string(15, '\0'));
  CHECK(bucket.used() == 4);
  CHECK(bucket.inline_key(1) == std::string_view("\0", 1));
}

TEST_CASE("bucket: removing closes the gap and keeps the header, for any mix of entries") {
  Rng rng(7);
  struct Entry {
    bool inlined;
    std::uint64_t tag;
  };
  for (int round = 0; round < 2000; ++round) {
    Bucket bucket;
    bucket.set_link(8 * (rng.below(1000) + 1));
    const std::uint64_t header = bucket.words[0];
    std::vector<Entry> model;
    for (int step = 0; step < 20; ++step) {
      const bool inlined = rng.below(2) == 0;
      if (rng.below(3) != 0 && bucket.has_room(inlined ? kInlineEntryWords : 1)) {
        const std::uint64_t tag = rng.below(1u << 14);
        if (inlined) {
          bucket.set_inline(bucket.used(), tag, std::to_string(tag), "v");
        } else {
          bucket.set_heap(bucket.used(), EntryWord::heap(tag, 1, tag * 8 + 4096));
        }
        model.push_back({inlined, tag});
      } else if (!model.empty()) {
        const auto victim = rng.below(model.size());
        std::uint32_t at = 1;
        for (std::uint64_t i = 0; i < victim; ++i) at += bucket.entry(at).words();
        bucket.remove(at);
        model.erase(model.begin() + static_cast<std::ptrdiff_t>(victim));
      }
      std::uint32_t at = 1;
      for (const Entry& entry : model) {
        REQUIRE(bucket.entry(at).tag() == entry.tag);
        REQUIRE((bucket.entry(at).kind() == EntryKind::kInline) == entry.inlined);
        if (entry.inlined) REQUIRE(bucket.inline_key(at) == std::to_string(entry.tag));
        at += bucket.entry(at).words();
      }
      REQUIRE(bucket.used() == at);
      REQUIRE(bucket.empty() == model.empty());
      for (; at < kBucketWords; ++at) REQUIRE(bucket.words[at] == 0);
      REQUIRE(bucket.words[0] == header);
    }
  }
}

TEST_CASE("bucket: the tag is made of bits that the bucket index does not use") {
  CHECK(tag_of(0xffffffffffffffffULL) == 0x3fff);
  CHECK(tag_of(0xffffffffffffc000ULL) == 0);
}
